//! Describes keywords of a schema in its description.

use serde_json::{Map, Value};

/// The note for a schema that allows everything.
#[cfg(feature = "gemini")]
pub(crate) const ANYTHING: &str = "Any JSON value.";

/// Returns a sentence for a keyword, if a sentence can express it.
#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
pub(crate) fn sentence(key: &str, value: &Value) -> Option<String> {
    Some(match key {
        "default" => format!("Default: {value}."),
        "examples" => format!("Examples: {}.", all(value)?),
        "deprecated" if *value == true => "Deprecated.".to_owned(),
        "format" => format!("Format: {}.", value.as_str()?),
        "contentEncoding" => format!("Encoding: {}.", value.as_str()?),
        "contentMediaType" => format!("Media type: {}.", value.as_str()?),
        "pattern" => format!("Matches the regular expression `{}`.", value.as_str()?),
        "minLength" => format!("Length: at least {value}."),
        "maxLength" => format!("Length: at most {value}."),
        "minItems" => format!("Items: at least {value}."),
        "maxItems" => format!("Items: at most {value}."),
        "minProperties" => format!("Properties: at least {value}."),
        "maxProperties" => format!("Properties: at most {value}."),
        "exclusiveMinimum" => format!("More than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "multipleOf" => format!("A multiple of {value}."),
        "uniqueItems" if *value == true => "No two items are equal.".to_owned(),
        _ => return None,
    })
}

/// Returns the annotations of a schema as text: its description, and a sentence for each other annotation.
#[cfg(any(feature = "anthropic", feature = "openai"))]
pub(crate) fn notes_of(schema: &Map<String, Value>) -> String {
    let notes = ["default", "examples", "deprecated"].into_iter().filter_map(|key| sentence(key, schema.get(key)?));
    let mut description = Map::new();
    describe(&mut description, schema.get("description"), &notes.collect::<Vec<_>>());
    description.get("description").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Returns the sentence that lists the allowed values.
#[cfg(feature = "gemini")]
pub(crate) fn only(values: &[Value]) -> String {
    match values {
        [value] => format!("Always {value}."),
        values => format!("One of: {}.", joined(values)),
    }
}

/// Returns the sentence that lists the excluded values.
#[cfg(feature = "gemini")]
pub(crate) fn except(values: &[Value]) -> String {
    format!("Not {}.", joined(values))
}

/// The maximum size of a schema in a description, in bytes.
const LONGEST_RULES: usize = 4_000;

/// Adds keywords that only restrict values to the description, as JSON.
pub(crate) fn follow(form: &mut Map<String, Value>, rules: &Map<String, Value>) {
    let text = Value::Object(rules.clone()).to_string();
    let words = if text.len() <= LONGEST_RULES {
        format!("Must also follow: {text}")
    } else {
        let keys: Vec<_> = rules.keys().map(|key| format!("`{key}`")).collect();
        format!("Must also follow rules of {} that are too long to be listed.", keys.join(", "))
    };
    let own = form.shift_remove("description");
    describe(form, own.as_ref(), &[words]);
}

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
fn all(values: &Value) -> Option<String> {
    values.as_array().map(|values| joined(values))
}

#[cfg(any(feature = "anthropic", feature = "gemini", feature = "openai"))]
fn joined(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}

/// Adds the annotations of a schema, and of its alternatives as a whole, to its form.
#[cfg(feature = "gemini")]
pub(crate) fn remarked(form: Value, remarks: &Map<String, Value>) -> Value {
    let Value::Object(mut form) = form else { return form };
    let mut notes: Vec<_> = remarks.iter().filter_map(|(key, value)| sentence(key, value)).collect();
    // The description of the whole schema precedes that of its only remaining form.
    let own = form.shift_remove("description");
    notes.extend(own.as_ref().and_then(Value::as_str).map(str::to_owned));
    describe(&mut form, remarks.get("description"), &notes);
    Value::Object(form)
}

/// Sets the description of a form: that of the schema, followed by `notes`.
pub(crate) fn describe(form: &mut Map<String, Value>, description: Option<&Value>, notes: &[String]) {
    let mut text = description.and_then(Value::as_str).unwrap_or_default().trim_end().to_owned();
    for note in notes {
        match text.chars().last() {
            None => {}
            Some('.' | '!' | '?' | ':' | ';') => text.push(' '),
            Some(_) => text.push_str(". "),
        }
        text.push_str(note);
    }
    if !text.is_empty() {
        form.insert("description".to_owned(), Value::String(text));
    }
}
