//! Elements with hidden content.

use super::scanner::Tag;

/// Elements with hidden content.
const HIDDEN: [&str; 7] = ["iframe", "noembed", "noframes", "script", "style", "template", "title"];

/// An open element with hidden content.
#[derive(Debug)]
pub(super) struct Hidden {
    name: String,
    /// The number of open elements with its name.
    depth: usize,
    /// Whether it had no element so far.
    is_first: bool,
    /// Whether the next text is the title of an image.
    pub(super) is_title: bool,
}

impl Hidden {
    /// Returns the element of a start tag, if its content is hidden.
    pub(super) fn from_tag(tag: &Tag<'_>) -> Option<Self> {
        let name = tag.name.as_str();
        let is_hidden = HIDDEN.contains(&name) || (name == "svg" && !tag.is_closed);
        is_hidden.then(|| Self { name: tag.name.clone(), depth: 1, is_first: true, is_title: false })
    }

    pub(super) fn start(&mut self, tag: &Tag<'_>) {
        self.is_title = self.is_first && self.name == "svg" && tag.name == "title";
        self.is_first = false;
        if tag.name == self.name && !tag.is_closed {
            self.depth += 1;
        }
    }

    /// Returns whether an end tag closes it.
    pub(super) fn end(&mut self, name: &str) -> bool {
        self.depth -= usize::from(name == self.name);
        self.depth == 0
    }
}
