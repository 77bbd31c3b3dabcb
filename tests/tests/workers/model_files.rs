//! Files that a model creates, such as images: results, histories, journals and events contain them.

use llm_do::error::chain;
use llm_do::event::{EventKind, JsonLines};
use llm_do::guard::{FunctionGuard, Refusal};
use llm_do::journal::MemoryJournal;
use llm_do::model::{Message, Profile, Response, ResponsePart, ServerSideTool};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Recorder, ScriptedModel};
use llm_do::usage::Usage;
use llm_do::worker::WorkerSpec;
use llm_do::{Attachment, Value, json};

/// What was drawn.
#[data]
#[derive(Debug, PartialEq)]
struct Drawn {
    title: String,
}

/// Note a wish.
#[tool(effect = read_only, inline)]
fn note(wish: String) -> String {
    wish
}

/// Draw.
#[worker(server_side_tools = [image_generation], toolsets = [note], hints = ["bee"])]
async fn draw(input: String) -> ToolReturn;

/// Draw, or return the error.
#[worker]
async fn try_to_draw(input: String) -> Result<ToolReturn, CallError>;

/// Draw and give a title.
#[worker(retries = 1)]
async fn draw_titled(input: String) -> Drawn;

/// Describe in words.
#[worker(retries = 1)]
async fn describe(input: String) -> String;

/// Judge a drawing of another worker.
#[worker(toolsets = [draw])]
async fn judge(input: String) -> String;

/// Calls the workers that draw.
#[entry(toolsets = [draw, draw_titled])]
async fn main_entry(ctx: &CallContext<main_entry>) -> Result<(String, Drawn)> {
    let drawn = ctx.call(draw { input: "a bee".into() }).await?;
    let names: Vec<_> = drawn.attachments().iter().map(Attachment::media_type).collect();
    Ok((names.join(" "), ctx.call(draw_titled { input: "a wasp".into() }).await?))
}

/// Delegate to the worker `draw`.
#[tool]
fn hand_on() -> ToolReturn {
    ToolReturn::subtask(llm_do::context::SubtaskRequest::new("draw a bee").input("input", "a bee"))
}

/// Counts the files of a delegated drawing.
#[entry(toolsets = [hand_on])]
async fn delegated(ctx: &CallContext<delegated>) -> Result<usize> {
    Ok(ctx.call(hand_on {}).await?.attachments().len())
}

fn bee() -> Attachment {
    Attachment::new("image/png", vec![7; 50])
}

fn picture() -> ResponsePart {
    ResponsePart::Attachment(bee())
}

fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.into() }
}

fn call(tool: &str, arguments: &Value) -> ResponsePart {
    ResponsePart::ToolCall(llm_do::model::ToolCall::new("1", tool, arguments.to_string()))
}

fn scripted() -> ScriptedModel {
    ScriptedModel::new().profile(Profile::BASIC.with_server_side_tools(&[ServerSideTool::ImageGeneration]))
}

fn builder(model: &ScriptedModel) -> RuntimeBuilder {
    Runtime::builder().force_model(model.clone()).approval_mode(llm_do::approval::ApprovalMode::ApproveAll)
}

#[tokio::test]
async fn a_worker_with_a_tool_return_returns_its_text_and_files() {
    for streaming in [false, true] {
        let model = scripted().answer([text("A bee."), picture()]).answer([picture()]);
        let runtime = builder(&model).streaming(streaming).build().unwrap();
        let drawn = runtime.run(draw { input: "a bee".into() }).await.unwrap();
        assert_eq!((drawn.value(), drawn.attachments()), (&json!("A bee."), &[bee()][..]));
        let drawn = runtime.run(try_to_draw { input: "a bee".into() }).await.unwrap();
        assert_eq!((drawn.value(), drawn.attachments()), (&Value::Null, &[bee()][..]), "files need no text");
    }
}

