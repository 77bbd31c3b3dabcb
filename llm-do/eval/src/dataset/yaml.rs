//! Writes JSON as YAML that has the same value in YAML 1.1 and YAML 1.2.

use serde_json::{Map, Number, Value};

/// Words that a YAML 1.1 parser reads as other values than strings.
const WORDS: [&str; 11] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"];

/// Returns an object as YAML, in blocks.
pub(super) fn write(value: &Value) -> String {
    let mut text = String::new();
    block(value, 0, &mut text);
    text
}

/// Writes a value that begins a line.
fn block(value: &Value, indent: usize, text: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => fields(map, indent, text),
        Value::Array(items) if !items.is_empty() => list(items, indent, text),
        other => {
            scalar(other, text);
            text.push('\n');
        }
    }
}

fn fields(map: &Map<String, Value>, indent: usize, text: &mut String) {
    for (index, (key, value)) in map.iter().enumerate() {
        if index > 0 {
            pad(indent, text);
        }
        string(key, text);
        text.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                text.push('\n');
                pad(indent + 2, text);
                fields(inner, indent + 2, text);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                pad(indent, text);
                list(items, indent, text);
            }
            other => {
                text.push(' ');
                block(other, indent, text);
            }
        }
    }
}

fn list(items: &[Value], indent: usize, text: &mut String) {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            pad(indent, text);
        }
        text.push_str("- ");
        block(item, indent + 2, text);
    }
}

fn pad(indent: usize, text: &mut String) {
    text.extend(std::iter::repeat_n(' ', indent));
}

fn scalar(value: &Value, text: &mut String) {
    match value {
        Value::String(content) => string(content, text),
        Value::Number(number) => text.push_str(&decimal(number)),
        // `null`, `true`, `false`, `[]` and `{}`.
        other => text.push_str(&other.to_string()),
    }
}

/// Returns a number; YAML 1.1 requires a point and a sign in `1.0e+300`.
fn decimal(number: &Number) -> String {
    let text = number.to_string();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return text };
    let point = if mantissa.contains('.') { "" } else { ".0" };
    let sign = if exponent.starts_with(['-', '+']) { "" } else { "+" };
    format!("{mantissa}{point}e{sign}{exponent}")
}

fn string(content: &str, text: &mut String) {
    if is_plain(content) { text.push_str(content) } else { quoted(content, text) }
}

/// Returns whether a text needs no quotes: it begins with a letter, and has letters, digits and a few other characters.
fn is_plain(content: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '_' | '-' | '.' | '/');
    content.starts_with(|c: char| c.is_ascii_alphabetic())
        && !content.ends_with(' ')
        && content.chars().all(is_allowed)
        && !WORDS.contains(&content.to_ascii_lowercase().as_str())
}

fn quoted(content: &str, text: &mut String) {
    text.push('"');
    for letter in content.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            ' '..='~' => text.push(letter),
            _ if is_printable(letter) => text.push(letter),
            _ => text.push_str(&escape(letter)),
        }
    }
    text.push('"');
}

/// Returns whether a parser accepts a non-ASCII character without an escape.
fn is_printable(letter: char) -> bool {
    matches!(letter, '\u{a0}'..='\u{2027}' | '\u{202a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}')
        || letter >= '\u{10000}'
}

fn escape(letter: char) -> String {
    format!("\\u{:04x}", u32::from(letter))
}

#[cfg(test)]
mod tests {
    use llm_do_core::declare::worker_file::json as value_of;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(yaml: &str) -> Value {
        let mut faults = Vec::new();
        let node = llm_do_worker_file::read_yaml(yaml, 1, &mut faults).unwrap_or_else(|| panic!("{faults:?}\n{yaml}"));
        assert_eq!(faults, [], "{yaml}");
        value_of(node)
    }

    #[test]
    fn values_are_written_in_blocks() {
        let value = json!({ "a": [{ "b": 1, "c": { "d": "x y" } }, ["yes", ""]], "e": [], "f": {}, "g": 1e300 });
        let text = "a:\n- b: 1\n  c:\n    d: x y\n- - \"yes\"\n  - \"\"\ne: []\nf: {}\ng: 1.0e+300\n";
        assert_eq!(write(&value), text);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e300..1e300).prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_written_value_is_read_as_the_same_value(value in values()) {
            let value = json!({ "value": value });
            prop_assert_eq!(read(&write(&value)), value);
        }
    }
}
