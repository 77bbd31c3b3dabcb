//! What a name stands for: a model, a path, or a file of the hub.

use llm_do_providers::{ErrorKind, LocalModel, Model};

use crate::{World, fetch};

/// The error of a name that stands for nothing.
fn unfounded(name: &str) -> String {
    let error =
        LocalModel::builder(name).cache_dir("/nowhere").offline(false).build().expect_err("it stands for nothing");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    error.to_string()
}

#[test]
fn an_unknown_name_is_told_the_three_ways() {
    let ways = "write `local:smollm2-135m-instruct`, `local:PATH.gguf`, or `local:OWNER/REPO/FILE.gguf`";
    for name in ["gpt-9", "owner/repo/model.safetensors", ""] {
        assert!(unfounded(name).contains(ways), "{}", unfounded(name));
    }
}

#[test]
fn a_repository_without_a_file_is_told_that_it_needs_one() {
    assert!(unfounded("Qwen/Qwen3-0.6B-GGUF").contains("a file of that repository has to be named too"));
}

#[test]
fn a_path_that_is_not_there_is_taken_for_a_path_unless_it_has_two_slashes() {
    for name in ["a.gguf", "/nowhere/at/all/a.gguf", "./a/b/c.gguf", "../a/b/c.gguf"] {
        let text = unfounded(name);
        assert!(text.contains(&format!("no model file at `{name}`; check the path after `local:`")), "{text}");
        assert!(!text.contains("OWNER"), "{text}");
    }
    let text = unfounded("models/a.gguf");
    assert!(text.contains("no model file at `models/a.gguf`"), "{text}");
    assert!(text.contains("or write `local:OWNER/REPO/FILE.gguf` for a file of the hub"), "{text}");
}

#[test]
fn a_name_that_would_lead_out_of_the_cache_is_refused() {
    for name in ["owner/repo/../../a.gguf", "owner/..repo/a.gguf", "owner/repo@..%2F../a.gguf", "owner/repo//a.gguf"] {
        assert!(unfounded(name).contains("it names no file of the hub"), "{}", unfounded(name));
    }
}

#[tokio::test]
async fn a_path_that_is_there_goes_before_the_hub() {
    // Relative to the package, where tests run.
    let name = "tests/hub/here.gguf";
    let world = World::new().await;
    let path = fetch(&world.builder(name)).await.unwrap();
    assert!(path.ends_with(name), "{path:?}");
    assert_eq!(world.hub.asked(), [""; 0]);
}

#[test]
fn a_part_of_a_split_model_is_refused() {
    let text = unfounded("owner/repo/model-00001-of-00003.gguf");
    assert!(text.contains("is one of 3 parts"), "{text}");
    assert!(text.contains("`llama-gguf-split --merge`"), "{text}");
}

#[test]
fn a_checksum_that_is_none_is_refused() {
    assert!(unfounded("owner/repo/model.gguf#sha256=abc").contains("which has 64 hexadecimal digits"));
}

#[test]
fn a_model_is_called_as_it_was_asked_for() {
    let name = "owner/repo@v1/model.gguf";
    let model = LocalModel::builder(name).cache_dir("/nowhere").offline(false).build().unwrap();
    assert_eq!(model.name(), format!("local:{name}"));
}
