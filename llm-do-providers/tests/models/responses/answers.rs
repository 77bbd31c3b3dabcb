//! Answers of the server.

use futures_util::StreamExt;
use llm_do_providers::{ErrorKind, FinishReason, Message, Model, Request, ResponsePart, Settings, StreamEvent};
use serde_json::{Value, json};

use crate::question::streamed_answer;
use crate::responses::{answer_of, body, message, model};
use crate::server::{Reply, Server};

fn call(n: u8) -> Value {
    json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"), "name": "add", "arguments": "{}"})
}

#[tokio::test]
async fn a_text_answer_has_its_model_and_usage() {
    let answer = answer_of(&json!([message("Hello")])).await;
    assert_eq!((answer.text().as_str(), answer.model.as_str(), answer.finish), ("Hello", "m-1", FinishReason::Stop));
    assert_eq!((answer.usage.input_tokens, answer.usage.output_tokens), (3, 4));
}

#[tokio::test]
async fn calls_have_the_ids_for_their_results() {
    let answer = answer_of(&json!([call(1), call(2)])).await;
    let ids: Vec<_> = answer.tool_calls().map(|call| call.id.as_str()).collect();
    assert_eq!((ids, answer.finish), (vec!["call_1", "call_2"], FinishReason::ToolCalls));
}

#[tokio::test]
async fn thinking_has_its_summary() {
    let summary = json!([{"type": "summary_text", "text": "a"}, {"type": "summary_text", "text": "b"}]);
    let item = json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "x"});
    let answer = answer_of(&json!([item, message("Hello")])).await;
    let Some(ResponsePart::Thinking(thought)) = answer.parts.first() else { panic!("{answer:?}") };
    assert_eq!(thought.text, "a\n\nb");
}

#[tokio::test]
async fn a_refusal_is_a_text_with_finish_reason_content_filter() {
    let refusal = json!({"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]});
    let answer = answer_of(&json!([refusal])).await;
    assert_eq!((answer.text().as_str(), answer.finish), ("No.", FinishReason::ContentFilter));
}

#[tokio::test]
async fn a_truncated_answer_has_finish_reason_length() {
    let mut cut = body(&json!([message("Hel")]));
    cut["status"] = json!("incomplete");
    cut["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let end = json!({"type": "response.incomplete", "response": cut}).to_string();
    let server = Server::scripted([Reply::json(200, &cut), Reply::stream().event(&end).end()]).await;
    let (model, messages, settings) = (model(&server).build().unwrap(), [Message::user("hi")], Settings::default());
    let request = Request::new(&messages, &settings);
    for answer in [model.request(request).await.unwrap(), streamed_answer(&model, request).await.unwrap()] {
        assert_eq!((answer.text().as_str(), answer.finish), ("Hel", FinishReason::Length));
    }
}

#[tokio::test]
async fn uses_of_the_providers_tools_are_parts_and_events() {
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "bees", "sources": [{"type": "url", "url": "https://a"}]}});
    let code = json!({"type": "code_interpreter_call", "id": "ci_1", "container_id": "c", "code": "1+1",
        "outputs": [{"type": "logs", "logs": "2"}]});
    let items = json!([search, code, message("2 bees")]);
    let used: Vec<_> = answer_of(&items)
        .await
        .parts
        .into_iter()
        .filter_map(|part| match part {
            ResponsePart::ServerSideTool(used) => Some((used.name, used.input, used.output)),
            _ => None,
        })
        .collect();
    let expected = [
        (
            "web_search".to_owned(),
            json!({"type": "search", "query": "bees"}),
            json!([{"type": "url", "url": "https://a"}]),
        ),
        ("code_execution".to_owned(), json!({"code": "1+1"}), json!([{"type": "logs", "logs": "2"}])),
    ];
    assert_eq!(used, expected);
    let server = Server::scripted([crate::responses::stream_of(&items)]).await;
    let (model, messages, settings) = (model(&server).build().unwrap(), [Message::user("hi")], Settings::default());
    let events: Vec<_> = model.stream(Request::new(&messages, &settings)).await.unwrap().collect().await;
    let told = events.iter().filter_map(|event| match event {
        Ok(StreamEvent::ServerSideTool { name, .. }) => Some(("begun", &**name)),
        Ok(StreamEvent::ServerSideToolDone { name, error: None, .. }) => Some(("ended", &**name)),
        _ => None,
    });
    let (search, code) = ("web_search", "code_execution");
    assert_eq!(told.collect::<Vec<_>>(), [("begun", search), ("ended", search), ("begun", code), ("ended", code)]);
}

