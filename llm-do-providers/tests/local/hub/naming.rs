//! Model names: built-in models, paths, and files on the hub.

use llm_do_providers::{ErrorKind, LocalModel, Model};

use crate::hub::{World, fetch};

/// The error for a name that cannot be resolved.
fn rejection(name: &str) -> String {
    let error = LocalModel::builder(name)
        .cache_dir("/nowhere")
        .offline(false)
        .build()
        .expect_err("the name cannot be resolved");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    error.to_string()
}

#[test]
fn an_unknown_name_error_lists_the_three_forms() {
    let ways = "write `local:smollm2-135m-instruct`, `local:PATH.gguf`, or `local:OWNER/REPO/FILE.gguf`";
    for name in ["gpt-9", "owner/repo/model.safetensors", ""] {
        assert!(rejection(name).contains(ways), "{}", rejection(name));
    }
}

#[test]
fn a_repository_without_a_file_name_is_rejected() {
    assert!(rejection("Qwen/Qwen3-0.6B-GGUF").contains("a hub repository needs a file name too"));
}

#[test]
fn a_missing_path_with_fewer_than_two_slashes_is_not_a_hub_file() {
    for name in ["a.gguf", "/nowhere/at/all/a.gguf", "./a/b/c.gguf", "../a/b/c.gguf"] {
        let text = rejection(name);
        assert!(text.contains(&format!("no model file at `{name}`; check the path after `local:`")), "{text}");
        assert!(!text.contains("OWNER"), "{text}");
    }
    let text = rejection("models/a.gguf");
    assert!(text.contains("no model file at `models/a.gguf`"), "{text}");
    assert!(text.contains("or write `local:OWNER/REPO/FILE.gguf` for a file on the hub"), "{text}");
}

#[test]
fn a_name_that_escapes_the_cache_is_rejected() {
    for name in ["owner/repo/../../a.gguf", "owner/..repo/a.gguf", "owner/repo@..%2F../a.gguf", "owner/repo//a.gguf"] {
        assert!(rejection(name).contains("it is not a valid hub file name either"), "{}", rejection(name));
    }
}

#[tokio::test]
async fn an_existing_path_takes_precedence_over_the_hub() {
    // Relative to the package, which is the working directory of tests.
    let name = "tests/local/here.gguf";
    let world = World::new().await;
    let path = fetch(&world.builder(name)).await.unwrap();
    assert!(path.ends_with(name), "{path:?}");
    assert_eq!(world.hub.asked(), [""; 0]);
}

#[test]
fn a_part_of_a_split_model_is_rejected() {
    let text = rejection("owner/repo/model-00001-of-00003.gguf");
    assert!(text.contains("is one of 3 parts"), "{text}");
    assert!(text.contains("`llama-gguf-split --merge`"), "{text}");
}

#[test]
fn an_invalid_checksum_is_rejected() {
    assert!(rejection("owner/repo/model.gguf#sha256=abc").contains("expected 64 hexadecimal digits"));
}

#[test]
fn a_model_keeps_the_requested_name() {
    let name = "owner/repo@v1/model.gguf";
    let model = LocalModel::builder(name).cache_dir("/nowhere").offline(false).build().unwrap();
    assert_eq!(model.name(), format!("local:{name}"));
}
