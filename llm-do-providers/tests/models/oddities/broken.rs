//! Streams that end before the answer.

use futures_util::StreamExt;
use llm_do_providers::{ErrorKind, Message, Request, Settings, StreamEvent};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{WIRES, Wire, ask, stream};
use crate::server::{Reply, Server};

#[tokio::test]
async fn an_early_end_is_a_lost_connection() {
    for wire in WIRES {
        let first = if wire == Wire::Anthropic { 3 } else { 2 };
        for end in first..=wire.before_end() {
            let error = ask(wire, stream(&wire.lines()[..end]), true).await.unwrap_err();
            assert_eq!((error.kind(), error.status()), (ErrorKind::Transport, Some(200)), "{wire:?} {end}: {error}");
            assert!(error.to_string().contains("broke off before the end of the answer"), "{error}");
            assert!(error.partial_response().unwrap().text().starts_with("Hel"), "{wire:?} {end}");
        }
    }
}

/// The mark is of chat completions; servers in between add it to the streams of other protocols.
#[tokio::test]
async fn an_end_mark_of_another_protocol_completes_no_answer() {
    for wire in WIRES.into_iter().filter(|wire| *wire != Wire::Chat) {
        let mut lines = wire.lines();
        lines.truncate(wire.before_end());
        lines.push("data: [DONE]\n\n".to_owned());
        for is_streamed in [true, false] {
            let error = ask(wire, stream(&lines), is_streamed).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Transport, "{wire:?} {is_streamed}: {error}");
            assert!(error.partial_response().unwrap().text().starts_with("Hel"), "{wire:?} {is_streamed}");
        }
    }
}

#[tokio::test]
async fn an_event_that_is_cut_off_is_a_lost_connection() {
    for wire in WIRES {
        let mut text = wire.lines()[..wire.before_end()].concat();
        let next = &wire.lines()[wire.before_end()];
        for cut in [next.len() / 2, next.len() - 5] {
            text.push_str(&next[..cut]);
            let error = ask(wire, stream([&text]), true).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Transport, "{wire:?}: {error}");
            text.truncate(text.len() - cut);
        }
    }
}