#[tokio::test]
async fn the_files_of_all_answers_of_a_call_are_returned_in_order() {
    let other = Attachment::new("image/jpeg", vec![1]);
    let model = scripted()
        .answer([picture(), call("note", &json!({ "wish": "more yellow" }))])
        .answer([text("Both."), ResponsePart::Attachment(other.clone())]);
    let drawn = builder(&model).build().unwrap().run(draw { input: "bees".into() }).await.unwrap();
    assert_eq!(drawn.attachments(), [bee(), other]);
}

#[tokio::test]
async fn a_model_sees_the_files_of_the_worker_that_it_calls() {
    let model = scripted().call("draw", json!({ "input": "a bee" })).answer([picture()]).text("It is a fine bee.");
    let recorder = Recorder::new();
    let runtime = builder(&model).sink(recorder.clone()).build().unwrap();
    runtime.run(judge { input: "draw a bee".into() }).await.unwrap();
    let last = model.requests().pop().unwrap().messages.pop().unwrap();
    let Message::Tool { results } = last else { panic!("{last:?}") };
    assert_eq!((results[0].content.as_str(), &results[0].attachments[..]), ("see the files", &[bee()][..]));
    let finished = recorder.kinds().into_iter().find_map(|kind| match kind {
        EventKind::CallFinished { attachments, .. } if !attachments.is_empty() => Some(attachments),
        _ => None,
    });
    assert_eq!(finished.unwrap(), ["image/png"]);
}

#[tokio::test]
async fn a_typed_call_returns_files_in_a_tool_return_and_a_root_call_those_of_any_worker() {
    let titled = || call("final_result", &json!({ "title": "Wasp" }));
    let model = scripted().answer([picture()]).answer([picture(), titled()]).answer([picture(), titled()]);
    let runtime = builder(&model).build().unwrap();
    let (names, drawn) = runtime.run(main_entry {}).await.unwrap();
    assert_eq!((names.as_str(), drawn.title.as_str()), ("image/png", "Wasp"));
    let whole = runtime.start(draw_titled { input: "a wasp".into() }).with_files().await.unwrap();
    assert_eq!((whole.value(), whole.attachments()), (&json!({ "title": "Wasp" }), &[bee()][..]));
}

#[tokio::test]
async fn ad_hoc_requests_and_workers_return_files() {
    /// Requests a picture from a model and from a worker.
    #[entry]
    async fn request_both(ctx: &CallContext) -> Result<usize> {
        let asked = ctx.llm_ask("Draw a bee.").output::<ToolReturn>().await?;
        let painted = ctx.llm_agent(WorkerSpec::new("painter", "Paint.")).input("a bee").output::<ToolReturn>().await?;
        Ok(asked.attachments().len() + painted.attachments().len())
    }
    let model = scripted().answer([picture()]).repeat_last();
    assert_eq!(builder(&model).build().unwrap().run(request_both {}).await.unwrap(), 2);
}

#[tokio::test]
async fn a_tool_that_delegates_returns_the_files_of_the_subtask() {
    let model = scripted().answer([picture()]);
    assert_eq!(builder(&model).build().unwrap().run(delegated {}).await.unwrap(), 1);
}

#[tokio::test]
async fn a_text_worker_without_a_text_is_retried_and_keeps_its_files() {
    let model = scripted().answer([picture()]).text("It is a bee.");
    let whole = builder(&model).build().unwrap().start(describe { input: "a bee".into() }).with_files().await.unwrap();
    assert_eq!((whole.value(), whole.attachments()), (&json!("It is a bee."), &[bee()][..]));
    assert!(model.requests()[1].last_text().starts_with("the answer was empty; answer in plain text"));
    let error = builder(&scripted().text("").repeat_last()).build().unwrap().run(draw { input: "a".into() }).await;
    assert!(chain(&error.unwrap_err()).contains("the answer was empty"), "neither text nor files");
}

