//! Failures: each error has the provider, the status, and what to do.

mod ended;

use std::time::{Duration, Instant};

use futures_util::{FutureExt, StreamExt};
use llm_do_providers::{
    ErrorKind, FallbackModel, Message, Model, OpenAiModel, ProviderError, Request, Settings, StreamEvent, Usage,
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::openai::{model, piece, stream_of};
use crate::question::{events, streamed, whole};
use crate::server::{Reply, Server};

fn ok() -> Reply {
    Reply::json(200, &json!({"choices": [{"message": {"content": "fine"}, "finish_reason": "stop"}]}))
}

fn ok_stream() -> Reply {
    stream_of([json!({"content": "fine"})], "stop")
}

fn failing(status: u16, headers: &str, error: &Value) -> Reply {
    Reply::whole(status, headers, &json!({ "error": error }).to_string())
}

/// The errors of a complete and of a streamed request that both get `reply`, without retries.
async fn both(reply: Reply) -> [ProviderError; 2] {
    let server = Server::scripted([reply.clone(), reply]).await;
    let model = model(&server).retries(0).build().unwrap();
    [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()]
}

/// Checks the properties of every error.
fn check(error: &ProviderError, kind: ErrorKind, status: Option<u16>, advice: &str) {
    let text = error.to_string();
    assert_eq!((error.provider(), error.kind(), error.status()), ("openai", kind, status), "{text}");
    assert!(text.starts_with("openai: "), "{text}");
    assert!(status.is_none_or(|status| text.contains(&format!("status {status}"))), "{text}");
    assert!(text.contains(advice), "{text}");
    assert!(!text.contains("secret"), "{text}");
}

#[tokio::test]
async fn a_server_that_is_down_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let model = OpenAiModel::builder("m").base_url(format!("http://{address}/v1")).retries(0).build().unwrap();
    for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
        let advice = format!("cannot connect to http://{address}; check that it is up");
        check(&error, ErrorKind::Transport, None, &advice);
    }
}

#[tokio::test]
async fn requests_to_a_server_that_is_down_are_retried() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let model = OpenAiModel::builder("m").base_url(base_url).retries(1).build().unwrap();
    let events = events(&model).await;
    let [Ok(StreamEvent::Waiting { on }), Err(error)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(on, "retry 1 of 1 in 1 s after a lost connection");
    check(error, ErrorKind::Transport, None, "; tried 2 times");
}

#[tokio::test]
async fn a_transient_failure_is_retried() {
    for status in [408, 409, 429, 500, 502, 503, 504, 520, 522, 524, 529] {
        let failure = failing(status, "retry-after: 0\r\n", &json!({"message": "my secret"}));
        let server = Server::scripted([failure.clone(), ok(), failure, ok_stream()]).await;
        let model = model(&server).build().unwrap();
        assert_eq!(whole(&model).await.unwrap().text(), "fine", "{status}");
        let events: Vec<_> = events(&model).await.into_iter().map(Result::unwrap).collect();
        let on = format!("retry 1 of 2 in 0 s after status {status}");
        assert_eq!(events[..2], [StreamEvent::Waiting { on }, StreamEvent::Text("fine".into())]);
        let requests = server.requests();
        assert_eq!(requests.len(), 4);
        assert_eq!(requests[0].body, requests[1].body, "the same request is sent again");
    }
}

