//! The JSON in an answer that is text: alone, in a fence of Markdown, or in the midst of words.

use serde_json::{Deserializer, Error, Value};

use crate::base::error::Fault;

/// How many braces are tried before an answer is given up: a model may write any number that nothing closes.
const TRIED: usize = 1_000;

/// Returns the JSON value that a text holds: all of it, or else the one object in it, or of several the one that `fits`.
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
        (None, 0) => Err(no_json(&error)),
        (Some(value), _) if found.iter().all(|other| *other == value) => Ok(value),
        _ => Err(format!("the answer holds {all} JSON objects; give one, and nothing else with it").into()),
    }
}

/// Returns the values that a text may hold: all of it, or else the objects in it.
pub(super) fn values(text: &str) -> Vec<Value> {
    serde_json::from_str(text.trim()).map_or_else(|_| objects(text), |value| vec![value])
}

/// Says that a result is no JSON.
pub(super) fn no_json(error: &Error) -> Fault {
    format!("the result is not JSON: {error}").into()
}

/// Returns the objects in a text, without those inside one another.
fn objects(text: &str) -> Vec<Value> {
    let mut found = Vec::new();
    let mut rest = text;
    for _ in 0..TRIED {
        let Some(place) = rest.find('{') else { break };
        rest = &rest[place..];
        let mut values = Deserializer::from_str(rest).into_iter();
        let read = values.next().and_then(Result::ok);
        // What is no object may have one behind its brace.
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
    fn one_object_is_found_in_fences_and_between_words() {
        for text in [
            " {\"n\": 1}\n",
            "```json\n{\"n\": 1}\n```",
            "```\n{\"n\":1}```",
            "Here it is:\n\n```json\n{\n  \"n\": 1\n}\n```\nI hope that {this} helps.",
            "The set {1, 2} has one: {\"n\":1}.",
            "\u{feff}{\"n\":1}",
            "<think>{\"m\": 0} or {\"n\": \"one\"}?</think>{\"n\":1}",
            "{\"n\":1} that is to say {\"n\": 1}",
        ] {
            assert_eq!(read(text), Ok(json!({ "n": 1 })), "{text}");
        }
    }

    #[test]
    fn braces_in_texts_of_an_object_are_its_own() {
        assert_eq!(read("So: {\"n\": 1, \"t\": \"{\\\"n\\\": 2}\"}").unwrap()["n"], 1);
    }

    #[test]
    fn an_object_alone_is_read_whether_it_fits_or_not() {
        assert_eq!(read("It is {\"n\": \"one\"}."), Ok(json!({ "n": "one" })));
    }

    #[test]
    fn several_objects_are_no_answer() {
        let fault = "the answer holds 2 JSON objects; give one, and nothing else with it";
        assert_eq!(read("{\"n\": 1} or {\"n\": 2}"), Err(fault.to_owned()));
        assert_eq!(read("{\"m\": 1} or {\"m\": 2}"), Err(fault.to_owned()));
    }

    #[test]
    fn an_answer_without_an_object_says_what_is_wrong_with_it() {
        for text in ["", "one", "{\"n\": 1", "[1, 2", "{n: 1}"] {
            let fault = read(text).unwrap_err();
            assert!(fault.starts_with("the result is not JSON: "), "{text}: {fault}");
        }
    }

    #[test]
    fn any_number_of_open_braces_comes_to_an_end() {
        read(&"{\"".repeat(200_000)).unwrap_err();
        read(&"{\"a\":".repeat(200_000)).unwrap_err();
        read(&"{".repeat(1_000_000)).unwrap_err();
    }
}