#[tokio::test]
async fn files_of_an_answer_that_a_guard_rejects_are_dropped() {
    let secret = Attachment::new("image/png", b"secret".to_vec());
    let model = scripted().answer([ResponsePart::Attachment(secret)]).answer([picture()]);
    let guard = FunctionGuard::new("no secrets").after_response(|_, response: &mut Response| {
        let is_secret = response.attachments().any(|file| file.data() == b"secret");
        if is_secret { Err(Refusal::reject("draw something else")) } else { Ok(()) }
    });
    let runtime = builder(&model).guard(guard).build().unwrap();
    assert_eq!(runtime.run(draw { input: "a".into() }).await.unwrap().attachments(), [bee()]);
}

#[tokio::test]
async fn a_journal_records_files_and_a_replay_returns_them_without_a_request() {
    let journal = MemoryJournal::new();
    let model =
        scripted().call("draw", json!({ "input": "a bee" })).answer([picture()]).text("Fine.").answer([picture()]);
    for replayed in [false, true] {
        let journal = if replayed { journal.replayed() } else { journal.clone() };
        let runtime = builder(&model).journal(journal).build().unwrap();
        let mut chat = runtime.chat();
        assert_eq!(chat.send(judge { input: "go".into() }).await.unwrap(), "Fine.");
        let history = &chat.state().workers["judge"];
        let Message::Tool { results } = &history.messages()[2] else { panic!("{history:?}") };
        assert_eq!(results[0].attachments, [bee()]);
        let drawn = runtime.run(draw { input: "a bee".into() }).await.unwrap();
        assert_eq!(drawn.attachments(), [bee()]);
    }
    assert_eq!(model.requests().len(), 4);
}

#[tokio::test]
async fn a_conversation_keeps_files_and_sends_them_to_the_model() {
    let model = scripted().answer([text("A bee."), picture()]).text("It is yellow.");
    let runtime = builder(&model).build().unwrap();
    let mut chat = runtime.chat();
    assert_eq!(chat.send(draw { input: "a bee".into() }).await.unwrap().attachments(), [bee()]);
    let saved = serde_json::to_string(&chat.state()).unwrap();
    let mut chat = runtime.chat().with_state(serde_json::from_str(&saved).unwrap());
    let next = chat.send(draw { input: "Which colour?".into() }).await.unwrap();
    assert_eq!(next.attachments(), [], "the files of the previous call are not returned again");
    let Message::Assistant { parts } = &model.requests()[1].messages[1] else { panic!("no answer") };
    assert_eq!(parts[..], [text("A bee."), picture()]);
}

#[tokio::test]
async fn the_json_of_an_event_has_the_size_and_media_type_of_a_file_but_not_its_bytes() {
    let named = bee().named("bee.png");
    let response = Response::new("m", vec![text("A bee."), ResponsePart::Attachment(named)], Usage::of_request(1, 1));
    let model = scripted().respond(response);
    let (recorder, folder) = (Recorder::new(), tempfile::tempdir().unwrap());
    let path = folder.path().join("events.jsonl");
    let log = std::sync::Arc::new(JsonLines::create(&path).unwrap());
    let runtime = builder(&model).sink(recorder.clone()).shared_sink(log.clone()).build().unwrap();
    assert_eq!(runtime.run(draw { input: "a bee".into() }).await.unwrap().value(), "A bee.");
    runtime.flush().await;
    log.finish().unwrap();
    let written = std::fs::read_to_string(path).unwrap();
    let lines = written.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let response = lines.into_iter().find(|line| line["kind"] == "model_response").unwrap();
    let expected = json!([
        { "type": "text", "text": "A bee." },
        { "type": "attachment", "name": "bee.png", "media_type": "image/png", "bytes": 50 },
    ]);
    assert_eq!(response["parts"], expected);
    assert!(!written.contains("BwcH"), "{written}");
    let whole = |kind: &EventKind| matches!(kind, EventKind::ModelResponse { parts, .. } if parts.len() == 2);
    assert!(recorder.kinds().iter().any(whole));
}
