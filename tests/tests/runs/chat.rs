//! The history of chats: it carries over between root calls, is saved and loaded, and is always valid for providers.

use std::time::Duration;

use llm_do::error::BoxError;
use llm_do::history::HistoryProcessor;
use llm_do::model::{Message, ProviderData, ResponsePart, Thinking, ToolCall, ToolResult};
use llm_do::prelude::*;
use llm_do::testing::ScriptedModel;
use llm_do::{History, Limits, async_trait};
use serde_json::json;

/// Answer.
#[worker(toolsets = [jot, other, hang])]
async fn companion(input: String) -> String;

/// Answer too.
#[worker]
async fn other(input: String) -> String;

/// Take a note.
#[tool(effect = read_only, inline)]
fn jot(text: String) -> String {
    text
}

/// Wait until the run is cancelled.
#[tool(effect = read_only)]
async fn hang(ctx: &CallContext) {
    ctx.progress("hanging");
    ctx.cancelled().await;
    std::future::pending::<()>().await;
}

pub(crate) fn text(text: &str) -> ResponsePart {
    ResponsePart::Text { text: text.to_owned() }
}

fn call(id: &str, name: &str, arguments: &serde_json::Value) -> ToolCall {
    ToolCall::new(id, name, arguments.to_string())
}

/// A model that returns these answers in order, and then always "done".
fn scripted(answers: Vec<Vec<ResponsePart>>) -> ScriptedModel {
    answers.into_iter().fold(ScriptedModel::new(), ScriptedModel::answer).text("done").repeat_last()
}

/// Returns why providers would reject a conversation.
pub(crate) fn fault(messages: &[Message]) -> Option<String> {
    let mut messages = messages.iter().peekable();
    while let Some(message) = messages.next() {
        match message {
            Message::Tool { .. } => return Some("results without calls".to_owned()),
            Message::Assistant { parts } => {
                let calls = parts.iter().filter_map(|part| match part {
                    ResponsePart::ToolCall(call) => Some(call.id.clone()),
                    _ => None,
                });
                let calls: Vec<_> = calls.collect();
                let results = match messages.next_if(|next| matches!(next, Message::Tool { .. })) {
                    Some(Message::Tool { results }) => results.iter().map(|result| result.call_id.clone()).collect(),
                    _ => Vec::new(),
                };
                if calls != results {
                    return Some(format!("calls {calls:?} and results {results:?}"));
                }
            }
            _ => {}
        }
    }
    None
}

#[tokio::test]
async fn the_history_carries_over_to_root_calls_only() {
    let nested = ResponsePart::ToolCall(call("1", "other", &json!({ "input": "below" })));
    let model = scripted(vec![vec![text("Hello!")], vec![nested], vec![text("from below")]]);
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    let mut chat = runtime.chat();
    chat.send(companion { input: "I am Ann.".into() }).await.unwrap();
    chat.send(companion { input: "Who am I?".into() }).await.unwrap();
    let asked: Vec<_> = model.requests().iter().map(|asked| asked.messages.len()).collect();
    assert_eq!(asked, [1, 3, 1, 5], "the nested call starts with an empty history");
    assert_eq!(chat.state().workers["companion"].messages().len(), 6);
}

#[tokio::test]
async fn a_run_without_a_chat_starts_with_an_empty_history() {
    let model = scripted(Vec::new());
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    for _ in 0..2 {
        runtime.run(other { input: "x".into() }).await.unwrap();
    }
    assert!(model.requests().iter().all(|asked| asked.messages.len() == 1));
}

