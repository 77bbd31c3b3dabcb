//! The reader is compared with a slow one on every prefix.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{PartialJson, Step, inside};

/// Returns the values of a prefix: those of its longest part that becomes JSON once everything open is closed.
fn slow(prefix: &str) -> Option<Value> {
    let ends = prefix.char_indices().map(|(at, _)| at).chain([prefix.len()]);
    ends.collect::<Vec<_>>()
        .into_iter()
        .rev()
        .filter(|end| !cuts_word(prefix, *end))
        .find_map(|end| closed(&prefix[..end]))
}

fn closed(text: &str) -> Option<Value> {
    let (marks, in_string) = marks(text);
    let end: String = marks.chars().rev().map(|mark| if mark == '{' { '}' } else { ']' }).collect();
    serde_json::from_str(&format!("{text}{}{end}", if in_string { "\"" } else { "" })).ok()
}

/// Returns the brackets that are open at the end of a text, and whether it ends inside a string.
fn marks(text: &str) -> (String, bool) {
    let (mut open, mut in_string, mut is_escaped) = (String::new(), false, false);
    for letter in text.chars() {
        match letter {
            _ if is_escaped => is_escaped = false,
            '\\' if in_string => is_escaped = true,
            '"' => in_string = !in_string,
            _ if in_string => {}
            '{' | '[' => open.push(letter),
            '}' | ']' => drop(open.pop()),
            _ => {}
        }
    }
    (open, in_string)
}

/// Whether a text is cut inside a number or a literal, or where it may go on.
fn cuts_word(text: &str, end: usize) -> bool {
    let (before, after) = text.split_at(end);
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || "+-.".contains(letter);
    before.ends_with(is_of_word) && !marks(before).1 && (after.is_empty() || after.starts_with(is_of_word))
}

fn read(pieces: &[&str]) -> Option<Value> {
    let mut reader = PartialJson::default();
    for piece in pieces {
        reader.push(piece);
    }
    reader.value().map(|value| Value::clone(value))
}

/// Checks each prefix of a text, as one piece and in single characters.
fn check(text: &str) {
    let mut reader = PartialJson::default();
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        reader.push(&text[at..end]);
        let expected = slow(&text[..end]);
        assert_eq!(reader.value().map(|value| Value::clone(value)), expected, "{}", &text[..end]);
        assert_eq!(read(&[&text[..end]]), expected, "{}", &text[..end]);
    }
    assert_eq!(reader.open_path(), None, "{text}");
}

#[test]
fn a_string_grows_and_other_scalars_come_whole() {
    for (text, value) in [
        ("", None),
        ("{", Some(json!({}))),
        ("{\"na", Some(json!({}))),
        ("{\"name\": ", Some(json!({}))),
        ("{\"name\": \"An", Some(json!({ "name": "An" }))),
        ("{\"name\": \"An\\", Some(json!({ "name": "An" }))),
        ("{\"name\": \"An\\ud83d\\ude", Some(json!({ "name": "An" }))),
        ("{\"name\": \"An\\ud83d\\ude00", Some(json!({ "name": "An😀" }))),
        ("{\"n\": 12", Some(json!({}))),
        ("{\"n\": 12,", Some(json!({ "n": 12 }))),
        ("{\"n\": tru", Some(json!({}))),
        ("{\"n\": true ", Some(json!({ "n": true }))),
        ("{\"n\": [1, [", Some(json!({ "n": [1, []] }))),
        ("{\"n\": [1, {\"a\": \"b", Some(json!({ "n": [1, { "a": "b" }] }))),
    ] {
        assert_eq!(read(&[text]), value, "{text}");
    }
}

