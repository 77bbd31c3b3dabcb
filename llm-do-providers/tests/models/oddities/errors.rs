//! Errors in every form that servers use.

use llm_do_providers::{ErrorKind, FallbackModel, Message, Model as _, Request, Settings};
use serde_json::json;

use super::{WIRES, Wire, ask, stream};
use crate::server::{Reply, Server};

/// Bodies that are an error, with its kind.
fn bodies() -> Vec<(String, ErrorKind)> {
    let of = |value: serde_json::Value, kind| (value.to_string(), kind);
    vec![
        of(
            json!({"error": {"message": "too fast", "type": "rate_limit_error", "code": "rate_limit_exceeded"}}),
            ErrorKind::RateLimited,
        ),
        of(json!({"error": "Rate limit exceeded, slow down"}), ErrorKind::RateLimited),
        of(json!({"error": "model is overloaded", "error_type": "overloaded"}), ErrorKind::Overloaded),
        of(json!({"message": "The server is overloaded"}), ErrorKind::Overloaded),
        of(json!({"message": "too fast", "type": "rate_limit_error", "code": null}), ErrorKind::RateLimited),
        of(json!({"detail": "Invalid API key"}), ErrorKind::Auth),
        of(json!({"code": 1302, "msg": "Rate limit reached", "success": false}), ErrorKind::RateLimited),
        of(json!({"errors": [{"message": "prompt is too long: 9 tokens > 8 maximum"}]}), ErrorKind::ContextTooLong),
        of(
            json!({"object": "error", "message": "prompt is too long: 9 tokens > 8 maximum", "code": 400}),
            ErrorKind::ContextTooLong,
        ),
        of(json!([{"error": {"code": 503, "message": "busy", "status": "UNAVAILABLE"}}]), ErrorKind::Overloaded),
        of(json!({"error": {"code": "429", "message": "busy"}}), ErrorKind::RateLimited),
        of(json!({"error": {"message": "gone", "type": "server_error"}}), ErrorKind::Unavailable),
    ]
}

#[tokio::test]
async fn an_error_keeps_its_kind_in_every_form() {
    for wire in WIRES {
        for (body, kind) in bodies() {
            let event = format!("data: {body}\n\n");
            let named = format!("event: error\ndata: {body}\n\n");
            let replies = [
                (Reply::whole(200, "", &body), false),
                (Reply::whole(200, "", &body), true),
                (stream([&named]), true),
                (stream([&event]), true),
                (stream([&event]), false),
            ];
            for (place, (reply, is_streamed)) in replies.into_iter().enumerate() {
                let error = ask(wire, reply, is_streamed).await.unwrap_err();
                assert_eq!(error.kind(), kind, "{wire:?}, reply {place}: {body}: {error}");
                assert!(error.provider_text().is_some(), "{wire:?}, reply {place}: {body}");
            }
        }
    }
}

#[tokio::test]
async fn an_error_amid_a_stream_keeps_its_kind_and_what_came_before() {
    for wire in WIRES {
        for (body, kind) in bodies() {
            for odd in [format!("data: {body}\n\n"), format!("event: error\ndata: {body}\n\n")] {
                let mut lines = wire.lines();
                lines.truncate(wire.before_end());
                lines.push(odd);
                let error = ask(wire, stream(lines), true).await.unwrap_err();
                assert_eq!(error.kind(), kind, "{wire:?}: {body}: {error}");
                assert!(error.partial_response().unwrap().text().starts_with("Hel"), "{wire:?}: {body}");
            }
        }
    }
}

#[tokio::test]
async fn an_error_event_of_plain_text_keeps_its_kind() {
    for wire in WIRES {
        for (text, kind) in [("Too many requests", ErrorKind::RateLimited), ("it broke", ErrorKind::Unavailable)] {
            let error = ask(wire, stream([format!("event: error\ndata: {text}\n\n")]), true).await.unwrap_err();
            assert_eq!((error.kind(), error.provider_text()), (kind, Some(text)), "{wire:?}");
        }
    }
}

#[tokio::test]
async fn an_empty_error_is_ignored() {
    for wire in WIRES {
        for empty in [json!(null), json!(""), json!({}), json!(false), json!({"code": 0, "message": ""})] {
            let mut whole = wire.whole();
            whole["error"] = empty.clone();
            super::check(wire, &ask(wire, Reply::json(200, &whole), false).await.unwrap(), &empty.to_string());
            let events = wire.events().into_iter().map(|mut event| {
                event["error"] = empty.clone();
                super::line(&event)
            });
            super::check(wire, &ask(wire, stream(events), true).await.unwrap(), &empty.to_string());
        }
    }
}