#[tokio::test]
async fn a_lasting_failure_is_an_error_after_three_attempts() {
    let failure = failing(500, "retry-after: 0\r\n", &json!({"message": "my secret", "type": "server_error"}));
    let server = Server::scripted(vec![failure; 6]).await;
    let model = model(&server).build().unwrap();
    for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
        check(&error, ErrorKind::Unavailable, Some(500), "(server_error); try again later; tried 3 times");
    }
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn a_lasting_conflict_allows_a_fallback() {
    let conflict = failing(409, "retry-after: 0\r\n", &json!({"message": "my secret"}));
    let (server, other) = (Server::scripted(vec![conflict; 3]).await, Server::scripted([ok()]).await);
    let row = FallbackModel::new(model(&server).build().unwrap()).or(model(&other).build().unwrap());
    let (messages, settings) = ([Message::user("hi")], Settings::new());
    assert_eq!(row.request(Request::new(&messages, &settings)).await.unwrap().text(), "fine");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_delay_requested_by_the_server_is_respected() {
    let failure = failing(429, "retry-after: 1\r\n", &Value::Null);
    let server = Server::scripted([failure, ok()]).await;
    let begin = Instant::now();
    whole(&model(&server).build().unwrap()).await.unwrap();
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_long_requested_delay_is_an_error() {
    let failure = failing(429, "retry-after: 3600\r\n", &json!({"code": "rate_limit_exceeded"}));
    let server = Server::scripted([failure.clone(), failure]).await;
    let model = model(&server).build().unwrap();
    for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
        check(&error, ErrorKind::RateLimited, Some(429), "(rate_limit_exceeded)");
        check(&error, ErrorKind::RateLimited, Some(429), "asks to wait 3600 s");
        assert!(error.is_rate_limited());
        assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    }
}

#[tokio::test]
async fn a_rejected_key_is_not_retried() {
    let refusal = failing(401, "", &json!({"message": "my secret key", "code": "invalid_api_key"}));
    for error in both(refusal).await {
        check(&error, ErrorKind::Auth, Some(401), "the key was refused (invalid_api_key); check `OPENAI_API_KEY`");
    }
}

#[tokio::test]
async fn an_unknown_model_is_not_retried() {
    let refusal = failing(404, "", &json!({"message": "no my secret", "type": "x", "code": "model_not_found"}));
    for error in both(refusal).await {
        check(&error, ErrorKind::InvalidRequest, Some(404), "(model_not_found); check the model's name");
    }
}

#[tokio::test]
async fn the_body_of_an_error_is_not_shown() {
    for body in ["my secret", "<html>my secret</html>", "{\"detail\": \"my secret\"}", "", "{\"error\": \"my secret\"}"]
    {
        for error in both(Reply::whole(400, "", body)).await {
            check(&error, ErrorKind::InvalidRequest, Some(400), "the request was refused; check");
        }
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let redirect = Reply::whole(307, "location: http://127.0.0.1:1/\r\n", "");
    for error in both(redirect).await {
        check(&error, ErrorKind::InvalidRequest, Some(307), "set the base URL");
    }
}

#[tokio::test]
async fn an_invalid_body_is_a_protocol_error() {
    for body in ["my secret", "{\"choices\": \"my secret\"}", "[]", "", "{\"choices\": [{\"message\":"] {
        let stream = Reply::stream().event(if body.is_empty() { "{" } else { body }).event("[DONE]").end();
        let server = Server::scripted([Reply::whole(200, "", body), stream]).await;
        let model = model(&server).build().unwrap();
        for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
            check(&error, ErrorKind::Protocol, Some(200), "not the JSON of chat completions");
            check(&error, ErrorKind::Protocol, Some(200), "check that the server speaks chat completions");
        }
    }
}

#[tokio::test]
async fn an_answer_without_choices_is_a_protocol_error() {
    let stream = Reply::stream().event("{}").event("[DONE]").end();
    let server = Server::scripted([Reply::whole(200, "", "{}"), stream]).await;
    let model = model(&server).build().unwrap();
    for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
        check(&error, ErrorKind::Protocol, Some(200), "the answer is empty");
    }
}

#[tokio::test]
async fn a_call_without_a_name_is_a_protocol_error() {
    let delta = json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"arguments": "{}"}}]});
    let server = Server::scripted([stream_of([delta], "tool_calls")]).await;
    let error = streamed(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Protocol, Some(200), "calls a tool without a name");
}

