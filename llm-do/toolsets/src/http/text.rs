//! The text of a response: decoded, and without HTML markup.

use encoding_rs::{Encoding, UTF_8};

use super::answer::FetchedResponse;
use super::fault::Fault;
use super::html;

/// The number of bytes in which HTML may declare its charset, by the HTML standard.
const PRESCAN: usize = 1_024;

/// The content of a response for a model.
#[derive(Debug)]
pub(super) enum ResponseContent {
    Text(String),
    /// A file that models can read, such as an image.
    File,
}

/// Returns the content of a response; fails once `is_over`.
pub(super) fn content(answer: &FetchedResponse, is_over: &dyn Fn() -> bool) -> Result<ResponseContent, Fault> {
    let media_type = answer.media_type.as_str();
    if is_html(media_type) {
        let html = decoded(answer, declared(&answer.body));
        let text = html::to_text(&html, is_over);
        return text.map(ResponseContent::Text).map_err(|reason| Fault::Html { url: answer.url.to_string(), reason });
    }
    if is_text(media_type) || (media_type.is_empty() && is_plain(&answer.body)) {
        return Ok(ResponseContent::Text(decoded(answer, None)));
    }
    if matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "application/pdf") {
        return Ok(ResponseContent::File);
    }
    Err(Fault::MediaType { url: answer.url.to_string(), media_type: media_type.to_owned() })
}

fn is_html(media_type: &str) -> bool {
    matches!(media_type, "text/html" | "application/xhtml+xml")
}

fn is_text(media_type: &str) -> bool {
    const TEXTS: &[&str] =
        &["json", "xml", "javascript", "ecmascript", "yaml", "x-yaml", "toml", "x-ndjson", "sql", "x-sh"];
    media_type.starts_with("text/")
        || media_type.ends_with("+json")
        || media_type.ends_with("+xml")
        || media_type.strip_prefix("application/").is_some_and(|kind| TEXTS.contains(&kind))
}

/// Returns whether bytes without a type look like text.
fn is_plain(body: &[u8]) -> bool {
    let start = std::str::from_utf8(&body[..body.len().min(PRESCAN)]);
    // The last character may be incomplete.
    !body.contains(&0) && start.err().is_none_or(|error| error.error_len().is_none())
}

/// Decodes the body by its byte order mark, its header, `declared`, or as UTF-8. Invalid bytes become U+FFFD.
fn decoded(answer: &FetchedResponse, declared: Option<&'static Encoding>) -> String {
    let encoding = answer.charset.or(declared).unwrap_or(UTF_8);
    let (text, _, _) = encoding.decode(&answer.body);
    text.replace('\0', "\u{fffd}")
}

/// Returns the charset that HTML declares in its first bytes.
fn declared(html: &[u8]) -> Option<&'static Encoding> {
    let start = String::from_utf8_lossy(&html[..html.len().min(PRESCAN)]).to_ascii_lowercase();
    let (_, rest) = start.split_once("charset=")?;
    let label = rest.trim_start_matches(['"', '\'', ' ']);
    let end = label.find(['"', '\'', ' ', ';', '>', '/']).unwrap_or(label.len());
    // A declaration that is readable as ASCII is not in UTF-16.
    Encoding::for_label(&label.as_bytes()[..end]).map(Encoding::output_encoding)
}