#[tokio::test]
async fn reasoning_its_signature_and_ids_are_saved_and_sent_back_unchanged() {
    let data =
        |id: &str| ProviderData::new("anthropic", json!({ "signature": "Zm9v+/==\n\u{0}", "id": id, "n": 1.50 }));
    let thought = ResponsePart::Thinking(Thinking::new("hm\u{0}\u{fffd} é").with_provider_data(data("rs_1")));
    let call = ToolCall::new("c/1", "jot", r#"{ "text":  "a" }"#).with_provider_data(data("fc_1"));
    let asking = vec![thought, ResponsePart::ToolCall(call)];
    let model = scripted(vec![asking.clone(), vec![text("Hello!")]]);
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    let mut chat = runtime.chat();
    chat.send(companion { input: "a".into() }).await.unwrap();
    let saved = serde_json::to_string(&chat.state()).unwrap();
    assert!(saved.contains(r#""signature":"Zm9v+/==\n\u0000""#), "{saved}");
    let mut chat = runtime.chat().with_state(serde_json::from_str(&saved).unwrap());
    chat.send(companion { input: "b".into() }).await.unwrap();
    let asked = model.requests();
    for request in &asked[1..] {
        let Message::Assistant { parts } = &request.messages[1] else { panic!("no answer") };
        assert_eq!(parts, &asking);
    }
    assert_eq!(asked.len(), 3);
}

#[test]
fn repair_gives_each_call_one_result_and_drops_other_results() {
    let (first, second) = (call("1", "jot", &json!({})), call("2", "jot", &json!({})));
    let result = |call: &ToolCall| ToolResult::new(call, "noted");
    let assistant = |calls: &[&ToolCall]| Message::Assistant {
        parts: calls.iter().map(|call| ResponsePart::ToolCall((*call).clone())).collect(),
    };
    let mut history = History::new();
    *history.messages_mut() = vec![
        Message::Tool { results: vec![result(&first)] },
        Message::user("go"),
        assistant(&[&first, &second]),
        Message::Tool { results: vec![result(&second), result(&second)] },
        assistant(&[&first]),
    ];
    assert!(history.repair());
    assert_eq!(fault(history.messages()), None);
    let Message::Tool { results } = &history.messages()[2] else { panic!("{history:?}") };
    assert!(results[0].is_error && results[0].content.contains("interrupted"), "{results:?}");
    assert_eq!(results[1], result(&second));
    assert!(!history.repair(), "what is repaired needs no repair");
}

#[tokio::test]
async fn a_dropped_run_leaves_a_valid_history_and_its_usage() {
    let hanging = ResponsePart::ToolCall(call("1", "hang", &json!({})));
    let model = scripted(vec![vec![hanging]]);
    let (begun, mut has_begun) = tokio::sync::mpsc::unbounded_channel();
    let runtime = Runtime::builder()
        .force_model(model.clone())
        .on_event(move |event| {
            if matches!(event.kind, llm_do::event::EventKind::Progress { .. }) {
                begun.send(()).unwrap();
            }
        })
        .build()
        .unwrap();
    let start = runtime.start(companion { input: "go".into() });
    let handle = start.handle();
    tokio::select! {
        result = std::future::IntoFuture::into_future(start) => panic!("{result:?}"),
        _ = has_begun.recv() => {}
    }
    let history = handle.history();
    assert_eq!(fault(history.messages()), None);
    assert_eq!(history.messages().len(), 3);
    assert_eq!(handle.usage().model.requests, 1);
    assert_eq!(handle.usage_tree().total(), handle.usage());
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_returns_an_error_and_its_handle_has_the_history() {
    let hanging = ResponsePart::ToolCall(call("1", "hang", &json!({})));
    let model = scripted(vec![vec![hanging]]);
    let runtime = Runtime::builder().force_model(model.clone()).build().unwrap();
    let start = runtime.start(companion { input: "go".into() });
    let handle = start.handle();
    let cancel = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        handle.cancel();
    };
    let (result, ()) = tokio::join!(std::future::IntoFuture::into_future(start), cancel);
    assert!(result.unwrap_err().is_cancelled());
    assert_eq!(fault(handle.history().messages()), None);
}

/// Keeps the first message and the last ones.
#[derive(Debug)]
struct Trim(usize);

#[async_trait]
impl HistoryProcessor for Trim {
    async fn process(&self, history: &mut History, _: &CallContext) -> Result<(), BoxError> {
        let messages = history.messages_mut();
        if messages.len() > self.0 {
            messages.drain(1..=messages.len() - self.0);
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_processor_changes_the_request_and_calls_keep_their_results() {
    let noting = |id: &str| vec![ResponsePart::ToolCall(call(id, "jot", &json!({ "text": id })))];
    let model = scripted(vec![noting("1"), noting("2"), noting("3"), vec![text("Done.")]]);
    let runtime = Runtime::builder().force_model(model.clone()).history_processor(Trim(4)).build().unwrap();
    assert_eq!(runtime.run(companion { input: "go".into() }).await.unwrap(), "Done.");
    let seen: Vec<_> = model.requests().into_iter().map(|asked| asked.messages).collect();
    assert!(seen.iter().all(|messages| messages.len() <= 4 && fault(messages).is_none()), "{seen:?}");
    assert_eq!(seen[3][0], Message::user("go"));
}

/// Removes all messages, then fails or never returns.
#[derive(Debug)]
struct Unable {
    waits: bool,
}

#[async_trait]
impl HistoryProcessor for Unable {
    async fn process(&self, history: &mut History, _: &CallContext) -> Result<(), BoxError> {
        history.messages_mut().clear();
        if self.waits {
            std::future::pending::<()>().await;
        }
        Err("no summary".into())
    }
}

#[tokio::test(start_paused = true)]
async fn the_history_survives_a_processor_that_fails_or_is_cancelled() {
    for waits in [false, true] {
        let limits = Limits::new().wall_time(Duration::from_secs(1));
        let builder = Runtime::builder().limits(limits).force_model(scripted(Vec::new()));
        let runtime = builder.history_processor(Unable { waits }).build().unwrap();
        let before = vec![Message::user("Hello!"), Message::Assistant { parts: vec![text("Hi!")] }];
        let start = runtime.start(companion { input: "go".into() }).history(before.clone().into());
        let handle = start.handle();
        let error = start.await.unwrap_err();
        assert_eq!(error.is_timeout(), waits, "{error:?}");
        let history = handle.history();
        assert_eq!(history.messages()[..2], before, "waits: {waits}");
        assert_eq!(history.messages()[2..], [Message::user("go")], "waits: {waits}");
    }
}
