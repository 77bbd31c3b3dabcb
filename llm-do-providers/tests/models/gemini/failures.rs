//! Failures and their errors.

use std::time::Duration;

use llm_do_providers::{ErrorKind, ProviderError, ResponsePart, StreamEvent};
use serde_json::{Value, json};

use crate::gemini::{answer_of, body, model, piece, stream_of};
use crate::question::{events, streamed, whole};
use crate::server::{Reply, Server};

fn ok() -> Reply {
    Reply::json(200, &body(&json!([{"text": "fine"}]), "STOP"))
}

fn ok_stream() -> Reply {
    stream_of([json!([{"text": "fine"}])], "STOP")
}

/// A status of Google's, by <https://ai.google.dev/gemini-api/docs/troubleshooting> and
/// <https://cloud.google.com/apis/design/errors#error_model>.
fn status(code: u16, word: &str, message: &str, details: &Value) -> Value {
    json!({"error": {"code": code, "message": message, "status": word, "details": details}})
}

fn check(error: &ProviderError, kind: ErrorKind, status: Option<u16>, text: &str) {
    assert_eq!((error.kind(), error.status(), error.provider()), (kind, status, "gemini"), "{error}");
    let shown = error.to_string();
    assert!(shown.contains(text), "{shown}");
    assert!(!shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn each_status_has_a_kind_in_an_object_and_in_a_list() {
    let cases = [
        (400, "INVALID_ARGUMENT", ErrorKind::InvalidRequest),
        (400, "FAILED_PRECONDITION", ErrorKind::InvalidRequest),
        (403, "PERMISSION_DENIED", ErrorKind::Auth),
        (404, "NOT_FOUND", ErrorKind::InvalidRequest),
        (429, "RESOURCE_EXHAUSTED", ErrorKind::RateLimited),
        (500, "INTERNAL", ErrorKind::Unavailable),
        (503, "UNAVAILABLE", ErrorKind::Overloaded),
        (504, "DEADLINE_EXCEEDED", ErrorKind::Unavailable),
    ];
    for (code, word, kind) in cases {
        let object = status(code, word, "my secret", &json!([]));
        let server = Server::scripted([Reply::json(code, &object), Reply::json(code, &json!([object]))]).await;
        let model = model(&server).retries(0).build().unwrap();
        check(&whole(&model).await.unwrap_err(), kind, Some(code), &format!("({word})"));
        check(&streamed(&model).await.unwrap_err(), kind, Some(code), &format!("({word})"));
    }
}

#[tokio::test]
async fn an_invalid_key_is_an_auth_error() {
    let info = json!([{
        "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"
    }]);
    let body = status(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", &info);
    let server = Server::scripted([Reply::json(400, &body)]).await;
    let error = whole(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Auth, Some(400), "the key was refused (API_KEY_INVALID); check `GEMINI_API_KEY`");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_has_its_own_kind() {
    let message = "The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).";
    let body = status(400, "INVALID_ARGUMENT", message, &json!([]));
    let server = Server::scripted([Reply::json(400, &body)]).await;
    let error = whole(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::ContextTooLong, Some(400), "longer than the model's context");
}

#[tokio::test]
async fn a_rate_limit_is_retried_after_the_requested_delay() {
    let retry = |delay: &str| json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
    let short = Reply::json(429, &status(429, "RESOURCE_EXHAUSTED", "x", &retry("0.01s")));
    let server = Server::scripted([short.clone(), ok(), short, ok_stream()]).await;
    let waiting = model(&server).build().unwrap();
    assert_eq!(whole(&waiting).await.unwrap().text(), "fine");
    assert_eq!(streamed(&waiting).await.unwrap().text(), "fine");
    let long = Reply::json(429, &status(429, "RESOURCE_EXHAUSTED", "x", &retry("3600s")));
    let server = Server::scripted([long]).await;
    let error = whole(&model(&server).build().unwrap()).await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    check(&error, ErrorKind::RateLimited, Some(429), "more than the maximum of 60 s");
}

#[tokio::test]
async fn a_daily_quota_is_not_retried() {
    let violation = json!({"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier", "quotaValue": "20"});
    let details = json!([
        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.01s"},
    ]);
    let server = Server::scripted([Reply::json(429, &status(429, "RESOURCE_EXHAUSTED", "x", &details)), ok()]).await;
    let error = whole(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::RateLimited, Some(429), "the quota is used up");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_error_in_a_stream_keeps_the_partial_response() {
    let overloaded = status(503, "UNAVAILABLE", "my secret", &json!([]));
    for error in [overloaded.to_string(), json!([overloaded]).to_string()] {
        let half = piece(&json!([{"text": "half"}, {"functionCall": {"name": "add", "args": {}}}])).to_string();
        let server = Server::scripted([Reply::stream().event(&half).event(&error).end(), ok_stream()]).await;
        let error = streamed(&model(&server).build().unwrap()).await.unwrap_err();
        check(&error, ErrorKind::Overloaded, Some(503), "(UNAVAILABLE)");
        let arrived = error.partial_response().unwrap();
        assert_eq!((arrived.text().as_str(), arrived.tool_calls().count()), ("half", 0));
        assert_eq!(server.requests().len(), 1, "a shown part is not requested again");
    }
}

#[tokio::test]
async fn an_error_at_the_start_of_a_stream_is_retried() {
    let error = status(503, "UNAVAILABLE", "x", &json!([])).to_string();
    let server = Server::scripted([Reply::stream().event(&error).end(), ok_stream()]).await;
    let events = events(&model(&server).build().unwrap()).await;
    assert!(matches!(&events[0], Ok(StreamEvent::Waiting { .. })), "{events:?}");
    assert!(matches!(events.last(), Some(Ok(StreamEvent::Done(_)))), "{events:?}");
}

/// A stream may not be one of events to its end: an error may be bare JSON.
#[tokio::test]
async fn an_error_without_an_event_is_recognized() {
    let bare = serde_json::to_string_pretty(&status(503, "UNAVAILABLE", "my secret", &json!([]))).unwrap();
    let half = piece(&json!([{"text": "half"}])).to_string();
    let later = Reply::stream().event(&half).chunk(&bare[..20]).chunk(&bare[20..]).end();
    let listed = Reply::stream().chunk(&format!("[{bare}]")).end();
    let server = Server::scripted([later, listed, ok_stream()]).await;
    let model = model(&server).build().unwrap();
    let error = streamed(&model).await.unwrap_err();
    check(&error, ErrorKind::Overloaded, Some(503), "(UNAVAILABLE)");
    assert_eq!(error.partial_response().unwrap().text(), "half");
    assert_eq!(streamed(&model).await.unwrap().text(), "fine", "before the first content, the request is retried");
}

#[tokio::test]
async fn a_prompt_that_the_filter_blocks_is_an_error() {
    let blocked =
        json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 3}});
    let stream = Reply::stream().event(&blocked.to_string()).end();
    let server = Server::scripted([Reply::json(200, &blocked), stream]).await;
    let model = model(&server).build().unwrap();
    for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
        check(
            &error,
            ErrorKind::ContentFilter,
            Some(200),
            "refused the request (PROHIBITED_CONTENT); rephrase the request",
        );
    }
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn a_malformed_call_is_retried() {
    let malformed = body(&json!([]), "MALFORMED_FUNCTION_CALL");
    let stream = Reply::stream().event(&malformed.to_string()).end();
    let server = Server::scripted([Reply::json(200, &malformed), ok(), stream, ok_stream()]).await;
    let patient = model(&server).build().unwrap();
    assert_eq!(whole(&patient).await.unwrap().text(), "fine");
    assert_eq!(streamed(&patient).await.unwrap().text(), "fine");
    let server = Server::scripted([Reply::json(200, &malformed)]).await;
    let error = whole(&model(&server).retries(0).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Protocol, Some(200), "the model wrote a tool call that the server could not parse");
}

#[tokio::test]
async fn a_malformed_call_after_streamed_thinking_is_an_error() {
    let thought = piece(&json!([{"text": "I add.", "thought": true}])).to_string();
    let malformed = body(&json!([]), "MALFORMED_FUNCTION_CALL").to_string();
    let server = Server::scripted([Reply::stream().event(&thought).event(&malformed).end(), ok_stream()]).await;
    let error = streamed(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Protocol, Some(200), "the model wrote a tool call that the server could not parse");
    assert!(
        matches!(&error.partial_response().unwrap().parts[..], [ResponsePart::Thinking(thought)] if thought.text == "I add.")
    );
}

#[tokio::test]
async fn a_charged_attempt_is_always_counted() {
    let malformed = || Reply::json(200, &body(&json!([]), "MALFORMED_FUNCTION_CALL"));
    let malformed_stream = || Reply::stream().event(&body(&json!([]), "MALFORMED_FUNCTION_CALL").to_string()).end();
    let one = answer_of(json!([{"text": "fine"}]), "STOP").await.usage;
    let server = Server::scripted([malformed(), ok(), malformed_stream(), ok_stream()]).await;
    let patient = model(&server).build().unwrap();
    assert_eq!(whole(&patient).await.unwrap().usage, one + one);
    assert_eq!(streamed(&patient).await.unwrap().usage, one + one);

    let refused = || Reply::json(400, &status(400, "INVALID_ARGUMENT", "x", &json!([])));
    let server = Server::scripted([malformed(), malformed(), refused(), malformed_stream(), refused()]).await;
    let patient = model(&server).build().unwrap();
    assert_eq!(whole(&patient).await.unwrap_err().partial_response().unwrap().usage, one + one);
    assert_eq!(streamed(&patient).await.unwrap_err().partial_response().unwrap().usage, one);
}

#[tokio::test]
async fn an_invalid_answer_is_a_protocol_error() {
    let call = |call: Value| body(&json!([{ "functionCall": call }]), "STOP");
    let cases = [
        (json!({}), "the answer is empty"),
        (json!({"candidates": []}), "the answer is empty"),
        (body(&json!([]), "OTHER"), "the model stopped before it wrote anything"),
        (call(json!({"args": {}})), "the answer calls a tool without a name"),
        (call(json!({"name": "add", "willContinue": true})), "the answer streams the arguments of a tool call"),
        (body(&json!([{"inlineData": {"mimeType": "image/png", "data": "?"}}]), "STOP"), "a file that is not base64"),
        (json!({"candidates": 1}), "the answer is not the JSON of the Gemini API (line 1, column "),
    ];
    for (answer, text) in cases {
        let stream = Reply::stream().event(&answer.to_string()).end();
        let server = Server::scripted([Reply::json(200, &answer), stream]).await;
        let model = model(&server).retries(0).build().unwrap();
        check(&whole(&model).await.unwrap_err(), ErrorKind::Protocol, Some(200), text);
        if answer["candidates"].is_array() && answer["candidates"] != json!([]) {
            check(&streamed(&model).await.unwrap_err(), ErrorKind::Protocol, Some(200), text);
        }
    }
}

#[tokio::test]
async fn a_broken_stream_keeps_its_content_and_an_empty_one_is_retried() {
    let half = piece(&json!([{"text": "half", "thoughtSignature": "QQ=="}])).to_string();
    let server = Server::scripted([Reply::stream().event(&half).end(), Reply::stream().event(&half)]).await;
    let model_of_breaks = model(&server).build().unwrap();
    let error = streamed(&model_of_breaks).await.unwrap_err();
    check(&error, ErrorKind::Transport, Some(200), "the stream broke off");
    assert!(matches!(
        &error.partial_response().unwrap().parts[..],
        [ResponsePart::Text { .. }, ResponsePart::Opaque(_)]
    ));
    let error = streamed(&model_of_breaks).await.unwrap_err();
    check(&error, ErrorKind::Transport, Some(200), "broke in the middle of the answer");
    assert_eq!(error.partial_response().unwrap().text(), "half");

    let server = Server::scripted([Reply::stream().event(&piece(&json!([])).to_string()), ok_stream()]).await;
    assert_eq!(streamed(&model(&server).build().unwrap()).await.unwrap().text(), "fine");
}

#[tokio::test]
async fn a_connection_lost_after_the_end_is_ignored() {
    let broken = Reply::stream().event(&body(&json!([{"text": "fine"}]), "STOP").to_string());
    let server = Server::scripted([broken]).await;
    assert_eq!(streamed(&model(&server).build().unwrap()).await.unwrap().text(), "fine");
}

#[tokio::test]
async fn a_stalled_stream_times_out() {
    let begun = Reply::stream().event(&piece(&json!([{"text": "half"}])).to_string()).stall();
    for reply in [begun, Reply::stream().stall()] {
        let server = Server::scripted([reply]).await;
        let model = model(&server).idle_timeout(Duration::from_millis(100)).build().unwrap();
        let error = streamed(&model).await.unwrap_err();
        check(&error, ErrorKind::Timeout, error.status(), "raise the idle timeout of 100ms");
    }
}
