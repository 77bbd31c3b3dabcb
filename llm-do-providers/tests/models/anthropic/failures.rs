//! Failures and their errors.
//!
//! By <https://platform.claude.com/docs/en/api/errors>.

use std::time::Duration;

use llm_do_providers::{ErrorKind, ProviderError, StreamEvent};
use serde_json::{Value, json};

use crate::anthropic::{Named, begun, block, delta, hello, model, named, ok_stream, start, text_block};
use crate::question::{events, streamed, whole};
use crate::server::{Reply, Server};

fn error(r#type: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": r#type, "message": message}, "request_id": "req_1"})
}

/// Checks the kind, the status and the message of an error.
fn check(error: &ProviderError, kind: ErrorKind, status: Option<u16>, told: &str) {
    let text = error.to_string();
    assert_eq!((error.kind(), error.status()), (kind, status), "{text}");
    assert!(text.contains(told), "{text}");
    assert!(text.starts_with("anthropic: ") && !text.contains("secret"), "{text}");
}

#[tokio::test]
async fn each_status_has_a_kind() {
    let cases = [
        (400, "invalid_request_error", ErrorKind::InvalidRequest, "the request was refused (invalid_request_error)"),
        (401, "authentication_error", ErrorKind::Auth, "check `ANTHROPIC_API_KEY` or the key given in code"),
        (402, "billing_error", ErrorKind::NoCredit, "no credit left (billing_error); check the plan"),
        (403, "permission_error", ErrorKind::Auth, "the key lacks a permission (permission_error)"),
        (404, "not_found_error", ErrorKind::InvalidRequest, "check the model's name and the base URL"),
        (413, "request_too_large", ErrorKind::ContextTooLong, "too large for the server (request_too_large)"),
        (429, "rate_limit_error", ErrorKind::RateLimited, "too many requests (rate_limit_error)"),
        (500, "api_error", ErrorKind::Unavailable, "the provider failed to answer (api_error)"),
        (504, "timeout_error", ErrorKind::Unavailable, "the provider failed to answer (timeout_error)"),
        (529, "overloaded_error", ErrorKind::Overloaded, "the provider is overloaded (overloaded_error)"),
    ];
    for (status, word, kind, told) in cases {
        let reply = Reply::json(status, &error(word, "my secret"));
        let server = Server::scripted([reply.clone(), reply]).await;
        let model = named("claude-sonnet-4-5", &server).retries(0).build().unwrap();
        check(&whole(&model).await.unwrap_err(), kind, Some(status), told);
        check(&streamed(&model).await.unwrap_err(), kind, Some(status), told);
    }
}

#[tokio::test]
async fn a_conversation_that_is_too_long_has_its_own_kind() {
    for message in [
        "prompt is too long: 210000 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000",
    ] {
        let server = Server::scripted([Reply::json(400, &error("invalid_request_error", message))]).await;
        let error = whole(&model(&server)).await.unwrap_err();
        check(&error, ErrorKind::ContextTooLong, Some(400), "longer than the model's context");
    }
}

/// The API's errors for an account without credit, and for an answer stopped by its filter.
const REFUSALS: [(&str, ErrorKind, &str); 2] = [
    (
        "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade.",
        ErrorKind::NoCredit,
        "no credit left (invalid_request_error); check the plan",
    ),
    (
        "Output blocked by content filtering policy",
        ErrorKind::ContentFilter,
        "filter refused the request or its answer (invalid_request_error); rephrase the request",
    ),
];

#[tokio::test]
async fn missing_credit_and_content_filters_have_their_own_kinds() {
    for (message, kind, told) in REFUSALS {
        let server = Server::scripted([Reply::json(400, &error("invalid_request_error", message))]).await;
        check(&whole(&model(&server)).await.unwrap_err(), kind, Some(400), told);
        let broken = text_block(begun(), 0, "half").named_event(&error("invalid_request_error", message)).end();
        let server = Server::scripted([broken]).await;
        check(&streamed(&model(&server)).await.unwrap_err(), kind, Some(400), told);
    }
}

#[tokio::test]
async fn rate_limits_are_retried_after_the_requested_delay() {
    let busy = |headers: &str| Reply::whole(429, headers, &error("rate_limit_error", "x").to_string());
    let server = Server::scripted([busy("retry-after: 0\r\n"), Reply::json(200, &hello())]).await;
    assert_eq!(whole(&model(&server)).await.unwrap().text(), "hello");

    let server = Server::scripted([busy("retry-after: 0\r\n"), ok_stream()]).await;
    let events = events(&model(&server)).await;
    let [Ok(StreamEvent::Waiting { on }), .., Ok(StreamEvent::Done(_))] = &events[..] else { panic!("{events:?}") };
    assert_eq!(on, "retry 1 of 2 in 0 s after status 429");

    let server = Server::scripted([busy("retry-after: 3600\r\nrequest-id: req_7\r\n")]).await;
    let error = whole(&model(&server)).await.unwrap_err();
    assert_eq!((error.retry_after(), error.request_id()), (Some(Duration::from_secs(3600)), Some("req_7")));
    assert!(error.is_rate_limited());
}

#[tokio::test]
async fn the_should_retry_header_is_respected() {
    let reply = Reply::whole(500, "x-should-retry: false\r\n", &error("api_error", "x").to_string());
    let server = Server::scripted([reply, Reply::json(200, &hello())]).await;
    assert_eq!(whole(&model(&server)).await.unwrap_err().should_retry(), Some(false));
    assert_eq!(server.requests().len(), 1);
}

