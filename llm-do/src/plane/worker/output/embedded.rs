//! Finds JSON in an answer: the whole text, a fenced code block of Markdown, or an object between words.

use serde_json::{Deserializer, Error, Value};

use crate::base::error::Fault;

/// How many braces are tried before an answer is rejected: a model may write any number of unclosed ones.
const MAX_BRACES: usize = 1_000;

/// Returns the JSON value in a text: the whole text, or else the only object in it, or the only one that `fits`.
pub(super) fn value(text: &str, fits: impl Fn(&Value) -> bool) -> Result<Value, Fault> {
    let error = match serde_json::from_str(text.trim()) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let mut found = objects(text);
    let all = found.len();
    if all > 1 {
        found.retain(fits);
    }
    match (found.pop(), all) {
        (None, 0) => Err(invalid_json(&error)),
        (Some(value), _) if found.iter().all(|other| *other == value) => Ok(value),
        _ => Err(format!("the answer contains {all} JSON objects; return one, without any other text").into()),
    }
}

/// Returns the JSON values in a text: the whole text, or else the objects in it.
pub(super) fn values(text: &str) -> Vec<Value> {
    serde_json::from_str(text.trim()).map_or_else(|_| objects(text), |value| vec![value])
}

/// Returns the fault of a result that is not JSON.
pub(super) fn invalid_json(error: &Error) -> Fault {
    format!("the result is invalid JSON: {error}").into()
}

/// Returns the objects in a text, without nested ones.
fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..MAX_BRACES {
        let Some(start) = rest.find('{') else { break };
        rest = &rest[start..];
        let mut values = Deserializer::from_str(rest).into_iter();
        let read = values.next().and_then(Result::ok);
        // If no object starts at this brace, one may start at a later brace.
        rest = &rest[read.as_ref().map_or(1, |_| values.byte_offset())..];
        found.extend(read);
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::value;

    fn read(text: &str) -> Result<Value, String> {
        value(text, |value| value["n"].is_number()).map_err(|fault| fault.to_string())
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
    fn braces_inside_strings_are_ignored() {
        assert_eq!(read("So: {\"n\": 1, \"t\": \"{\\\"n\\\": 2}\"}").unwrap()["n"], 1);
    }

    #[test]
    fn a_single_object_is_returned_even_if_it_does_not_fit() {
        assert_eq!(read("It is {\"n\": \"one\"}."), Ok(json!({ "n": "one" })));
    }

    #[test]
    fn several_objects_are_an_error() {
        let fault = "the answer contains 2 JSON objects; return one, without any other text";
        assert_eq!(read("{\"n\": 1} or {\"n\": 2}"), Err(fault.to_owned()));
        assert_eq!(read("{\"m\": 1} or {\"m\": 2}"), Err(fault.to_owned()));
    }

    #[test]
    fn an_answer_without_an_object_is_an_error() {
        for text in ["", "one", "{\"n\": 1", "[1, 2", "{n: 1}"] {
            let fault = read(text).unwrap_err();
            assert!(fault.starts_with("the result is invalid JSON: "), "{text}: {fault}");
        }
    }

    #[test]
    fn many_unclosed_braces_do_not_take_quadratic_time() {
        read(&"{\"".repeat(200_000)).unwrap_err();
        read(&"{\"a\":".repeat(200_000)).unwrap_err();
        read(&"{".repeat(1_000_000)).unwrap_err();
    }
}
