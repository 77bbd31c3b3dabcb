//! Finds JSON in an answer: the whole text, a fenced code block of Markdown, or an object between words.

use serde_json::{Deserializer, Error, Value};

use crate::base::error::Fault;

/// The maximum number of braces that are tried before an answer is rejected, since a model may write any number of
/// unclosed ones.
const MAX_BRACES: usize = 1_000;

/// The marks around a thought; objects inside it are drafts.
const THOUGHTS: [(&str, &str); 4] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
];

/// The findings in a text that is not JSON as a whole.
#[derive(Default)]
struct Found {
    /// The objects, without nested ones and drafts.
    objects: Vec<Value>,
    /// Why an object is invalid. The search does not continue inside or after it.
    error: Option<Error>,
}

/// Returns the JSON value in a text: the whole text, or else the only object in it, or the last one, if it `fits` and any other
/// that `fits` is equal.
pub(super) fn value(text: &str, fits: impl Fn(&Value) -> bool) -> Result<Value, Fault> {
    let error = match serde_json::from_str(text.trim()) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    let Found { mut objects, error: invalid } = find(text);
    if let Some(error) = invalid {
        return Err(invalid_json(&error));
    }
    let all = objects.len();
    // The text after the last draft is the answer, even if only the draft fits.
    let last = objects.pop().filter(|last| all == 1 || fits(last));
    objects.retain(fits);
    match (last, all) {
        (None, 0) => Err(invalid_json(&error)),
        (Some(value), _) if objects.iter().all(|other| *other == value) => Ok(value),
        _ => Err(format!("the answer contains {all} JSON objects; return one, without any other text").into()),
    }
}

/// Returns the JSON values in a text: the whole text, or else the objects in it.
pub(super) fn values(text: &str) -> Vec<Value> {
    serde_json::from_str(text.trim()).map_or_else(|_| find(text).objects, |value| vec![value])
}

/// Returns the fault of a result that is not JSON.
pub(super) fn invalid_json(error: &Error) -> Fault {
    format!("the result is invalid JSON: {error}").into()
}

/// Finds the objects in a text.
fn find(text: &str) -> Found {
    let (mut found, mut braces) = (Found::default(), 0);
    let mut rest = text;
    while let Some(start) = rest.find(['{', '[', '<']) {
        rest = &rest[start..];
        if let Some(after) = after_thought(rest) {
            rest = after;
        } else if let Some(after) = THOUGHTS.iter().find_map(|(_, end)| rest.strip_prefix(*end)) {
            // Some servers omit the start mark of a thought.
            found.objects.clear();
            rest = after;
        } else if rest.starts_with('{') || is_list_of_objects(rest) {
            braces += 1;
            let mut values = Deserializer::from_str(rest).into_iter::<Value>();
            match values.next() {
                Some(Ok(value)) => {
                    rest = &rest[values.byte_offset()..];
                    found.objects.push(value);
                }
                Some(Err(error)) if begins_like_json(rest) => return Found { error: Some(error), ..found },
                _ => rest = &rest[1..],
            }
            if braces == MAX_BRACES {
                break;
            }
        } else {
            rest = &rest[1..];
        }
    }
    found
}

/// Returns the text after the thought with which a text begins, if any; empty if the thought has no end mark.
fn after_thought(text: &str) -> Option<&str> {
    let (thought, end) = THOUGHTS.iter().find_map(|(start, end)| Some((text.strip_prefix(*start)?, *end)))?;
    Some(thought.split_once(end).map_or("", |(_, after)| after))
}

fn is_list_of_objects(text: &str) -> bool {
    text.strip_prefix('[').is_some_and(|items| items.trim_ascii_start().starts_with('{'))
}

/// Returns whether a text that begins with a bracket continues as JSON, or as models write it: with a comment, or with
/// a key in other quotation marks or in none.
fn begins_like_json(text: &str) -> bool {
    let inside = text[1..].trim_ascii_start();
    let is_of_key = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let after_key = inside.trim_start_matches(is_of_key);
    let is_bare_key = after_key.len() < inside.len() && after_key.trim_ascii_start().starts_with(':');
    is_bare_key || text.starts_with('[') || inside.starts_with(['"', '\'']) || inside.starts_with("//")
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
    fn no_object_inside_an_invalid_one_is_the_answer() {
        for text in [
            "{\"n\": 2, \"children\": [{\"n\": 1}],}",
            "```json\n{\"n\": 2, \"child\": {\"n\": 1}\n```",
            "It is {'n': 2, 'child': {\"n\": 1}}",
            "{n: {\"n\": 1}}",
            "{ // a comment\n \"child\": {\"n\": 1}}",
            "[{\"n\": 1},]",
            "{\"n\": 1} and {\"n\": ",
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
        read(&"[{".repeat(200_000)).unwrap_err();
        read(&"{1".repeat(200_000)).unwrap_err();
        read(&"<think>".repeat(200_000)).unwrap_err();
        read(&"</think>{".repeat(200_000)).unwrap_err();
    }
}
