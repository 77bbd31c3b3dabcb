//! Answers that end in an error, by <https://openrouter.ai/docs/api/reference/errors-and-debugging> and
//! <https://api-docs.deepseek.com/api/create-chat-completion>.

use super::*;
use llm_do_providers::FinishReason;

/// The complete and the streamed reply of an answer that ends with `choice`, which has the remaining fields.
fn ended(choice: &Value, text: &str) -> [Reply; 2] {
    let with = |key: &str| {
        let mut choice = choice.clone();
        choice["index"] = json!(0);
        choice[key] = json!({ "content": text });
        json!({ "choices": [choice] })
    };
    [Reply::json(200, &with("message")), Reply::stream().event(&with("delta").to_string()).event("[DONE]").end()]
}

#[tokio::test]
async fn an_answer_that_ends_with_an_error_keeps_the_partial_response() {
    let cases = [
        (
            json!({"finish_reason": "error", "error": {"code": 502, "message": "my secret"}}),
            (ErrorKind::Unavailable, 502, "the provider failed to answer; try again later"),
        ),
        (
            json!({"finish_reason": "stop", "error": {"code": 429, "message": "my secret"}}),
            (ErrorKind::RateLimited, 429, "too many requests"),
        ),
        (
            json!({"finish_reason": "error"}),
            (ErrorKind::Unavailable, 200, "stopped in the middle of the answer (error); try again later"),
        ),
        (
            json!({"finish_reason": "abort"}),
            (ErrorKind::Unavailable, 200, "stopped in the middle of the answer (abort)"),
        ),
        (
            json!({"finish_reason": "insufficient_system_resource"}),
            (ErrorKind::Overloaded, 200, "is overloaded (insufficient_system_resource); try again later"),
        ),
        (
            json!({"finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL", "error": {"code": 502}}),
            (ErrorKind::Protocol, 200, "a tool call that the server could not parse; try again"),
        ),
        (
            json!({"finish_reason": "malformed_function_call"}),
            (ErrorKind::Protocol, 200, "a tool call that the server could not parse; try again"),
        ),
    ];
    for (choice, (kind, status, says)) in cases {
        let server = Server::scripted(ended(&choice, "Half of")).await;
        let model = model(&server).retries(0).build().unwrap();
        for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
            check(&error, kind, Some(status), says);
            assert_eq!(error.partial_response().unwrap().text(), "Half of", "{choice}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_ends_with_an_error_is_retried_before_any_content() {
    for reason in ["error", "MALFORMED_FUNCTION_CALL"] {
        let [half, half_stream] = ended(&json!({ "finish_reason": reason }), "Half of");
        let server = Server::scripted([half, ok(), half_stream, ok_stream()]).await;
        let model = model(&server).build().unwrap();
        assert_eq!(whole(&model).await.unwrap().text(), "fine", "{reason}");
        let events: Vec<_> = events(&model).await.into_iter().map(Result::unwrap).collect();
        assert!(matches!(&events[..2], [StreamEvent::Waiting { .. }, StreamEvent::Text(fine)] if fine == "fine"));
    }
    let last = json!({"choices": [{"index": 0, "delta": {"content": " of"}, "finish_reason": "error"}]});
    let shown = Reply::stream().event(&piece(json!({"content": "Half"})).to_string()).event(&last.to_string()).end();
    let server = Server::scripted([shown, ok_stream()]).await;
    let events = events(&model(&server).build().unwrap()).await;
    let [Ok(StreamEvent::Text(half)), Err(error)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((half.as_str(), error.partial_response().unwrap().text().as_str()), ("Half", "Half of"));
}

/// Gemini's finish reason through an intermediary server: the call is readable, so it is answered like one of an
/// unknown tool.
#[tokio::test]
async fn a_readable_unexpected_call_is_a_call() {
    let message = json!({"tool_calls": [
        {"index": 0, "id": "c1", "type": "function", "function": {"name": "no_such_tool", "arguments": "{}"}}
    ]});
    for ended in [
        json!({"finish_reason": "unexpected_tool_call"}),
        json!({"finish_reason": "error", "native_finish_reason": "UNEXPECTED_TOOL_CALL"}),
    ] {
        let mut choice = ended.clone();
        choice["index"] = json!(0);
        choice["message"] = message.clone();
        let mut last = ended.clone();
        last["index"] = json!(0);
        last["delta"] = json!({});
        let stream = Reply::stream()
            .event(&piece(message.clone()).to_string())
            .event(&json!({"choices": [last]}).to_string())
            .event("[DONE]")
            .end();
        let server = Server::scripted([Reply::json(200, &json!({"model": "m-1", "choices": [choice]})), stream]).await;
        let model = model(&server).retries(0).build().unwrap();
        for response in [whole(&model).await.unwrap(), streamed(&model).await.unwrap()] {
            assert_eq!(response.tool_calls().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["no_such_tool"]);
            assert_eq!(response.finish, FinishReason::ToolCalls, "{ended}");
        }
    }
}