#[tokio::test]
async fn invalid_utf8_is_a_protocol_error() {
    let mut reply = Reply::stream();
    reply = reply.raw("9\r\ndata: ").raw_bytes(&[0xFF, 0xFE]).raw("\n\r\n1\r\n\n\r\n").end();
    let server = Server::scripted([reply]).await;
    let error = streamed(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Protocol, Some(200), "check the base URL");
}

#[tokio::test]
async fn a_stream_that_ends_too_early_is_a_transport_error() {
    let reply = Reply::stream().event(&piece(json!({"content": "half"})).to_string()).end();
    let server = Server::scripted([reply]).await;
    let events = events(&model(&server).build().unwrap()).await;
    let [Ok(StreamEvent::Text(half)), Err(error)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(half, "half");
    check(error, ErrorKind::Transport, Some(200), "the stream broke off before the end of the answer; try again");
}

#[tokio::test]
async fn a_connection_that_breaks_after_content_is_not_retried() {
    let reply = Reply::stream().event(&piece(json!({"content": "half"})).to_string());
    let server = Server::scripted([reply, ok_stream()]).await;
    let error = streamed(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Transport, Some(200), "broke in the middle of the answer; try again");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_connection_that_breaks_before_any_content_is_retried() {
    let empty = Reply::stream().event(&piece(json!({"role": "assistant", "content": ""})).to_string());
    let server = Server::scripted([empty, ok_stream()]).await;
    assert_eq!(streamed(&model(&server).build().unwrap()).await.unwrap().text(), "fine");
}

#[tokio::test]
async fn a_stalled_stream_times_out() {
    let begun = Reply::stream().event(&piece(json!({"content": "half"})).to_string()).stall();
    for reply in [begun, Reply::stream().stall(), Reply::default().stall()] {
        let server = Server::scripted([reply]).await;
        let model = model(&server).idle_timeout(Duration::from_millis(100)).build().unwrap();
        let error = streamed(&model).await.unwrap_err();
        check(&error, ErrorKind::Timeout, error.status(), "raise the idle timeout of 100ms");
        assert!(error.is_timeout());
    }
}

#[tokio::test]
async fn a_stalled_stream_that_another_task_reads_on_times_out() {
    let begun = Reply::stream().event(&piece(json!({"content": "half"})).to_string()).stall();
    let server = Server::scripted([begun]).await;
    let model = model(&server).idle_timeout(Duration::from_millis(100)).build().unwrap();
    let (messages, settings) = ([Message::user("hi")], Settings::default());
    let mut stream = model.stream(Request::new(&messages, &settings)).await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), StreamEvent::Text("half".to_owned()));
    assert!(stream.next().now_or_never().is_none(), "it waits, and would wake this task");
    let next = tokio::spawn(async move { stream.next().await }).await.unwrap();
    assert!(next.unwrap().unwrap_err().is_timeout());
}

