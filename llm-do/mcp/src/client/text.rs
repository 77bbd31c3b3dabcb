//! Texts from servers, which are untrusted: bounded, and without hidden characters.

use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::Value;

use llm_do_core::base::printable::{printable, printable_line};

/// The longest text of a server in an error, a question or a report, in characters.
const MAX_LINE: usize = 500;
/// The longest part of what a server sent in an error, in characters.
const MAX_EXCERPT: usize = 200;

/// Returns a text of one line, with hidden characters escaped.
pub(super) fn line(text: &str) -> String {
    shortened(&printable_line(text), MAX_LINE)
}

/// Returns the beginning of what a server sent, in one line.
pub(super) fn excerpt(text: &str) -> String {
    // Only what is shown is escaped: it may be large.
    let start = text.trim().char_indices().nth(MAX_EXCERPT + 1).map_or(text.trim(), |(end, _)| &text.trim()[..end]);
    shortened(&printable_line(start), MAX_EXCERPT)
}

/// Returns a text with hidden characters escaped.
pub(super) fn visible(text: &str, most: usize) -> String {
    shortened(&printable(text), most)
}

/// Returns the text of the innermost source of an error; the outer ones name parts of the program.
pub(super) fn root(error: &(dyn std::error::Error + 'static)) -> String {
    let mut root = error;
    loop {
        // Errors that do not give their source, or add words of their own.
        let hidden = match root.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            Some(StreamableHttpError::Client(source)) => Some(source as &(dyn std::error::Error + 'static)),
            Some(StreamableHttpError::UnexpectedServerResponse(reason)) => return reason.to_string(),
            Some(StreamableHttpError::SessionExpired) => {
                return "the server has forgotten the session, and opened no other one".to_owned();
            }
            _ => None,
        };
        match hidden.or(root.source()) {
            Some(source) => root = source,
            None => return root.to_string(),
        }
    }
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Escapes hidden characters in the descriptions and titles of a schema, at any depth.
pub(super) fn unhide(schema: &mut Value) {
    const SHOWN: [&str; 3] = ["description", "title", "$comment"];
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if SHOWN.contains(&key.as_str()) => *text = printable(text),
                    value => unhide(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(unhide),
        _ => {}
    }
}