#[test]
fn words_and_thoughts_before_the_object_are_passed_over() {
    for text in [
        "```json\n{\"a\": \"b",
        "Here: {\"a\": \"b",
        "<think>{\"a\": 1}</think>{\"a\": \"b",
        "<thinking>Hm {</thinking>\n{\"a\": \"b",
        "a <b> c > <think>{</think>{\"a\": \"b",
        "<think><think>{</think>{\"a\": \"b",
    ] {
        assert_eq!(read(&[text]), Some(json!({ "a": "b" })), "{text}");
        let letters: Vec<_> = text.char_indices().map(|(at, letter)| &text[at..at + letter.len_utf8()]).collect();
        assert_eq!(read(&letters), Some(json!({ "a": "b" })), "{text}");
    }
    assert_eq!(read(&["<think>{\"a\": \"b"]), None);
}

#[test]
fn what_is_not_json_ends_the_reading() {
    for text in [
        "{\"a\": \"b\", c: 1}",
        "{\"a\": \"b\"} {\"a\": \"c\"}",
        "{\"a\": \"b\" \"a\": \"c\"}",
        "{\"a\": \"b\", \"c\": 'd'}",
        "{\"a\": \"b\"]",
    ] {
        assert_eq!(read(&[text]), Some(json!({ "a": "b" })), "{text}");
    }
}

#[test]
fn the_open_path_leads_to_the_value_that_grows() {
    let key = |key: &str| Step::Key(key.into());
    for (text, path) in [
        ("{", vec![]),
        ("{\"a\": \"b", vec![key("a")]),
        ("{\"a\": \"b\"", vec![]),
        ("{\"a\": [", vec![key("a")]),
        ("{\"a\": [1, \"b", vec![key("a"), Step::Item(1)]),
        ("{\"a\": [1, \"b\", 2", vec![key("a")]),
        ("{\"a\": [{\"b\": {\"c\": ", vec![key("a"), Step::Item(0), key("b")]),
    ] {
        let mut reader = PartialJson::default();
        reader.push(text);
        assert_eq!(reader.open_path(), Some(path), "{text}");
    }
}

#[test]
fn a_value_that_is_still_in_use_does_not_change() {
    let mut reader = PartialJson::default();
    reader.push("{\"a\": [\"b");
    let first = reader.value().unwrap().clone();
    reader.push("c\", 1]");
    assert_eq!((&*first, &**reader.value().unwrap()), (&json!({ "a": ["b"] }), &json!({ "a": ["bc", 1] })));
    assert_eq!(inside(&first, &Step::Key("a".into())), Some(&json!(["b"])));
}

#[test]
fn a_long_text_in_small_pieces_does_not_take_quadratic_time() {
    let mut reader = PartialJson::default();
    reader.push("{\"texts\": [");
    for _ in 0..100_000 {
        reader.push("\"a");
        reader.push("b\"");
        reader.push(",");
    }
    reader.push("\"");
    (0..500_000).for_each(|_| reader.push("c"));
    assert_eq!(reader.value().unwrap()["texts"].as_array().unwrap().len(), 100_001);
    let mut deep = PartialJson::default();
    deep.push(&"{\"a\":".repeat(200_000));
    assert!(deep.value().is_some());
}

fn any_object() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e6..1e6_f64).prop_map(Value::from),
        "[a\"\\\\\n\u{1}ä😀{}, ]{0,6}".prop_map(Value::from),
    ];
    let value = leaf.prop_recursive(4, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a\"ä]{0,3}", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    prop::collection::btree_map("[a\"ä]{0,3}", value, 0..4)
        .prop_map(|fields| Value::Object(fields.into_iter().collect()))
}

/// Writes characters beyond ASCII as escapes.
fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        letter if letter.is_ascii() => letter.to_string(),
        letter => {
            let units =
                letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<Vec<_>>();
            units.concat()
        }
    };
    text.chars().map(escape).collect()
}

proptest! {
    #[test]
    fn each_prefix_has_the_values_that_a_slow_reader_finds(value in any_object(), pretty: bool) {
        let text = if pretty { format!("{value:#}") } else { value.to_string() };
        check(&text);
        check(&escaped(&text));
    }

    #[test]
    fn any_text_is_read_alike_however_it_is_split(text in "[\\[\\]{}\"':,\\\\u0-9a-d<>/ ]{0,40}", cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut cuts: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: Vec<_> = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
        prop_assert_eq!(read(&pieces), read(&[&text]));
    }
}
