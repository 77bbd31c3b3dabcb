//! Files of learned decisions, also those that someone else wrote.
#![expect(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "learn/data.rs"]
mod data;

use data::{parcels, questions};
use llm_do_learn::{Learned, Learner, MAX_FILE};
use serde_json::{Value, json};

fn learned() -> Learned {
    let learned = Learner::new().bound(0.05).learn("parcel", &parcels(2, 800)).unwrap();
    learned.with_signature(json!({ "description": "Sorts parcels." }))
}

/// Changes a value of a file, and returns why it is refused.
fn forged(text: &str, place: &str, value: Value) -> String {
    let mut file: Value = serde_json::from_str(text).unwrap();
    *file.pointer_mut(place).unwrap() = value;
    let error = Learned::parse(&file.to_string()).unwrap_err();
    error.to_string()
}

#[test]
fn a_file_is_read_as_what_was_written() {
    let learned = learned();
    let text = learned.to_text();
    let read = Learned::parse(&text).unwrap();
    assert_eq!(read, learned);
    for case in parcels(11, 500) {
        assert_eq!(read.decide(&case.input), learned.decide(&case.input));
    }
    assert_eq!(Learned::parse(&text.replace('\n', "\r\n")).unwrap(), learned, "line ends do not matter");
}

#[test]
fn a_file_is_readable() {
    let text = Learner::new().bound(0.03).learn("topic", &questions(1, 2_000)).unwrap().to_text();
    let line = text.lines().find(|line| line.contains("\"refund\": ")).unwrap();
    assert!(line.trim().starts_with("\"refund\": ["), "{line}");
    assert!(text.contains("\"about\": \"Answers "), "{}", &text[..500]);
    let longest = text.lines().map(str::len).max().unwrap();
    assert!(longest < 2_000, "{longest}");
}

#[test]
fn a_file_that_was_changed_is_refused() {
    let text = learned().to_text();
    let weaker = text.replacen("\"threshold\": 0.", "\"threshold\": 0.0", 1);
    assert_ne!(weaker, text);
    let error = Learned::parse(&weaker).unwrap_err().to_string();
    assert!(error.contains("it was changed after it was learned"), "{error}");
}

#[test]
fn a_hostile_file_is_refused() {
    let text = learned().to_text();
    for (place, value, reason) in [
        ("/format", json!("llm-do learned 9"), "its format is"),
        ("/evidence", json!({ "more": 1 }), "unknown field `more`"),
        ("/parts/0/bias", json!("x"), "invalid type"),
        ("/evidence/wrong", json!(-1), "invalid value"),
    ] {
        let error = forged(&text, place, value);
        assert!(error.contains(reason), "{reason}: {error}");
    }
    let error = Learned::parse(&" ".repeat(MAX_FILE + 1)).unwrap_err().to_string();
    assert!(error.contains("at most 5000000 are read"), "{error}");
    assert!(Learned::parse("{").is_err() && Learned::parse(&"[".repeat(100_000)).is_err());
}
