//! Server-sent events in every form that the standard allows, and some that it does not.

use super::{WIRES, Wire, ask, check, stream};
use crate::server::Reply;

/// Returns the lines of the answer, with `odd` before the line at `place`.
fn with_line(wire: Wire, place: usize, odd: &str) -> Vec<String> {
    let mut lines = wire.lines();
    lines.insert(place, odd.to_owned());
    lines
}

#[tokio::test]
async fn an_event_with_empty_data_ends_no_stream() {
    let empty = [
        "data:\n\n",
        "data: \n\n",
        "data\n\n",
        "data:\ndata:\n\n",
        "data:   \n\n",
        "event: ping\ndata:\n\n",
        "id: 1\n\n",
        "event: x\n\n",
        ": hello\n\n",
        "retry: 5\n\n",
        "\n\n",
    ];
    for wire in WIRES {
        for odd in empty {
            for place in 0..wire.lines().len() {
                let lines = with_line(wire, place, odd);
                check(wire, &ask(wire, stream(lines), true).await.unwrap(), &format!("{odd:?} at {place}"));
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_event_costs_nothing() {
    let unknown = [
        r#"{"type": "brand.new", "delta": [1], "index": {"a": 1}, "message": "x", "usage": "none", "item": 7, "response": [], "content_block": 3}"#,
        r#"{"type": "ping", "message": "alive"}"#,
        r#"{"type": 7}"#,
        "{}",
        r#"{"object": "chat.notice", "message": "hello", "choices": null, "candidates": null}"#,
        r#"{"choices": [], "candidates": [], "usage": null, "error": null}"#,
    ];
    for wire in WIRES {
        for odd in unknown {
            for place in [0, 1, wire.before_end()] {
                let lines = with_line(wire, place, &format!("data: {odd}\n\n"));
                check(wire, &ask(wire, stream(lines), true).await.unwrap(), &format!("{odd} at {place}"));
            }
        }
    }
}

#[tokio::test]
async fn an_unknown_event_with_a_message_costs_nothing() {
    let unknown = [
        "event: notice\ndata: {\"message\": \"queue position 3\"}\n\n",
        "event: heartbeat\ndata: {\"detail\": \"alive\"}\n\n",
        "event: queue\ndata: {\"code\": 3, \"msg\": \"waiting\"}\n\n",
    ];
    for wire in WIRES {
        for odd in unknown {
            for place in [0, 1, wire.before_end()] {
                let lines = with_line(wire, place, odd);
                check(wire, &ask(wire, stream(&lines), true).await.unwrap(), &format!("{odd} at {place}"));
                check(wire, &ask(wire, stream(&lines), false).await.unwrap(), &format!("{odd} at {place}, whole"));
            }
        }
    }
}

#[tokio::test]
async fn every_form_of_lines_is_read() {
    let forms: [fn(&str) -> String; 6] = [
        |text| text.replace('\n', "\r\n"),
        |text| text.replace('\n', "\r"),
        |text| format!("\u{feff}{text}"),
        |text| text.replace("data: ", "data:"),
        |text| text.replace("data: {", "data: {\ndata: "),
        |text| format!(":\r\nretry: 10\nid: 7\r\n\r\n{text}"),
    ];
    for wire in WIRES {
        let text = wire.lines().concat();
        for (place, form) in forms.iter().enumerate() {
            check(wire, &ask(wire, stream([form(&text)]), true).await.unwrap(), &format!("form {place}"));
        }
        check(wire, &ask(wire, stream([text.trim_end()]), true).await.unwrap(), "no empty line at the end");
    }
}

#[tokio::test]
async fn the_end_mark_may_be_missing_or_doubled() {
    for wire in WIRES {
        let mut lines = wire.lines();
        if wire == Wire::Chat {
            lines.pop();
            check(wire, &ask(wire, stream(&lines), true).await.unwrap(), "missing");
        }
        lines.extend(["data: [DONE]\n\n".to_owned(), "data: [DONE]\n\n".to_owned()]);
        check(wire, &ask(wire, stream(&lines), true).await.unwrap(), "doubled");
        let last = wire.lines().into_iter().rfind(|line| !line.contains("[DONE]")).unwrap();
        if wire != Wire::Gemini {
            lines.push(last);
            check(wire, &ask(wire, stream(&lines), true).await.unwrap(), "the last event twice");
        }
    }
}

#[tokio::test]
async fn json_in_place_of_a_stream_is_the_answer() {
    for wire in WIRES {
        let body = wire.whole().to_string();
        for body in [body.clone(), format!("\n {body}\n"), format!("\u{feff}{body}")] {
            let reply = Reply::whole(200, "content-type: application/json\r\n", &body);
            check(wire, &ask(wire, reply, true).await.unwrap(), "JSON for a stream");
        }
        let lines = wire.events().iter().map(|event| format!("{event}\n")).collect::<Vec<_>>().concat();
        check(wire, &ask(wire, Reply::whole(200, "", &lines), true).await.unwrap(), "lines of JSON for a stream");
    }
}

#[tokio::test]
async fn a_stream_in_place_of_json_is_the_answer() {
    for wire in WIRES {
        let text = wire.lines().concat();
        for text in [text.clone(), format!("\n: hi\n\n{text}"), text.trim_end().to_owned()] {
            let reply = Reply::whole(200, "content-type: text/event-stream\r\n", &text);
            check(wire, &ask(wire, reply, false).await.unwrap(), "a stream for JSON");
        }
    }
}

#[tokio::test]
async fn half_a_surrogate_pair_and_nan_cost_themselves() {
    for wire in WIRES {
        for (from, to, text) in [("Hel", "Hel\\ud83d", "Hel\u{fffd}lo"), ("lo", "lo\\ude00", "Hello\u{fffd}")] {
            let lines = wire.lines().into_iter().map(|line| {
                if line.contains("Hello") {
                    line.replacen("Hello", &text.replace('\u{fffd}', "\\ud83d"), 1)
                } else {
                    line.replacen(&format!("\"{from}\""), &format!("\"{to}\""), 1)
                }
            });
            let response = ask(wire, stream(lines), true).await.unwrap();
            assert_eq!(response.text(), text, "{wire:?}");
        }
        let lines = wire
            .lines()
            .into_iter()
            .map(|line| line.replacen("data: {", "data: {\"logprob\": NaN, \"x\": -Infinity, ", 1));
        check(wire, &ask(wire, stream(lines), true).await.unwrap(), "NaN");
    }
}