/// An error event inside of a stream, by <https://platform.claude.com/docs/en/build-with-claude/streaming#error-events>.
#[tokio::test]
async fn an_error_before_the_first_content_is_retried() {
    for word in ["overloaded_error", "api_error", "rate_limit_error", "timeout_error", "novel_error"] {
        let broken = begun().named_event(&error(word, "my secret")).end();
        let server = Server::scripted([broken, ok_stream()]).await;
        assert_eq!(streamed(&model(&server)).await.unwrap().text(), "fine", "{word}");
    }
}

#[tokio::test]
async fn an_error_in_a_stream_has_its_kind_and_the_partial_response() {
    let cases = [
        ("overloaded_error", ErrorKind::Overloaded, Some(529)),
        ("invalid_request_error", ErrorKind::InvalidRequest, Some(400)),
        ("authentication_error", ErrorKind::Auth, Some(401)),
        ("request_too_large", ErrorKind::ContextTooLong, Some(413)),
        ("novel_error", ErrorKind::Unavailable, Some(200)),
    ];
    for (word, kind, status) in cases {
        let reply = text_block(begun(), 0, "half").named_event(&error(word, "my secret")).end();
        let server = Server::scripted([reply, ok_stream()]).await;
        let error = streamed(&model(&server)).await.unwrap_err();
        check(&error, kind, status, word);
        assert_eq!(error.partial_response().unwrap().text(), "half");
        assert_eq!(server.requests().len(), 1, "a shown part is not requested again");
    }
}

#[tokio::test]
async fn an_error_object_with_status_200_is_an_error() {
    let server = Server::scripted([Reply::json(200, &error("invalid_request_error", "my secret"))]).await;
    check(&whole(&model(&server)).await.unwrap_err(), ErrorKind::InvalidRequest, Some(400), "invalid_request_error");
}

#[tokio::test]
async fn a_stream_that_breaks_before_the_first_content_is_retried() {
    let text = start(begun(), 0, &json!({"type": "text", "text": ""}));
    for broken in [begun(), begun().end(), text, Reply::stream()] {
        let server = Server::scripted([broken, ok_stream()]).await;
        assert_eq!(streamed(&model(&server)).await.unwrap().text(), "fine");
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_stream_without_its_last_event_is_a_transport_error() {
    let server = Server::scripted([text_block(begun(), 0, "half").end(), ok_stream()]).await;
    check(&streamed(&model(&server)).await.unwrap_err(), ErrorKind::Transport, Some(200), "the stream broke off");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_stream_that_breaks_later_keeps_its_complete_parts() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "add", "input": {}});
    let part = json!({"type": "input_json_delta", "partial_json": "{\"a\": 1}"});
    let thought = json!({"type": "thinking", "thinking": "", "signature": ""});
    let mut reply = block(begun(), 0, &thought, &[json!({"type": "signature_delta", "signature": "s"})]);
    reply = block(text_block(reply, 1, "half of"), 2, &call("t1"), std::slice::from_ref(&part));
    reply = delta(start(reply, 3, &call("t2")), 3, &part);
    let server = Server::scripted([reply, ok_stream()]).await;
    let error = streamed(&model(&server)).await.unwrap_err();
    check(&error, ErrorKind::Transport, Some(200), "broke in the middle of the answer");
    let arrived = error.partial_response().unwrap();
    let ids: Vec<_> = arrived.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!((arrived.text().as_str(), &ids[..]), ("half of", &["t1"][..]), "the second call may not be whole");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_invalid_body_is_a_protocol_error() {
    for body in ["{}", "[]", "<html>", "{\"content\": 7}"] {
        let server = Server::scripted([Reply::whole(200, "", body), Reply::stream().event(body).end()]).await;
        let model = named("claude-sonnet-4-5", &server).retries(0).build().unwrap();
        check(&whole(&model).await.unwrap_err(), ErrorKind::Protocol, Some(200), "the server speaks the Messages API");
        check(&streamed(&model).await.unwrap_err(), ErrorKind::Protocol, Some(200), "");
    }
}

#[tokio::test]
async fn a_call_without_a_name_is_a_protocol_error() {
    let content = json!([{"type": "tool_use", "id": "t1", "input": {}}]);
    let server = Server::scripted([Reply::json(200, &crate::anthropic::message(&content, "tool_use"))]).await;
    check(&whole(&model(&server)).await.unwrap_err(), ErrorKind::Protocol, Some(200), "a tool without a name");
}

#[tokio::test]
async fn a_stalled_stream_times_out() {
    for reply in [text_block(begun(), 0, "half").stall(), begun().stall(), Reply::default().stall()] {
        let server = Server::scripted([reply]).await;
        let limit = Duration::from_millis(100);
        let model = named("claude-sonnet-4-5", &server).idle_timeout(limit).build().unwrap();
        let error = streamed(&model).await.unwrap_err();
        check(&error, ErrorKind::Timeout, error.status(), "raise the idle timeout of 100ms");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_a_transport_error() {
    let server = Server::scripted([]).await;
    let model = named("claude-sonnet-4-5", &server).retries(0).build().unwrap();
    drop(server);
    // The port may accept connections until the task is gone; either way there is no answer.
    let error = whole(&model).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Transport, "{error}");
}