#[tokio::test]
async fn a_failed_use_has_an_error() {
    let item = json!({"type": "web_search_call", "id": "ws_1", "status": "failed", "action": {"type": "search", "query": "bees"}});
    let answer = answer_of(&json!([item])).await;
    let [ResponsePart::ServerSideTool(used)] = &answer.parts[..] else { panic!("{answer:?}") };
    assert_eq!(used.error.as_deref(), Some("failed"));
}

#[tokio::test]
async fn an_image_is_an_attachment_and_its_item_is_sent_back() {
    let item = json!({"type": "image_generation_call", "id": "ig_1", "status": "completed", "output_format": "webp",
        "revised_prompt": "a bee", "result": "aGkh"});
    let answer = answer_of(&json!([item])).await;
    let Some(ResponsePart::Attachment(image)) = answer.parts.last() else { panic!("{answer:?}") };
    assert_eq!((image.media_type(), image.data()), ("image/webp", &b"hi!"[..]));
    let messages = [Message::user("hi"), Message::Assistant { parts: answer.parts }];
    let sent = crate::responses::sent(Request::new(&messages, &Settings::default())).await;
    assert_eq!(sent["input"][1], item);
}

#[tokio::test]
async fn each_error_has_its_kind() {
    let error = |status, code: &str| Reply::json(status, &json!({"error": {"code": code, "message": "my secret"}}));
    let kinds = [
        (error(401, "invalid_api_key"), ErrorKind::Auth),
        (error(400, "invalid_prompt"), ErrorKind::InvalidRequest),
        (error(400, "context_length_exceeded"), ErrorKind::ContextTooLong),
        (error(429, "rate_limit_exceeded"), ErrorKind::RateLimited),
        (error(503, "server_is_overloaded"), ErrorKind::Overloaded),
        (error(500, "server_error"), ErrorKind::Unavailable),
        (Reply::whole(200, "", "<html>"), ErrorKind::Protocol),
    ];
    for (reply, kind) in kinds {
        let server = Server::scripted([reply]).await;
        let (messages, settings) = ([Message::user("my secret question")], Settings::default());
        let error = model(&server).build().unwrap().request(Request::new(&messages, &settings)).await.unwrap_err();
        assert_eq!((error.kind(), error.provider()), (kind, "openai-responses"), "{error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn a_failed_answer_is_an_error() {
    let mut failed = body(&json!([]));
    failed["status"] = json!("failed");
    failed["error"] = json!({"code": "rate_limit_exceeded", "message": "my secret"});
    let server = Server::scripted([Reply::json(200, &failed)]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let error = model(&server).build().unwrap().request(Request::new(&messages, &settings)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited);
}

#[tokio::test]
async fn an_error_before_the_first_content_is_retried() {
    let failed = |code: &str| {
        let error = json!({"code": code, "message": "my secret"});
        json!({"type": "response.failed", "response": {"status": "failed", "error": error}})
    };
    let overloaded =
        json!({"type": "service_unavailable_error", "code": "server_is_overloaded", "message": "my secret"});
    let events = [
        failed("rate_limit_exceeded"),
        failed("server_error"),
        json!({"type": "error", "error": overloaded}),
        json!({"type": "error", "code": "server_is_overloaded", "message": "my secret", "param": null}),
    ];
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    for event in events {
        let created = Reply::stream().event(&json!({"type": "response.created", "response": {}}).to_string());
        let reply = created.event(&event.to_string()).end();
        let server = Server::scripted([reply, crate::responses::stream_of(&json!([message("fine")]))]).await;
        let answer =
            streamed_answer(&model(&server).retries(1).build().unwrap(), Request::new(&messages, &settings)).await;
        assert_eq!(answer.unwrap().text(), "fine", "{event}");
    }
}

#[tokio::test]
async fn an_exhausted_quota_is_not_retried() {
    let error = json!({"type": "insufficient_quota", "code": "insufficient_quota", "message": "my secret"});
    let event = json!({"type": "error", "error": error}).to_string();
    let server = Server::scripted([Reply::stream().event(&event).end()]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let model = model(&server).retries(1).build().unwrap();
    let error = streamed_answer(&model, Request::new(&messages, &settings)).await.unwrap_err();
    assert_eq!((error.kind(), error.should_retry()), (ErrorKind::RateLimited, Some(false)), "{error}");
}

#[tokio::test]
async fn an_error_in_a_stream_keeps_the_partial_response() {
    let events = [
        json!({"type": "response.output_item.done", "output_index": 0, "item": call(1)}),
        json!({"type": "response.output_text.delta", "output_index": 1, "delta": "half of"}),
        json!({"type": "error", "code": "server_is_overloaded", "message": "my secret", "param": null}),
    ];
    let reply = events.iter().fold(Reply::stream(), |reply, event| reply.event(&event.to_string())).end();
    let server = Server::scripted([reply]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let error =
        streamed_answer(&model(&server).build().unwrap(), Request::new(&messages, &settings)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Overloaded, "{error}");
    let arrived = error.partial_response().unwrap();
    assert_eq!((arrived.text().as_str(), arrived.tool_calls().count()), ("half of", 1), "{arrived:?}");
}

#[tokio::test]
async fn a_stream_that_breaks_before_its_first_delta_is_retried() {
    let first = Reply::stream().event(&json!({"type": "response.created", "response": {"model": "m-1"}}).to_string());
    let server = Server::scripted([first, crate::responses::stream_of(&json!([message("fine")]))]).await;
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let model = model(&server).retries(1).build().unwrap();
    let answer = streamed_answer(&model, Request::new(&messages, &settings)).await.unwrap();
    assert_eq!((answer.text().as_str(), server.requests().len()), ("fine", 2));
}

#[tokio::test]
async fn an_answer_without_a_word_is_one_if_the_server_reports_that_it_is_complete() {
    let answer = answer_of(&json!([])).await;
    assert_eq!((answer.parts.len(), answer.finish), (0, FinishReason::Stop));
}

/// By <https://platform.openai.com/docs/api-reference/responses/object> (read 2026-11-22): models that charge for cache writes
/// report them beside the reads.
#[tokio::test]
async fn tokens_written_to_the_cache_are_counted() {
    let mut answer = body(&json!([message("fine")]));
    answer["usage"] = json!({
        "input_tokens": 2000, "input_tokens_details": {"cached_tokens": 300, "cache_write_tokens": 1600},
        "output_tokens": 4, "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 2004
    });
    let end = json!({"type": "response.completed", "response": answer});
    let server = Server::scripted([Reply::json(200, &answer), Reply::stream().event(&end.to_string()).end()]).await;
    let (model, messages) = (model(&server).build().unwrap(), [Message::user("hi")]);
    let settings = Settings::default();
    let request = Request::new(&messages, &settings);
    for usage in [model.request(request).await.unwrap().usage, streamed_answer(&model, request).await.unwrap().usage] {
        assert_eq!((usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens), (2000, 300, 1600));
    }
}

/// By <https://developers.openai.com/api/docs/guides/background> (read 2026-11-22).
#[tokio::test]
async fn a_background_answer_is_an_error_and_is_not_retried() {
    for status in ["queued", "in_progress"] {
        let mut answer = body(&json!([]));
        answer["status"] = json!(status);
        answer["usage"] = Value::Null;
        let server = Server::scripted([Reply::json(200, &answer)]).await;
        let model = model(&server).retries(2).build().unwrap();
        let settings = Settings::new().extra_body("background", true);
        let error = model.request(Request::new(&[Message::user("hi")], &settings)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        assert!(error.to_string().contains(&format!("`{status}`")), "{error}");
        assert!(error.to_string().contains("`background`"), "{error}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_cancelled_background_answer_is_an_error() {
    let mut answer = body(&json!([]));
    answer["status"] = json!("cancelled");
    let server = Server::scripted([Reply::json(200, &answer)]).await;
    let model = model(&server).retries(2).build().unwrap();
    let error = model.request(Request::new(&[Message::user("hi")], &Settings::default())).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_incomplete_answer_with_calls_finishes_with_other() {
    let call =
        json!({"type": "function_call", "call_id": "c1", "name": "add", "arguments": "", "status": "incomplete"});
    let mut body = body(&json!([call]));
    body["status"] = "incomplete".into();
    let event = json!({"type": "response.incomplete", "response": body});
    let reply = Reply::stream().event(&event.to_string()).end();
    let server = Server::scripted([Reply::json(200, &body), reply]).await;
    let (model, messages, settings) = (model(&server).build().unwrap(), [Message::user("hi")], Settings::default());
    let whole = model.request(Request::new(&messages, &settings)).await.unwrap();
    for response in [whole, streamed_answer(&model, Request::new(&messages, &settings)).await.unwrap()] {
        assert_eq!((response.finish, response.tool_calls().count()), (FinishReason::Other, 1));
    }
}
