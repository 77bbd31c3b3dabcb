//! Addresses below an address.

use std::fmt;

use serde_json::{Value, json};

use super::plain::{MAX_LENGTH, PART, common, escaped, parts};

/// The maximum length of the name of a host, in bytes.
const MAX_HOST: usize = 253;

/// An address that is written plainly: without user name, query, fragment and percent-encoding, with a host of lower-case letters of
/// ASCII.
#[derive(Clone, Debug)]
pub(in super::super) struct PlainUrl<'t> {
    /// The scheme, the host and the port.
    pub(in super::super) origin: &'t str,
    pub(in super::super) parts: Vec<&'t str>,
}

impl<'t> PlainUrl<'t> {
    /// Reads an address; `None` if it is not plain.
    pub(in super::super) fn read(text: &'t str) -> Option<Self> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if !is_host(host) || text.len() > MAX_LENGTH {
            return None;
        }
        let origin = text.get(..text.len() - path.len())?;
        let path = path.strip_suffix('/').unwrap_or(path);
        let parts = if path.is_empty() { Vec::new() } else { parts(path.strip_prefix('/')?)? };
        Some(Self { origin, parts })
    }

    /// Returns the parts of the path that contain the last one.
    pub(in super::super) fn folders(&self) -> &[&'t str] {
        self.parts.split_last().map(|(_, folders)| folders).unwrap_or_default()
    }
}

/// Returns whether a text is the plain name of a host, with a port or without.
fn is_host(text: &str) -> bool {
    let (name, port) = text.split_once(':').map_or((text, None), |(name, port)| (name, Some(port)));
    let is_letter = |letter: u8| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_label = |label: &str| {
        let ends = [label.bytes().next(), label.bytes().last()];
        ends.iter().all(|end| end.is_some_and(is_letter))
            && label.bytes().all(|letter| is_letter(letter) || letter == b'-')
    };
    let is_port = |port: &str| (1..=5).contains(&port.len()) && port.bytes().all(|digit| digit.is_ascii_digit());
    name.len() <= MAX_HOST && name.split('.').all(is_label) && port.is_none_or(is_port)
}

/// The addresses of one host below a path, at most as long as the longest approved one.
#[derive(Clone, Debug)]
pub(in super::super) struct UrlShape {
    /// The scheme, the host and the port.
    origin: String,
    /// The common path, which is empty or begins with `/`.
    path: String,
    /// Whether the path alone matches, without a further part.
    is_path_approved: bool,
    max_length: usize,
}

impl UrlShape {
    /// Returns the deepest path of the host that contains all addresses; `None` if one is not plain, or their hosts differ.
    pub(super) fn of(texts: &[&str]) -> Option<Self> {
        let urls: Vec<_> = texts.iter().map(|text| PlainUrl::read(text)).collect::<Option<_>>()?;
        let origin = urls.first()?.origin;
        if urls.iter().any(|url| url.origin != origin) {
            return None;
        }
        let common = common(&urls.iter().map(PlainUrl::folders).collect::<Vec<_>>());
        let path: String = common.iter().flat_map(|part| ["/", *part]).collect();
        let is_path_approved = urls.iter().any(|url| url.parts.is_empty());
        let max_length = texts.iter().map(|text| text.len()).max()?;
        Some(Self { origin: origin.to_owned(), path, is_path_approved, max_length })
    }

    pub(super) fn holds(&self, text: &str) -> bool {
        let Some(url) = PlainUrl::read(text).filter(|url| url.origin == self.origin) else { return false };
        let path: String = url.parts.iter().flat_map(|part| ["/", *part]).collect();
        let is_below = path.strip_prefix(&self.path).is_some_and(|rest| match rest {
            "" => self.is_path_approved,
            rest => rest.starts_with('/'),
        });
        is_below && text.len() <= self.max_length
    }

    pub(super) fn schema(&self) -> Value {
        let times = if self.is_path_approved { '*' } else { '+' };
        let pattern = format!("^{}{}(/{PART}){times}/?$", escaped(&self.origin), escaped(&self.path));
        json!({ "type": "string", "pattern": pattern, "maxLength": self.max_length })
    }
}

impl fmt::Display for UrlShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an address below `{}{}/`, of at most {} characters", self.origin, self.path, self.max_length)
    }
}
