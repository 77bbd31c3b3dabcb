//! What holds for any text.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Mend, Unmended, arguments, mend};

fn read(text: &str) -> Result<Value, String> {
    mend(text, |value| value["n"].is_number()).map(|mended| mended.value).map_err(|reason| reason.to_string())
}

fn mends(text: &str) -> Vec<Mend> {
    mend(text, |_| true).unwrap().mends.to_vec()
}

#[test]
fn an_object_is_found_in_a_code_block_and_between_words() {
    for text in [
        " {\"n\": 1}\n",
        "```json\n{\"n\": 1}\n```",
        "```\n{\"n\":1}```",
        "Here it is:\n\n```json\n{\n  \"n\": 1\n}\n```\nI hope that {this} helps.",
        "The set {1, 2} has one: {\"n\":1}.",
        "\u{feff}{\"n\":1}",
        "<think>{\"m\": 0} or {\"n\": \"one\"}?</think>{\"n\":1}",
        "{\"n\":1} in other words {\"n\": 1}",
    ] {
        assert_eq!(read(text), Ok(json!({ "n": 1 })), "{text}");
    }
}

#[test]
fn each_kind_of_fault_is_named() {
    use Mend::{Comment, Fence, MissingBracket, SingleQuotes, Thought, TrailingComma, UnquotedKey, Words};
    assert_eq!(mends(" {\"n\": 1} "), []);
    assert_eq!(mends("\u{feff}{\"n\": 1}"), []);
    assert_eq!(mends("```json\n{n: [1,],} // one\n```"), [Fence, Words, TrailingComma, UnquotedKey]);
    assert_eq!(
        mends("<think>{</think>It is {'n': /* one */ true"),
        [Words, Thought, SingleQuotes, Comment, MissingBracket]
    );
    assert_eq!(mends("```{\"a\": [{\"n\": 1```"), [Fence, MissingBracket]);
}

#[test]
fn braces_inside_strings_are_ignored() {
    assert_eq!(read("So: {\"n\": 1, \"t\": \"{\\\"n\\\": 2}\"}").unwrap()["n"], 1);
}

#[test]
fn no_object_inside_an_invalid_one_is_the_answer() {
    for text in [
        "{\"n\": 2, \"children\": [{\"n\": 1}],,}",
        "```json\n{\"n\": 2, \"child\": {\"n\": 1}]\n```",
        "It is {'n': '2'', 'child': {\"n\": 1}}",
        "{n: m, o: {\"n\": 1}}",
        "{ # a comment\n \"child\": {\"n\": 1}}",
        "[{\"n\": 1},,]",
        "{\"n\": 1} and {\"n\": ",
        "\"child\": {\"n\": 1}}",
    ] {
        let fault = read(text).unwrap_err();
        assert!(fault.starts_with("the result is invalid JSON: "), "{text}: {fault}");
    }
    assert_eq!(read("Here: [{\"n\": 1}]"), Ok(json!([{ "n": 1 }])), "the list is what follows no schema");
}

#[test]
fn no_draft_is_the_answer() {
    for text in [
        "<think>{\"n\": 3}?</think>{\"n\": \"high\"}",
        "<thinking>\n{\"n\": 3} or\n</thinking>\n{\"n\": \"high\"}",
        "{\"n\": 3}?</think>{\"n\": \"high\"}",
    ] {
        assert_eq!(read(text), Ok(json!({ "n": "high" })), "{text}");
    }
    for text in ["<think>maybe {\"n\": 3}</think>I do not know", "<think>maybe {\"n\": 3}"] {
        let fault = read(text).unwrap_err();
        assert!(fault.starts_with("the result is invalid JSON: "), "{text}: {fault}");
    }
    let fault = "the answer contains 2 JSON objects; return one, without any other text";
    assert_eq!(read("{\"n\": 3}? No: {\"n\": \"high\"}"), Err(fault.to_owned()));
    assert_eq!(read("{\"t\": \"<think>\", \"n\": 1} it is.").unwrap()["n"], 1);
}

#[test]
fn a_single_object_is_returned_even_if_it_does_not_fit() {
    assert_eq!(read("It is {\"n\": \"one\"}."), Ok(json!({ "n": "one" })));
}

#[test]
fn several_objects_are_an_error() {
    for text in ["{\"n\": 1} or {\"n\": 2}", "{\"m\": 1} or {\"m\": 2}"] {
        assert_eq!(mend(text, |value| value["n"].is_number()).unwrap_err(), Unmended::Several(2));
    }
}

#[test]
fn an_answer_without_an_object_is_an_error() {
    for text in ["", "one", "{\"n\": 1", "[1, 2", "{n: one}"] {
        let fault = read(text).unwrap_err();
        assert!(fault.starts_with("the result is invalid JSON: "), "{text}: {fault}");
    }
}

#[test]
fn values_are_copied_as_they_were_written() {
    let mended = arguments("{n: [1.0, 1e2, 12345678901234567890123, 'a\"\\'\\u00e4', \"\\u00e4\"],}", false).unwrap();
    assert_eq!(mended.json, "{\"n\":[1.0,1e2,12345678901234567890123,\"a\\\"'\\u00e4\",\"\\u00e4\"]}");
}