#[tokio::test]
async fn pages_and_empty_bodies_have_the_kind_of_their_status() {
    for wire in WIRES {
        for body in ["<html><body>502 Bad Gateway</body></html>", "upstream connect error", "", "null", "[]", "{}"] {
            let kinds = [
                (400, ErrorKind::InvalidRequest),
                (401, ErrorKind::Auth),
                (402, ErrorKind::NoCredit),
                (429, ErrorKind::RateLimited),
                (502, ErrorKind::Unavailable),
                (503, ErrorKind::Overloaded),
                (529, ErrorKind::Overloaded),
            ];
            for (status, kind) in kinds {
                for is_streamed in [false, true] {
                    let error = ask(wire, Reply::whole(status, "", body), is_streamed).await.unwrap_err();
                    assert_eq!((error.kind(), error.status()), (kind, Some(status)), "{wire:?}: {body}");
                    assert!(!error.is_rate_limited() || status == 429);
                }
            }
            for is_streamed in [false, true] {
                let error = ask(wire, Reply::whole(200, "", body), is_streamed).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Protocol, "{wire:?}: {body}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn a_full_context_falls_back_with_every_protocol() {
    let messages = [
        json!({"error": {"message": "Your input exceeds the context window of this model."}}),
        json!({"error": "Input validation error: `inputs` must have less than 1024 tokens. Given: 2001", "error_type": "validation"}),
        json!({"object": "error", "message": "The prompt (total length 9) is too long to fit into the model (context length 8).", "type": "BadRequestError", "code": 400}),
        json!({"message": "Input is too long for requested model."}),
        json!({"code": "Client specified an invalid argument", "error": "This model's maximum prompt length is 8 but the request contains 9 tokens."}),
        json!({"detail": "This model's maximum context length is 8 tokens. However, you requested 9 tokens."}),
    ];
    for wire in WIRES {
        for message in &messages {
            for status in [400, 422, 500] {
                let refusal = Reply::json(status, message);
                let server = Server::scripted([refusal.clone(), refusal]).await;
                let other = Server::scripted([Reply::json(200, &wire.whole())]).await;
                let error = crate::question::whole(&wire.model(&server)).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::ContextTooLong, "{wire:?} {status}: {message}: {error}");
                let model = FallbackModel::new(wire.model(&server)).or(wire.model(&other));
                let (messages, settings) = ([Message::user("hi")], Settings::default());
                assert_eq!(model.request(Request::new(&messages, &settings)).await.unwrap().text(), "Hello");
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_names_the_tool_of_the_request() {
    for wire in WIRES {
        let refusal = match wire {
            Wire::Chat => {
                json!({"error": {"message": "my prose", "type": "invalid_request_error", "param": "tools[0].function.parameters", "code": "invalid_function_parameters"}})
            }
            Wire::Responses => {
                json!({"error": {"message": "Invalid schema for function 'add': In context=('properties', 'a'), no", "type": "invalid_request_error", "param": "tools[0].parameters"}})
            }
            Wire::Anthropic => {
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": "tools.0.custom.input_schema.properties.a: my prose"}})
            }
            Wire::Gemini => {
                json!({"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[a].type: my prose"}})
            }
        };
        let error = ask(wire, Reply::json(400, &refusal), false).await.unwrap_err();
        let expected = if wire == Wire::Chat { "tool `add`: its schema" } else { "tool `add`: property `a`" };
        assert!(error.to_string().contains(expected), "{wire:?}: {error}");
        assert!(!error.to_string().contains("prose") && !format!("{error:?}").contains("prose"), "{error:?}");
    }
}

#[tokio::test]
async fn the_provider_s_text_has_no_key() {
    for wire in WIRES {
        let refusal = json!({"error": {"message": "Incorrect key my-secret-key or sk-abcdefgh1234 \u{1b}[2J"}});
        let error = ask(wire, Reply::json(401, &refusal), false).await.unwrap_err();
        let text = error.provider_text().unwrap();
        assert!(text.contains("Incorrect key [redacted] or [redacted]"), "{text}");
        assert!(!text.contains('\u{1b}') && !error.to_string().contains("Incorrect"), "{text}");
        let saved = serde_json::to_string(&error).unwrap();
        assert!(!saved.contains("Incorrect"), "{saved}");
    }
}

#[tokio::test]
async fn a_delay_may_be_in_milliseconds_or_have_a_fraction() {
    for (headers, milliseconds) in [
        ("retry-after-ms: 61500\r\nretry-after: 5\r\n", 61_500),
        ("retry-after: 61.5\r\n", 61_500),
        ("x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 1m1.5s\r\n", 61_500),
        ("retry-after: 99999999999999999999\r\n", 86_400_000),
    ] {
        for wire in WIRES {
            let server = Server::scripted([Reply::whole(429, headers, "{}")]).await;
            let error = crate::question::whole(&wire.retrying(&server, 1)).await.unwrap_err();
            assert_eq!(error.retry_after().unwrap().as_millis(), milliseconds, "{wire:?}: {headers}");
        }
    }
}
