//! What becomes of the result of a call.

use llm_do::event::EventKind;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::worker::WorkerSpec;
use llm_do::{ToolReturn, json};

use super::script::{Script, builder, call};

async fn with_files(tool: &str, text: &str) -> ToolReturn {
    let runtime = Script::new(&[]).runtime();
    let arguments = json!({ "text": text });
    runtime.start_named(&format!("mcp__s__{tool}"), arguments).with_files().await.unwrap()
}

#[tokio::test]
async fn structured_content_is_the_value() {
    let runtime = Script::new(&[]).runtime();
    assert_eq!(call(&runtime, "structured", json!({})).await.unwrap(), json!({ "sum": 3, "big": "" }));
    assert_eq!(call(&runtime, "empty", json!({})).await.unwrap(), "");
}

#[tokio::test]
async fn images_audio_and_files_are_attached() {
    let image = with_files("image", "image/png").await;
    assert_eq!(image.attachments()[0].media_type(), "image/png");
    assert!(image.attachments()[0].data().starts_with(b"\x89PNG"));
    let audio = with_files("audio", "").await;
    assert_eq!((audio.attachments()[0].media_type(), audio.attachments()[0].data()), ("audio/wav", &[0_u8, 0, 0][..]));
    let file = with_files("blob", "").await;
    assert_eq!(
        (file.attachments()[0].media_type(), file.attachments()[0].name()),
        ("application/pdf", Some("data.bin"))
    );
    assert_eq!(*with_files("resource", "").await.value(), "[file: file:///notes.txt]\nthe notes");
    assert_eq!(*with_files("link", "").await.value(), "[link: an example <https://example.org/x>]");
}

#[tokio::test]
async fn files_that_no_model_could_take_are_named_instead() {
    let page = with_files("image", "text/html").await;
    assert_eq!(
        (page.attachments().len(), page.value()),
        (0, &json!("[a file of the invalid type `text/html` is left out]"))
    );
    let broken = with_files("mix", "").await;
    assert_eq!(*broken.value(), "see\n[a file of type `image/png` is left out: it is not base64]");
}

#[tokio::test]
async fn an_invalid_block_is_left_out_alone() {
    for flags in [&["modern"][..], &[]] {
        let runtime = Script::new(flags).runtime();
        let result = call(&runtime, "mix", json!({ "text": "zzz" })).await.unwrap();
        let left_out = |kind| format!("[invalid content of the type `{kind}` is left out]");
        assert_eq!(result, format!("see\n{}\n{}", left_out("zzz"), left_out("text")));
    }
}

#[tokio::test]
async fn a_failed_tool_and_a_refused_call_are_errors_that_the_model_reads() {
    let runtime = Script::new(&[]).runtime();
    assert_eq!(call(&runtime, "fail", json!({})).await.unwrap_err(), "`mcp__s__fail` failed: it did not work");
    let refused = call(&runtime, "refuse", json!({})).await.unwrap_err();
    assert!(refused.ends_with("the MCP server `s` returned an error: no such thing"), "{refused}");
    let model = ScriptedModel::new().call("mcp__s__fail", json!({})).text("I saw it.");
    let requests = model.clone();
    let worker = WorkerSpec::new("worker", "Try.").toolsets(["mcp__s"]);
    let runtime = builder(Script::new(&[]).server()).worker(worker).force_model(model).build().unwrap();
    assert_eq!(runtime.run_named("worker", json!({ "input": "go" })).await.unwrap(), "I saw it.");
    let history = format!("{:?}", requests.requests().last().unwrap());
    assert!(history.contains("it did not work"), "{history}");
}

#[tokio::test]
async fn long_text_is_cut_and_the_rest_counted() {
    let runtime = builder(Script::new(&[]).server().max_result(1001)).build().unwrap();
    let text = call(&runtime, "big", json!({ "size": 2000 })).await.unwrap();
    let text = text.as_str().unwrap();
    assert!(text.starts_with(&"é".repeat(500)) && !text.contains(&"é".repeat(501)));
    assert!(text.ends_with("\n[3000 bytes of 4000 are left out]"), "{}", &text[1000..]);
    let pair = call(&runtime, "pair", json!({ "size": 1001 })).await.unwrap();
    assert_eq!(pair, format!("{}\n[1 bytes of 1002 are left out]", "a".repeat(1001)));
}

#[tokio::test]
async fn a_structured_value_that_is_too_long_is_an_error() {
    let runtime = builder(Script::new(&[]).server().max_result(1000)).build().unwrap();
    let error = call(&runtime, "structured", json!({ "size": 2000 })).await.unwrap_err();
    assert!(
        error.ends_with("the result has 2018 bytes, more than the limit of 1000; ask for less, or raise `max_result`"),
        "{error}"
    );
}

#[tokio::test]
async fn progress_of_a_call_is_reported_as_its_own() {
    for flags in [&["modern"][..], &[]] {
        let log = Recorder::new();
        let runtime = builder(Script::new(flags).server()).sink(log.clone()).build().unwrap();
        assert_eq!(call(&runtime, "progress", json!({})).await.unwrap(), "done");
        runtime.flush().await;
        let events = log.events();
        let progress = events.iter().filter_map(|event| match &event.kind {
            EventKind::Progress { text } => Some((event.name.to_string(), text.clone())),
            _ => None,
        });
        let expected = ["1 of 3: step 1", "2 of 3: step 2", "3 of 3: step 3"];
        let expected = expected.map(|text| ("mcp__s__progress".to_owned(), text.to_owned()));
        assert_eq!(progress.collect::<Vec<_>>(), expected);
    }
}
