//! The summary of a call in one line.

use std::borrow::Cow;

use serde_json::Value;

use crate::base::printable::printable_line;

/// The maximum number of characters shown of a value.
const WIDTH: usize = 80;

/// The maximum number of arguments shown.
const ARGUMENTS: usize = 12;

/// Fills a template: `{argument}` becomes the argument's value, `{{` and `}}` are braces, anything else stays.
pub(crate) fn filled(template: &str, arguments: &Value) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some(brace) = rest.find(['{', '}']) {
        filled.push_str(&rest[..brace]);
        rest = &rest[brace..];
        if let Some((value, after)) = placeholder(rest, arguments) {
            filled.push_str(&value);
            rest = after;
        } else {
            let is_escape = rest.starts_with("{{") || rest.starts_with("}}");
            filled.push_str(&rest[..1]);
            rest = &rest[if is_escape { 2 } else { 1 }..];
        }
    }
    filled + rest
}

/// Returns the value for the `{argument}` at the start of the text, and the text after it.
fn placeholder<'a>(text: &'a str, arguments: &Value) -> Option<(String, &'a str)> {
    let (name, after) = text.strip_prefix('{')?.split_once('}')?;
    Some((plain(arguments.get(name)?), after))
}

/// Formats a call as in Rust: `tool(path="notes.txt", limit=3)`.
pub(crate) fn listed(tool: &str, arguments: &Value) -> String {
    let Value::Object(fields) = arguments else {
        return format!("{tool}({})", quoted(arguments));
    };
    let shown = fields.iter().take(ARGUMENTS).map(|(name, value)| format!("{}={}", named(name), quoted(value)));
    let mut shown: Vec<_> = shown.collect();
    if let Some(more) = fields.len().checked_sub(ARGUMENTS).filter(|more| *more > 0) {
        shown.push(format!("… {more} more arguments"));
    }
    format!("{tool}({})", shown.join(", "))
}

/// Returns the name of an argument, quoted unless it is a plain word, since models name the arguments of run-time
/// workers.
pub(crate) fn named(name: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.chars().all(is_plain) && name.chars().count() <= WIDTH {
        return Cow::Borrowed(name);
    }
    quoted(&Value::from(name)).into()
}

/// Formats a value for a sentence: a string without quotes, `none` for null.
fn plain(value: &Value) -> String {
    if value.is_null() {
        return "none".to_owned();
    }
    let text = text_of(value);
    let (shown, hidden) = cut(&text);
    printable_line(shown) + &hidden
}

/// Formats a value for a list: a string in quotes, followed by the number of characters cut.
fn quoted(value: &Value) -> String {
    let text = text_of(value);
    let (shown, hidden) = cut(&text);
    match value {
        Value::String(_) => {
            format!("\"{}\"{hidden}", printable_line(&shown.replace('\\', "\\\\").replace('"', "\\\"")))
        }
        _ => printable_line(shown) + &hidden,
    }
}

fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// Cuts a text; returns its start, and a note with the number of characters cut, which is empty if the text is
/// complete.
fn cut(text: &str) -> (&str, String) {
    let Some((end, _)) = text.char_indices().nth(WIDTH) else {
        return (text, String::new());
    };
    let more = text[end..].chars().count();
    let unit = if more == 1 { "character" } else { "characters" };
    (&text[..end], format!("… {} more {unit}", grouped(more)))
}

/// Formats a number with commas: `1,234`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
