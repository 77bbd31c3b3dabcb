//! Paths below a folder.

use std::fmt;

use serde_json::{Value, json};

use super::plain::{MAX_LENGTH, PART, common, escaped, parts};

/// A path that is written plainly.
#[derive(Clone, Debug)]
pub(in super::super) struct PlainPath<'t> {
    is_absolute: bool,
    parts: Vec<&'t str>,
}

impl<'t> PlainPath<'t> {
    /// Reads a path; `None` if it is not plain.
    pub(in super::super) fn read(text: &'t str) -> Option<Self> {
        let relative = text.strip_prefix('/');
        let parts = parts(relative.unwrap_or(text)).filter(|_| text.len() <= MAX_LENGTH)?;
        Some(Self { is_absolute: relative.is_some(), parts })
    }

    /// Returns the folders that contain it, outermost first; an absolute path has `/` first.
    pub(in super::super) fn folders(&self) -> Vec<&'t str> {
        let root = self.is_absolute.then_some("/");
        let folders = self.parts.len().saturating_sub(1);
        root.into_iter().chain(self.parts.iter().take(folders).copied()).collect()
    }

    fn name(&self) -> &'t str {
        self.parts.last().copied().unwrap_or_default()
    }

    /// Returns the part of the name after its last dot.
    fn extension(&self) -> Option<&'t str> {
        let (stem, extension) = self.name().rsplit_once('.')?;
        let is_word = !extension.is_empty() && extension.bytes().all(|letter| letter.is_ascii_alphanumeric());
        (is_word && !stem.is_empty()).then_some(extension)
    }
}

/// The paths below a folder, at most as long as the longest approved one, with its extension if all have the same.
#[derive(Clone, Debug)]
pub(in super::super) struct PathShape {
    folder: String,
    extension: Option<String>,
    max_length: usize,
}

impl PathShape {
    /// Returns the deepest folder that contains all paths; `None` if one is not plain, or only the root or the current folder contains
    /// them.
    pub(super) fn of(texts: &[&str]) -> Option<Self> {
        let paths: Vec<_> = texts.iter().map(|text| PlainPath::read(text)).collect::<Option<_>>()?;
        let folders: Vec<_> = paths.iter().map(PlainPath::folders).collect();
        let common = common(&folders.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let folder = match common.as_slice() {
            [] | ["/"] => return None,
            ["/", parts @ ..] => format!("/{}", parts.join("/")),
            parts => parts.join("/"),
        };
        let extension = paths.first()?.extension();
        let extension = extension.filter(|own| paths.iter().all(|path| path.extension() == Some(*own)));
        let max_length = texts.iter().map(|text| text.len()).max()?;
        Some(Self { folder, extension: extension.map(str::to_owned), max_length })
    }

    pub(super) fn holds(&self, text: &str) -> bool {
        let Some(path) = PlainPath::read(text) else { return false };
        let is_below = text.strip_prefix(&self.folder).is_some_and(|rest| rest.starts_with('/'));
        let has_extension = self.extension.as_deref().is_none_or(|own| path.extension() == Some(own));
        is_below && has_extension && text.len() <= self.max_length
    }

    pub(super) fn schema(&self) -> Value {
        let end = self.extension.as_ref().map(|extension| format!(r"\.{extension}")).unwrap_or_default();
        let pattern = format!("^{}(/{PART})+{end}$", escaped(&self.folder));
        json!({ "type": "string", "pattern": pattern, "maxLength": self.max_length })
    }
}

impl fmt::Display for PathShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a path below `{}/`", self.folder)?;
        if let Some(extension) = &self.extension {
            write!(f, " that ends with `.{extension}`")?;
        }
        write!(f, ", of at most {} characters", self.max_length)
    }
}
