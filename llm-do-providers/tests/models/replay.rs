//! Recordings of real answers and their replay.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::StreamExt;
use llm_do_providers::{
    ErrorKind, FunctionModel, Message, Model, Profile, ProviderData, ProviderError, ReplayModel, Request, Response,
    ResponsePart, Settings, StreamEvent, Thinking, ToolSpec, Usage,
};
use serde_json::json;

/// A temporary directory that is deleted on drop.
struct TempDirectory(PathBuf);

impl TempDirectory {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("llm-do-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("tape.jsonl")
    }
}

impl Drop for TempDirectory {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// A model that numbers its answers, with signed thinking.
fn real() -> FunctionModel {
    let asked = Arc::new(AtomicU32::new(0));
    let model = FunctionModel::new(move |_| {
        let text = format!("answer {}", asked.fetch_add(1, Ordering::Relaxed));
        let data = ProviderData::new("a", json!({ "signature": "s+/=" }));
        let thought = ResponsePart::Thinking(Thinking::new("hm").with_provider_data(data));
        Ok(Response::new("m", vec![thought, ResponsePart::Text { text }], Usage::of_request(3, 4)))
    });
    model.named("real").profile(Profile::NATIVE_OUTPUT)
}

fn no_model() -> Result<FunctionModel, ProviderError> {
    Err(ProviderError::new("real", ErrorKind::Configuration, "the real model must not be used"))
}

async fn ask(model: &ReplayModel, text: &str) -> Result<Response, ProviderError> {
    model.request(Request::new(&[Message::user(text)], &Settings::default())).await
}

/// Records the answers to `questions`.
async fn recorded(path: &Path, questions: &[&str]) -> Vec<Response> {
    let model = ReplayModel::open(path, || Ok(real())).unwrap();
    let mut answers = Vec::new();
    for question in questions {
        answers.push(ask(&model, question).await.unwrap());
    }
    answers
}

#[tokio::test]
async fn recorded_answers_are_replayed_in_any_order_without_the_model() {
    let directory = TempDirectory::new("replay-order");
    let answers = recorded(&directory.file(), &["a", "b", "a"]).await;
    let model = ReplayModel::open(directory.file(), no_model).unwrap();
    let profile = Model::profile(&model);
    assert_eq!((model.name(), profile.with_server_side_tools(&[])), ("function:real", Profile::NATIVE_OUTPUT));
    assert_eq!(ask(&model, "b").await.unwrap(), answers[1]);
    // Equal requests are answered in the recorded order.
    assert_eq!(ask(&model, "a").await.unwrap(), answers[0]);
    assert_eq!(ask(&model, "a").await.unwrap(), answers[2]);
}

#[tokio::test]
async fn a_stream_replays_a_recorded_complete_answer() {
    let directory = TempDirectory::new("replay-stream");
    let answers = recorded(&directory.file(), &["a"]).await;
    let model = ReplayModel::replay(directory.file()).unwrap();
    let (messages, settings) = ([Message::user("a")], Settings::default());
    let stream = model.stream(Request::new(&messages, &settings)).await.unwrap();
    let events: Vec<_> = stream.map(Result::unwrap).collect().await;
    assert_eq!(events.last(), Some(&StreamEvent::Done(answers[0].clone())));
}

#[tokio::test]
async fn the_error_for_a_changed_request_names_the_file_the_place_and_both_values() {
    let directory = TempDirectory::new("replay-differs");
    recorded(&directory.file(), &["hello"]).await;
    let model = ReplayModel::replay(directory.file()).unwrap();
    let (messages, settings) = ([Message::user("hello")], Settings::default());
    let tools = [ToolSpec { name: "add".into(), description: "".into(), parameters: Arc::new(json!({})) }];
    let hotter = Settings::new().temperature(1.0);
    let asked = Request::new(&messages, &settings);
    let file = directory.file().display().to_string();
    for (request, place) in [
        (
            Request::new(&[Message::user("help")], &settings),
            r#"`/messages/0/parts/0/text`: recorded `"hello"`, requested `"help"`"#,
        ),
        (
            asked.tools(&tools),
            r#"`/tools/0`: recorded `nothing`, requested `{"name":"add","description":"","parameters":{}}`"#,
        ),
        (asked.instructions(Some("x")), r#"`/instructions`: recorded `null`, requested `"x"`"#),
        (Request::new(&messages, &hotter), "`/settings/temperature`: recorded `null`, requested `1.0`"),
    ] {
        let error = model.request(request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        let difference =
            format!("it differs from the next recorded request, in `{file}`, line 2, at {place}; delete the file");
        assert!(error.to_string().contains(&difference), "{error}");
    }
    model.request(asked).await.unwrap();
    let error = model.request(asked).await.unwrap_err();
    assert!(
        error.to_string().contains(&format!("all 1 answers in `{file}` have been used; delete the file")),
        "{error}"
    );
}

#[tokio::test]
async fn long_values_are_quoted_from_shortly_before_the_difference() {
    let directory = TempDirectory::new("replay-long");
    let (same, rest) = ("same ".repeat(100), "rest ".repeat(100));
    recorded(&directory.file(), &[&format!("{same}old {rest}")]).await;
    let model = ReplayModel::replay(directory.file()).unwrap();
    let error = ask(&model, &format!("{same}new {rest}")).await.unwrap_err().to_string();
    assert!(error.contains("recorded `…same same") && error.contains("same old rest"), "{error}");
    assert!(error.contains("requested `…same same") && error.contains("same new rest"), "{error}");
    assert!(error.len() < 900 && error.ends_with("…`; delete the file to record again"), "{error}");
}

#[tokio::test]
async fn an_invalid_recording_is_an_error_with_its_line() {
    let directory = TempDirectory::new("replay-broken");
    let error = ReplayModel::replay(directory.file()).unwrap_err();
    assert!(error.to_string().contains("tape.jsonl"), "{error}");
    recorded(&directory.file(), &["a"]).await;
    let text = std::fs::read_to_string(directory.file()).unwrap();
    std::fs::write(directory.file(), format!("{text}{{}}\n")).unwrap();
    let error = ReplayModel::replay(directory.file()).unwrap_err();
    assert!(error.to_string().contains("invalid record in line 3"), "{error}");
}

#[tokio::test]
async fn an_error_of_the_real_model_is_not_recorded() {
    let directory = TempDirectory::new("replay-error");
    let down = FunctionModel::new(|_| Err(ProviderError::new("real", ErrorKind::Overloaded, "it is overloaded")));
    let model = ReplayModel::open(directory.file(), || Ok(down)).unwrap();
    assert_eq!(ask(&model, "a").await.unwrap_err().kind(), ErrorKind::Overloaded);
    model.assert_finished();
    assert!(!directory.file().exists(), "the next run must record");
    recorded(&directory.file(), &["a"]).await;
    ask(&ReplayModel::replay(directory.file()).unwrap(), "a").await.unwrap();
}

#[tokio::test]
async fn a_missing_directory_is_an_error_before_an_answer_is_paid_for() {
    let directory = TempDirectory::new("replay-folder");
    let error = ReplayModel::open(directory.0.join("tapes/a.jsonl"), || Ok(real())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(error.to_string().contains("does not exist; create it"), "{error}");
}

#[tokio::test]
async fn unused_answers_fail_the_test_and_are_not_quoted() {
    let directory = TempDirectory::new("replay-left");
    recorded(&directory.file(), &["my secret", "b", "c"]).await;
    let model = ReplayModel::replay(directory.file()).unwrap();
    ask(&model, "b").await.unwrap();
    let clone = model.clone();
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| clone.assert_finished())).unwrap_err();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("`function:real` has unused recorded answers: 2 of 3 in `"), "{text}");
    assert!(text.ends_with("tape.jsonl`, the next one in line 2") && !text.contains("secret"), "{text}");
    for question in ["c", "my secret"] {
        ask(&model, question).await.unwrap();
    }
    clone.assert_finished();
}

#[tokio::test]
async fn an_older_recording_without_later_fields_is_valid() {
    let directory = TempDirectory::new("replay-old");
    let head = json!({ "model": "a:b", "native_output": true, "native_output_with_tools": false });
    std::fs::write(directory.file(), format!("{head}\n")).unwrap();
    let profile = Model::profile(&ReplayModel::replay(directory.file()).unwrap());
    assert_eq!((profile.tools, profile.native_output, profile.native_output_with_tools), (true, true, false));
}
