//! Turns that the provider pauses, and that are continued automatically.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons#pause-turn>.

use futures_util::StreamExt;
use llm_do_providers::{
    FinishReason, Message, Model, ProviderError, Request, ResponsePart, ServerSideTool, Settings, StreamEvent,
};
use serde_json::{Value, json};

use crate::anthropic::{begun, block, ended, message, model, named, text_block};
use crate::server::{Reply, Server};

fn search() -> Value {
    json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "e"}})
}

fn found() -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn paused() -> Reply {
    Reply::json(200, &message(&json!([text("I search. "), search()]), "pause_turn"))
}

fn paused_stream() -> Reply {
    ended(block(text_block(begun(), 0, "I search. "), 1, &search(), &[]), "pause_turn")
}

fn rest() -> Reply {
    Reply::json(200, &message(&json!([found(), text("It is e.")]), "end_turn"))
}

fn rest_stream() -> Reply {
    ended(text_block(block(begun(), 0, &found(), &[]), 1, "It is e."), "end_turn")
}

async fn stream(server: &Server) -> Vec<Result<StreamEvent, ProviderError>> {
    let (messages, settings) = ([Message::user("news?")], Settings::default());
    let tools = [ServerSideTool::WEB_SEARCH];
    let model = model(server);
    model.stream(Request::new(&messages, &settings).server_side_tools(&tools)).await.unwrap().collect().await
}

/// Checks the request after the pause: the partial answer unchanged, and nothing else new.
fn check_continued(server: &Server) {
    let requests = server.requests();
    let [first, second] = &requests[..] else { panic!("two requests, not {}", requests.len()) };
    let mut expected = first.body.clone();
    let answer = json!({"role": "assistant", "content": [text("I search. "), search()]});
    expected["messages"].as_array_mut().unwrap().push(answer);
    assert_eq!(second.body, expected);
    assert!(second.head.contains("anthropic-version"), "{}", second.head);
}

#[tokio::test]
async fn a_paused_turn_is_continued_as_one_answer() {
    let server = Server::scripted([paused(), rest()]).await;
    let response = crate::anthropic::whole(&model(&server)).await.unwrap();
    assert_eq!((response.text().as_str(), response.finish), ("I search. It is e.", FinishReason::Stop));
    assert_eq!((response.usage.requests, response.usage.input_tokens, response.usage.output_tokens), (2, 6, 8));
    check_continued(&server);

    let messages = [Message::user("hi"), Message::Assistant { parts: response.parts }, Message::user("more")];
    let (body, _) = crate::anthropic::asked("claude-sonnet-4-5", Request::new(&messages, &Settings::default())).await;
    assert_eq!(body["messages"][1]["content"], json!([text("I search. "), search(), found(), text("It is e.")]));
}

#[tokio::test]
async fn a_failed_use_after_a_pause_has_its_error_code() {
    let content = json!({"type": "web_search_tool_result_error", "error_code": "unavailable"});
    let lost = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": content});
    let rest = Reply::json(200, &message(&json!([lost, text("Nothing.")]), "end_turn"));
    let server = Server::scripted([paused(), rest]).await;
    let response = crate::anthropic::whole(&model(&server)).await.unwrap();
    let errors = response.parts.iter().filter_map(|part| match part {
        ResponsePart::ServerSideTool(used) => Some(used.error.as_deref()),
        _ => None,
    });
    assert_eq!(errors.collect::<Vec<_>>(), [Some("unavailable")]);
}

#[tokio::test]
async fn a_paused_stream_is_continued_and_has_one_end() {
    let server = Server::scripted([paused_stream(), rest_stream()]).await;
    let mut events: Vec<_> = stream(&server).await.into_iter().map(Result::unwrap).collect();
    let Some(StreamEvent::Done(response)) = events.pop() else { panic!("{events:?}") };
    let used = StreamEvent::ServerSideTool { name: "web_search".into(), input: json!({"query": "e"}) };
    assert_eq!(events, [StreamEvent::Text("I search. ".into()), used, StreamEvent::Text("It is e.".into())]);
    assert_eq!((response.text().as_str(), response.usage.requests), ("I search. It is e.", 2));
    check_continued(&server);
}

#[tokio::test]
async fn a_turn_that_pauses_twice_has_all_parts() {
    let more = Reply::json(200, &message(&json!([text("Still. ")]), "pause_turn"));
    let server = Server::scripted([paused(), more, rest()]).await;
    let response = crate::anthropic::whole(&model(&server)).await.unwrap();
    assert_eq!((response.text().as_str(), response.usage.requests), ("I search. Still. It is e.", 3));
    let last = &server.requests()[2].body["messages"];
    assert_eq!(last.as_array().unwrap().len(), 2);
    assert_eq!(last[1]["content"], json!([text("I search. "), search(), text("Still. ")]));
}

#[tokio::test]
async fn a_turn_that_keeps_pausing_is_stopped() {
    let server = Server::scripted(vec![paused(); 12]).await;
    let response = crate::anthropic::whole(&model(&server)).await.unwrap();
    assert_eq!((response.finish, response.usage.requests), (FinishReason::Length, 11));
}

#[tokio::test]
async fn a_failure_after_a_pause_is_retried_from_there() {
    let busy = || Reply::whole(529, "retry-after: 0\r\n", r#"{"type":"error","error":{"type":"overloaded_error"}}"#);
    let server = Server::scripted([paused(), busy(), rest()]).await;
    assert_eq!(crate::anthropic::whole(&model(&server)).await.unwrap().text(), "I search. It is e.");
    assert_eq!(server.requests()[1].body, server.requests()[2].body);

    let server = Server::scripted([paused_stream(), busy(), rest_stream()]).await;
    let events = stream(&server).await;
    let Some(Ok(StreamEvent::Done(response))) = events.last() else { panic!("{events:?}") };
    assert_eq!(response.text(), "I search. It is e.");
}

#[tokio::test]
async fn a_permanent_failure_after_a_pause_keeps_the_earlier_parts() {
    let broken = text_block(begun(), 0, "It is");
    let refused = Reply::json(400, &json!({"error": {"type": "invalid_request_error"}}));
    for (reply, arrived) in [(broken, "I search. It is"), (refused.clone(), "I search. ")] {
        let server = Server::scripted([paused_stream(), reply]).await;
        let events = stream(&server).await;
        let Some(Err(error)) = events.last() else { panic!("{events:?}") };
        assert_eq!(error.partial_response().unwrap().text(), arrived);
    }
    let server = Server::scripted([paused(), refused]).await;
    let model = named("claude-sonnet-4-5", &server).retries(0).build().unwrap();
    assert_eq!(crate::anthropic::whole(&model).await.unwrap_err().partial_response().unwrap().text(), "I search. ");
}