#[tokio::test]
async fn a_character_that_is_cut_off_is_a_lost_connection() {
    for wire in WIRES {
        let before = wire.lines()[..wire.before_end()].concat();
        for field in ["data: {\"x\": \"\u{e9}", "event: \u{e9}", "data: \u{1f980}"] {
            let text = format!("{before}{field}");
            let body = &text.as_bytes()[..text.len() - 1];
            for is_streamed in [true, false] {
                let head = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n";
                let reply = Reply::default().raw(head).raw_bytes(body);
                let error = ask(wire, reply, is_streamed).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Transport, "{wire:?} {field:?} {is_streamed}: {error}");
                assert!(error.partial_response().unwrap().text().starts_with("Hel"), "{wire:?} {field:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_character_that_is_cut_off_after_the_answer_costs_nothing() {
    for wire in WIRES {
        let text = format!("{}data: \u{e9}", wire.lines().concat());
        let body = &text.as_bytes()[..text.len() - 1];
        for is_streamed in [true, false] {
            let reply = Reply::default().raw("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").raw_bytes(body);
            super::check(wire, &ask(wire, reply, is_streamed).await.unwrap(), "cut off after the answer");
        }
    }
}

#[tokio::test]
async fn an_answer_without_a_word_is_the_same_with_every_protocol() {
    for wire in WIRES {
        let whole = match wire {
            Wire::Chat => {
                json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": null}, "finish_reason": "stop"}]})
            }
            Wire::Responses => json!({"object": "response", "status": "completed", "output": null}),
            Wire::Anthropic => json!({"type": "message", "content": [], "stop_reason": "end_turn"}),
            Wire::Gemini => json!({"candidates": [{"finishReason": "STOP", "content": null}]}),
        };
        let event = match wire {
            Wire::Chat => json!({"choices": [{"index": 0, "delta": {"content": null}, "finish_reason": "stop"}]}),
            Wire::Responses => json!({"type": "response.completed", "response": whole}),
            Wire::Anthropic => json!({"type": "message_start", "message": whole}),
            Wire::Gemini => whole.clone(),
        };
        for (reply, is_streamed) in [(Reply::json(200, &whole), false), (stream([format!("data: {event}\n\n")]), true)]
        {
            let response = ask(wire, reply, is_streamed).await.unwrap();
            assert!(response.parts.is_empty(), "{wire:?}: {response:?}");
            assert_eq!(response.finish, llm_do_providers::FinishReason::Stop);
        }
    }
}

/// Changes one field of one event: drops it, or puts a value of another type there.
fn changed(event: &Value, place: usize, kind: usize) -> Value {
    fn paths(value: &Value, at: &str, out: &mut Vec<String>) {
        let children: Vec<(String, &Value)> = match value {
            Value::Object(fields) => fields.iter().map(|(key, value)| (format!("{at}/{key}"), value)).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(n, value)| (format!("{at}/{n}"), value)).collect(),
            _ => Vec::new(),
        };
        for (path, child) in children {
            paths(child, &path, out);
            // Any text there is a reason to stop.
            if !path.ends_with("finish_reason") {
                out.push(path);
            }
        }
    }
    let mut all = Vec::new();
    paths(event, "", &mut all);
    let mut event = event.clone();
    let values = [
        json!(null),
        json!(7),
        json!("7"),
        json!({"a": 1}),
        json!([1]),
        json!(true),
        json!(""),
        json!({}),
        json!([]),
        json!(0.5),
    ];
    if let Some(path) = all.get(place % all.len().max(1)) {
        let (parent, key) = path.rsplit_once('/').unwrap();
        match event.pointer_mut(parent) {
            Some(Value::Object(fields)) if kind == 0 => _ = fields.remove(key),
            Some(parent) => match parent {
                Value::Object(fields) => _ = fields.insert(key.to_owned(), values[kind % values.len()].clone()),
                Value::Array(items) => items[key.parse::<usize>().unwrap()] = values[kind % values.len()].clone(),
                _ => {}
            },
            None => {}
        }
    }
    event
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A changed field may cost its event, but what came before it stays, and an answer that is cut off is never whole.
    #[test]
    fn a_changed_field_loses_nothing_before_it_and_completes_nothing(
        wire in 0_usize..4, event in any::<prop::sample::Index>(), place in 0_usize..40, kind in 0_usize..11, cuts in any::<bool>(),
    ) {
        let wire = WIRES[wire];
        let mut events = wire.events();
        let at = event.index(if cuts { wire.before_end() } else { events.len() });
        events[at] = changed(&events[at], place, kind);
        if cuts {
            events.truncate(wire.before_end());
        }
        let lines: Vec<_> = events.iter().map(super::line).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let seen: Vec<_> = runtime.block_on(async {
            let server = Server::scripted([stream(&lines)]).await;
            let model = wire.model(&server);
            let (messages, settings) = ([Message::user("hi")], Settings::default());
            model.stream(Request::new(&messages, &settings)).await.unwrap().collect().await
        });
        let texts = seen.iter().filter_map(|event| match event { Ok(StreamEvent::Text(text)) => Some(text.as_str()), _ => None });
        let text: String = texts.collect();
        let before = wire.events()[..at].iter().filter(|event| event.to_string().contains("\"Hel\"")).count();
        prop_assert!(before == 0 || text.starts_with("Hel"), "{:?}: {} {:?}", wire, lines[at], seen);
        let is_whole = matches!(seen.last(), Some(Ok(StreamEvent::Done(_))));
        prop_assert!(!(cuts && is_whole), "{:?}: {} {:?}", wire, lines[at], seen);
    }
}

/// Returns the lines of an answer with more calls than any model writes.
fn flood(wire: Wire) -> Vec<String> {
    let call = |index: usize| json!({"index": index, "id": format!("c{index}"), "function": {"name": "add", "arguments": "{}"}});
    let all = 0..20_000;
    let events: Vec<Value> = match wire {
        Wire::Chat => {
            let calls: Vec<_> = all.map(call).collect();
            vec![json!({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})]
        }
        Wire::Responses => {
            let item = |index| json!({"type": "function_call", "id": format!("i{index}"), "name": "add"});
            let added =
                |index| json!({"type": "response.output_item.added", "output_index": index, "item": item(index)});
            all.map(added).collect()
        }
        Wire::Anthropic => {
            let block = |index| json!({"type": "tool_use", "id": format!("c{index}"), "name": "add"});
            let begun = |index| json!({"type": "content_block_start", "index": index, "content_block": block(index)});
            all.map(begun).collect()
        }
        Wire::Gemini => {
            let parts: Vec<_> = all.map(|_| json!({"functionCall": {"name": "add", "args": {}}})).collect();
            vec![json!({"candidates": [{"index": 0, "content": {"role": "model", "parts": parts}}]})]
        }
    };
    events.iter().map(super::line).collect()
}

#[tokio::test]
async fn an_answer_with_more_parts_than_any_model_writes_is_refused() {
    for wire in WIRES {
        let error = ask(wire, stream(flood(wire)), true).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{wire:?}: {error}");
        assert!(error.to_string().contains("more than 4096 parts"), "{wire:?}: {error}");
    }
}

#[tokio::test]
async fn events_that_are_repaired_have_no_more_parts_either() {
    for wire in WIRES {
        let lines = flood(wire).into_iter().map(|line| line.replacen("data: {", "data: {\"logprob\": NaN, ", 1));
        let error = ask(wire, stream(lines), true).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{wire:?}: {error}");
        assert!(error.to_string().contains("more than 4096 parts"), "{wire:?}: {error}");
    }
}
