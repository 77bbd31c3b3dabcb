//! Any text of a model is mended or refused: without a panic, and with no value that was not written.

#![no_main]

use llm_do_core::base::mend::{Mend, arguments, mend, values};
use serde_json::Value;

libfuzzer_sys::fuzz_target!(|text: &str| {
    _ = values(text);
    if let Ok(mended) = mend(text, |_| true) {
        check(text, &mended.json, &mended.value);
    }
    let (reading, changing) = (arguments(text, true), arguments(text, false));
    if let Some(changing) = changing {
        let reading = reading.expect("what may change something is checked more");
        assert_eq!((&reading.json, reading.mends), (&changing.json, changing.mends));
        assert!(!changing.mends.has(Mend::Words) && !changing.mends.has(Mend::MissingBracket));
    }
});

fn check(text: &str, json: &str, value: &Value) {
    assert_eq!(serde_json::from_str::<Value>(json).expect("mended JSON is JSON"), *value);
    // With escapes, a value is written in another way.
    if !text.contains('\\') {
        is_written(text, value);
    }
}

fn is_written(text: &str, value: &Value) {
    match value {
        Value::String(value) => assert!(text.contains(value), "{value} is not in {text}"),
        Value::Array(items) => items.iter().for_each(|item| is_written(text, item)),
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            assert!(text.contains(key), "{key} is not in {text}");
            is_written(text, value);
        }),
        Value::Bool(_) | Value::Null | Value::Number(_) => {}
    }
}