/// Writes chunks of an answer for as long as they are read.
async fn trickle(listener: TcpListener) {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    while !request.ends_with(b"}") {
        assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
    }
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    stream.write_all(head).await.unwrap();
    let event = format!("data: {}\n\n", piece(json!({"content": "a"})));
    while stream.write_all(event.as_bytes()).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_endless_stream_times_out() {
    let limit = Duration::from_millis(200);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let trickling = tokio::spawn(trickle(listener));
    let model = OpenAiModel::builder("m").base_url(base_url).stream_timeout(limit).idle_timeout(limit);
    let error = streamed(&model.build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Timeout, Some(200), "raise the stream timeout of 200ms");
    assert!(error.partial_response().unwrap().text().starts_with("aa"));
    trickling.abort();
}

#[tokio::test]
async fn a_stream_has_at_least_the_timeout_of_one_chunk() {
    let begun = Reply::stream().event(&piece(json!({"content": "half"})).to_string()).stall();
    let server = Server::scripted([begun]).await;
    let model = model(&server).idle_timeout(Duration::from_millis(100)).stream_timeout(Duration::ZERO);
    let error = streamed(&model.build().unwrap()).await.unwrap_err();
    assert!(error.is_timeout() && error.to_string().contains("timeout of 100ms"), "{error}");
}

#[tokio::test]
async fn a_stalled_complete_answer_times_out() {
    let begun = Reply::default().raw("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{").stall();
    for (reply, status) in [(begun, Some(200)), (Reply::default().stall(), None)] {
        let server = Server::scripted([reply]).await;
        let model = model(&server).timeout(Duration::from_millis(100)).build().unwrap();
        check(&whole(&model).await.unwrap_err(), ErrorKind::Timeout, status, "raise the timeout of 100ms");
    }
}

#[tokio::test]
async fn an_error_object_in_an_answer_is_an_error() {
    let error = json!({"error": {"message": "my secret", "type": "overloaded_error", "code": null}}).to_string();
    let stream = Reply::stream().event(&piece(json!({"content": "half"})).to_string()).event(&error).end();
    let server = Server::scripted([Reply::whole(200, "", &error), stream]).await;
    let model = model(&server).retries(0).build().unwrap();
    for error in [whole(&model).await.unwrap_err(), streamed(&model).await.unwrap_err()] {
        check(
            &error,
            ErrorKind::Overloaded,
            Some(200),
            "reported an error in its answer (overloaded_error); try again",
        );
    }
}

#[tokio::test]
async fn an_error_object_with_a_transient_status_is_retried() {
    let errors =
        [json!({"error": {"message": "x", "code": 502}}), json!({"object": "error", "message": "x", "code": 503})];
    for error in errors {
        let reply = Reply::stream().event(&error.to_string()).event("[DONE]").end();
        let server = Server::scripted([reply, ok_stream()]).await;
        assert_eq!(streamed(&model(&server).build().unwrap()).await.unwrap().text(), "fine");
    }
}

#[tokio::test]
async fn an_error_object_of_a_transient_kind_is_retried() {
    let errors = [
        json!({"message": "my secret", "type": "server_error", "code": null}),
        json!({"message": "my secret", "type": "rate_limit_error", "code": "rate_limit_exceeded"}),
        json!("over capacity"),
    ];
    for error in errors {
        let error = json!({ "error": error });
        let stream = Reply::stream().event(&piece(json!({"role": "assistant"})).to_string()).event(&error.to_string());
        let server = Server::scripted([stream.end(), ok_stream(), Reply::json(200, &error), ok()]).await;
        let model = model(&server).build().unwrap();
        let events: Vec<_> = events(&model).await.into_iter().map(Result::unwrap).collect();
        let on = "retry 1 of 2 in 1 s after an error in the response".to_owned();
        assert_eq!(events[..2], [StreamEvent::Waiting { on }, StreamEvent::Text("fine".into())]);
        assert_eq!(whole(&model).await.unwrap().text(), "fine");
    }
}

#[tokio::test]
async fn an_exhausted_quota_in_an_answer_is_not_retried() {
    let error = json!({"error": {"message": "my secret", "type": "insufficient_quota", "code": "insufficient_quota"}});
    let server = Server::scripted([Reply::stream().event(&error.to_string()).end(), ok_stream()]).await;
    let error = streamed(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::RateLimited, Some(200), "the quota is used up (insufficient_quota); check the plan");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_oversized_answer_is_an_error() {
    let mut reply = Reply::default().raw("HTTP/1.1 200 OK\r\n\r\n");
    let mebibyte = " ".repeat(1 << 20);
    for _ in 0..17 {
        reply = reply.raw(&mebibyte);
    }
    let server = Server::scripted([reply]).await;
    let error = whole(&model(&server).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Protocol, Some(200), "longer than 16 MiB");
}

#[tokio::test]
async fn a_stream_that_breaks_later_keeps_the_partial_response() {
    let reply =
        Reply::stream().event(&piece(json!({"content": "half of", "reasoning_content": "hm"})).to_string()).event(
            &piece(json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "add", "arguments": "{"}}]}))
                .to_string(),
        );
    let server = Server::scripted([reply]).await;
    let error = streamed(&model(&server).build().unwrap()).await.unwrap_err();
    let arrived = error.partial_response().unwrap();
    assert_eq!((arrived.text().as_str(), arrived.tool_calls().count()), ("half of", 0), "{arrived:?}");
    assert_eq!(server.requests().len(), 1, "a shown part is not requested again");
}