#[test]
fn a_call_that_may_change_something_misses_nothing() {
    for text in ["{\"path\": \"a\"", "{\"path\": \"a\"}, that is", "Not {\"path\": \"a\"}", "{}{\"path\": \"a\"}"] {
        assert!(arguments(text, false).is_none(), "{text}");
    }
    for text in ["{path: \"a\"}", "```\n{'path': 'a'}\n```", "{\"path\": \"a\", // the root\n}"] {
        assert_eq!(arguments(text, false).unwrap().value, json!({ "path": "a" }), "{text}");
    }
    for text in ["{\"path\": \"a", "[{path: 1}]", "", "{\"path\": \"a\"}"] {
        assert!(arguments(text, true).is_none(), "{text}");
    }
    assert_eq!(arguments("It is {\"path\": \"a\"", true).unwrap().value, json!({ "path": "a" }));
}

#[test]
fn many_unclosed_brackets_do_not_take_quadratic_time() {
    for text in [
        "{\"",
        "{\"a\":",
        "{",
        "[{",
        "{1",
        "<think>",
        "</think>{",
        "{a:",
        "[{a:[",
        "{/*",
        "{//",
        "{'",
        "`{",
        "{ ",
        "{}",
    ] {
        _ = read(&text.repeat(200_000));
    }
    _ = read(&format!("{}{}", "[".repeat(200_000), "{\"a\": 1,".repeat(200_000)));
}

/// A value of JSON, written with faults that are mended.
fn almost(value: &Value, faults: &mut impl Iterator<Item = u8>) -> String {
    let mut fault = |of: u8| faults.next().unwrap_or_default() % of;
    let quoted = |text: &str, kind: u8| match kind {
        0 => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'").replace('\n', "\\n")),
        _ => Value::from(text).to_string(),
    };
    match value {
        Value::String(text) => quoted(text, fault(3)),
        Value::Array(items) => {
            let end = ["]", ",]", "/* the end ] */]"][usize::from(fault(if items.is_empty() { 1 } else { 3 }))];
            let items: Vec<_> = items.iter().map(|item| almost(item, faults)).collect();
            format!("[{}{end}", items.join(", "))
        }
        Value::Object(fields) => {
            let end = ["}", ",\n}", " // the end }\n}"][usize::from(fault(if fields.is_empty() { 1 } else { 3 }))];
            let fields: Vec<_> = fields
                .iter()
                .map(|(key, value)| {
                    let key = match faults.next().unwrap_or_default() % 3 {
                        0 => key.clone(),
                        kind => quoted(key, kind - 1),
                    };
                    format!("{key}: {}", almost(value, faults))
                })
                .collect();
            format!("{{{}{end}", fields.join(","))
        }
        other => other.to_string(),
    }
}

fn any_object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[ -~\n]{0,12}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("k[a-z_]{0,4}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("k[a-z_]{0,4}", value, 1..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

proptest! {
    #[test]
    fn what_was_written_is_what_is_read(value in any_object(), faults in prop::collection::vec(any::<u8>(), 0..64)) {
        let text = almost(&value, &mut faults.into_iter());
        let mended = mend(&text, Value::is_object).unwrap_or_else(|reason| panic!("{reason}: {text}"));
        prop_assert_eq!(&mended.value, &value, "{}", text);
        prop_assert_eq!(&serde_json::from_str::<Value>(&mended.json).unwrap(), &value);
        // What is JSON stays as it is.
        prop_assert!(arguments(&mended.json, true).is_none());
    }

    #[test]
    fn a_text_that_is_cut_off_has_no_other_values(value in any_object(), faults in prop::collection::vec(any::<u8>(), 0..64), cut in any::<prop::sample::Index>()) {
        let text = almost(&value, &mut faults.into_iter());
        let cut = cut.index(text.len());
        prop_assume!(text.is_char_boundary(cut));
        if let Some(mended) = arguments(&text[..cut], true) {
            prop_assert!(is_start_of(&mended.value, &value), "{} of {}", mended.json, text);
            prop_assert!(arguments(&text[..cut], false).is_none() || mended.value == value, "{} of {}", mended.json, text);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}<>`'\",:/*a-c0-1 \n\\\\]{0,60}") {
        _ = mend(&text, |_| true);
        if let Some(mended) = arguments(&text, false) {
            prop_assert_eq!(&serde_json::from_str::<Value>(&mended.json).unwrap(), &mended.value);
        }
    }
}

/// Whether `start` is `whole` with the last items of it missing.
fn is_start_of(start: &Value, whole: &Value) -> bool {
    match (start, whole) {
        (Value::Array(start), Value::Array(whole)) => {
            start.len() <= whole.len() && start.iter().zip(whole).all(|(start, whole)| is_start_of(start, whole))
        }
        (Value::Object(start), Value::Object(whole)) => {
            start.iter().all(|(key, start)| whole.get(key).is_some_and(|whole| is_start_of(start, whole)))
        }
        _ => start == whole,
    }
}
