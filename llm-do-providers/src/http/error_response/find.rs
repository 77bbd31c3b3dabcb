//! Finds the error in JSON that a server sent in place of an answer, in any form that servers use.

use serde_json::{Map, Value, json};

/// The fields of an error.
const FIELDS: [&str; 9] = ["message", "code", "type", "status", "param", "detail", "details", "metadata", "__type"];
/// The fields for an error's text, in order.
const TEXTS: [&str; 7] = ["message", "Message", "detail", "msg", "error_message", "error_msg", "error_description"];
/// Parts of the types of errors, in lower case. An event of any other type is unknown and not an error, even with a
/// message.
const OF_ERRORS: [&str; 19] = [
    "authentic",
    "denied",
    "error",
    "exception",
    "exceeded",
    "fail",
    "forbid",
    "invalid",
    "limit",
    "not_found",
    "overload",
    "permission",
    "quota",
    "refus",
    "requests",
    "throttl",
    "timeout",
    "tokens",
    "unavailable",
];

/// Returns the error in place of an answer, or of an event; `None` if it is not an error.
///
/// The error is in `error`, as an object or a string, in a list `errors`, or in the fields of an object with the type
/// `error`.
pub(crate) fn answered_error(answer: &Value) -> Option<Value> {
    let answer = answer.get(0).unwrap_or(answer);
    let error = &answer["error"];
    if has_content(error) {
        return Some(match error {
            Value::Object(_) => error.clone(),
            // TGI and xAI put the other fields next to the text.
            Value::String(text) => beside(answer, text),
            _ => beside(answer, ""),
        });
    }
    if let Some(first) = answer["errors"].as_array().and_then(|errors| errors.first()) {
        return Some(first.as_str().map_or_else(|| first.clone(), |text| json!({ "message": text })));
    }
    let is_error = |key: &str| answer[key].as_str().is_some_and(|word| matches!(word, "error" | "response.error"));
    (is_error("object") || is_error("type")).then(|| fields(answer))
}

/// Returns the error of an object that contains no part of an answer: like [`answered_error`], or an object with a
/// message.
pub(crate) fn flat_error(object: &Value) -> Option<Value> {
    if let Some(error) = answered_error(object) {
        return Some(error);
    }
    let object = object.get(0).unwrap_or(object);
    let names_another = |key: &str| object[key].as_str().is_some_and(|word| !names_error(word));
    if names_another("type") || names_another("event") || object["object"].is_string() {
        return None;
    }
    let is_text = |text: &Value| text.as_str().is_some_and(|text| !text.is_empty()) || text.is_array();
    let has_text = TEXTS.iter().any(|key| is_text(&object[key]));
    has_text.then(|| fields(object))
}

/// Whether a type, or the name of an event, may be that of an error; an empty one may be.
pub(crate) fn names_error(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    word.is_empty() || OF_ERRORS.iter().any(|part| word.contains(part))
}

/// Returns the error in the value of a field or an event: an object with a field `error`, the object itself, or a text.
pub(crate) fn error_of(text: &str) -> Value {
    let Ok(value) = serde_json::from_str::<Value>(text) else { return text.into() };
    flat_error(&value).unwrap_or(value)
}

/// Returns the text of the error that `body` is, or else the body.
pub(in crate::http) fn text_of(body: &str) -> String {
    let error = serde_json::from_str(body).ok().as_ref().and_then(flat_error);
    error.and_then(|error| Some(error["message"].as_str()?.to_owned())).unwrap_or_else(|| body.to_owned())
}

/// Whether the value of an error field is an error: some servers send `null`, an empty string or object, or code 0 if
/// there was no error.
pub(crate) fn has_content(error: &Value) -> bool {
    match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Array(items) => items.iter().any(has_content),
        Value::Object(fields) => fields.values().any(has_content),
        Value::Bool(true) => true,
    }
}

fn beside(answer: &Value, text: &str) -> Value {
    let mut error = fields(answer);
    if let Value::Object(fields) = &mut error {
        if !text.is_empty() {
            fields.insert("message".to_owned(), text.into());
        }
        if let Some(kind) = answer.get("error_type") {
            fields.insert("type".to_owned(), kind.clone());
        }
    }
    error
}

/// Returns the fields of an error at the top level of an object, without the `type` if that is only `error`.
fn fields(object: &Value) -> Value {
    let known = FIELDS.into_iter().filter_map(|key| Some((key.to_owned(), object.get(key)?.clone())));
    let mut fields: Map<_, _> = known.filter(|(key, value)| key != "type" || value != "error").collect();
    if !fields.get("message").is_some_and(Value::is_string)
        && let Some(text) = TEXTS.iter().find_map(|key| object[key].as_str())
    {
        fields.insert("message".to_owned(), text.into());
    }
    // FastAPI's list of faults.
    let mut faults = object["detail"].as_array().into_iter().flatten();
    if let Some(first) = faults.find(|fault| fault["msg"].is_string()) {
        fields.entry("message").or_insert_with(|| first["msg"].clone());
    }
    Value::Object(fields)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{answered_error, flat_error};

    #[test]
    fn an_error_is_found_in_each_form() {
        let message = |error: Option<Value>| error.unwrap()["message"].clone();
        for answer in [
            json!({"error": {"message": "m"}}),
            json!({"error": "m"}),
            json!([{"error": {"message": "m", "code": 1}}]),
            json!({"errors": [{"message": "m", "code": 5021}], "success": false}),
            json!({"errors": ["m"]}),
            json!({"object": "error", "message": "m"}),
            json!({"type": "error", "message": "m"}),
        ] {
            assert_eq!(message(answered_error(&answer)), "m", "{answer}");
        }
        for object in [
            json!({"message": "m"}),
            json!({"Message": "m"}),
            json!({"detail": "m"}),
            json!({"code": 1302, "msg": "m", "success": false}),
            json!({"detail": [{"loc": ["body", "messages"], "msg": "m", "type": "value_error"}]}),
            json!({"message": "m", "type": "invalid_request_error", "code": null}),
        ] {
            assert_eq!(answered_error(&object), None, "{object}");
            assert_eq!(message(flat_error(&object)), "m", "{object}");
        }
    }

    #[test]
    fn what_is_not_an_error_is_not_found() {
        for answer in [
            json!({}),
            json!({"error": null}),
            json!({"error": ""}),
            json!({"error": {"code": 0, "message": ""}}),
            json!({"error": {"code": null, "message": null}}),
            json!({"errors": []}),
            json!({"message": ""}),
            json!({"type": "ping", "message": "m"}),
            json!({"event": "heartbeat", "message": "m"}),
            json!({"type": "brand.new", "message": "m"}),
            json!({"object": "chat.notice", "message": "m"}),
            json!([]),
            json!("m"),
        ] {
            assert_eq!(flat_error(&answer), None, "{answer}");
        }
    }

    #[test]
    fn a_text_keeps_what_stands_beside_it() {
        let error = answered_error(&json!({"error": "m", "error_type": "validation", "code": "c"})).unwrap();
        assert_eq!(error, json!({"message": "m", "type": "validation", "code": "c"}));
    }
}