#[tokio::test]
async fn an_error_has_the_request_id() {
    let reply = failing(500, "x-request-id: req_1\r\nx-should-retry: false\r\n", &json!({"message": "my secret"}));
    let server = Server::scripted([reply]).await;
    let error = whole(&model(&server).build().unwrap()).await.unwrap_err();
    assert_eq!((error.request_id(), error.should_retry()), (Some("req_1"), Some(false)));
    assert!(error.to_string().ends_with("(request req_1)"), "{error}");
}

#[tokio::test]
async fn an_error_after_the_headers_has_the_request_id_too() {
    let id = "x-request-id: req_1\r\n";
    let named = || Reply::default().raw(&format!("HTTP/1.1 200 OK\r\n{id}transfer-encoding: chunked\r\n\r\n"));
    let half = || named().event(&piece(json!({"content": "half"})).to_string());
    let overloaded = json!({"error": {"message": "my secret", "type": "overloaded_error"}}).to_string();
    let streams = [
        (half(), ErrorKind::Transport),
        (half().end(), ErrorKind::Transport),
        (half().stall(), ErrorKind::Timeout),
        (half().event("my secret").end(), ErrorKind::Protocol),
        (half().event(&overloaded).end(), ErrorKind::Overloaded),
        (named().event("{}").event("[DONE]").end(), ErrorKind::Protocol),
    ];
    let wholes = [
        (named().chunk("{"), ErrorKind::Transport),
        (named().chunk("{").stall(), ErrorKind::Timeout),
        (Reply::whole(200, id, "my secret"), ErrorKind::Protocol),
        (Reply::whole(200, id, &overloaded), ErrorKind::Overloaded),
        (Reply::whole(200, id, "{}"), ErrorKind::Protocol),
    ];
    for (is_streamed, (reply, kind)) in
        streams.map(|case| (true, case)).into_iter().chain(wholes.map(|case| (false, case)))
    {
        // Long enough for the headers to arrive on a busy machine.
        let limit = if kind == ErrorKind::Timeout { Duration::from_millis(500) } else { Duration::from_secs(30) };
        let server = Server::scripted([reply]).await;
        let model = model(&server).retries(0).idle_timeout(limit).timeout(limit).build().unwrap();
        let error = if is_streamed { streamed(&model).await } else { whole(&model).await }.unwrap_err();
        check(&error, kind, Some(200), "");
        assert_eq!(error.request_id(), Some("req_1"), "{error}");
    }
}

#[tokio::test]
async fn an_error_has_a_partial_response_even_without_streamed_content() {
    let unnamed = || {
        json!({"choices": [{"message": {"tool_calls": [{"id": "c", "function": {"arguments": "{}"}}]}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    };
    let server = Server::scripted([Reply::json(200, &unnamed())]).await;
    let error = whole(&model(&server).retries(0).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Protocol, Some(200), "calls a tool without a name");
    assert_eq!(error.partial_response().unwrap().usage, Usage::of_request(3, 4));

    let usage = json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}}).to_string();
    let server = Server::scripted([Reply::stream().event(&usage)]).await;
    let error = streamed(&model(&server).retries(0).build().unwrap()).await.unwrap_err();
    check(&error, ErrorKind::Transport, Some(200), "broke in the middle");
    assert_eq!(error.partial_response().unwrap().usage, Usage::of_request(3, 4));
}
