//! Values of the kinds that keys take; a value of another kind is noted and left out.

use std::time::Duration;

use super::yaml::{Content, Node};
use super::{At, Fault};
use crate::args::time;

/// The faults of a file, and the key whose value is being read.
pub(super) struct Reader<'a> {
    pub(super) key: &'a str,
    pub(super) faults: &'a mut Vec<Fault>,
}

impl Reader<'_> {
    /// Notes a fault at `line`.
    pub(super) fn fault<T>(&mut self, line: usize, message: impl Into<String>) -> Option<T> {
        self.faults.push(Fault::new(line, message));
        None
    }

    fn wrong<T>(&mut self, expected: &str, node: &Node) -> Option<T> {
        let message = format!("`{}` takes {expected}, not {}", self.key, node.content.kind());
        self.fault(node.line, message)
    }

    /// Reads a text that says something.
    pub(super) fn text(&mut self, node: Node) -> Option<At<String>> {
        let line = node.line;
        match node.content {
            Content::Text(text) if text.trim().is_empty() => self.fault(line, format!("`{}` is blank", self.key)),
            Content::Text(value) => Some(At { line, value }),
            _ => self.wrong("a text", &node),
        }
    }

    /// Reads a list of texts, none of which comes twice.
    pub(super) fn texts(&mut self, node: Node) -> Option<At<Vec<At<String>>>> {
        let line = node.line;
        let Content::List(items) = node.content else { return self.wrong("a list of texts", &node) };
        let mut texts: Vec<At<String>> = Vec::new();
        for item in items {
            match item.content {
                Content::Text(value) if !value.trim().is_empty() => {
                    if texts.iter().any(|other| other.value == value) {
                        self.fault::<()>(item.line, format!("`{}` lists `{value}` twice", self.key));
                    } else {
                        texts.push(At { line: item.line, value });
                    }
                }
                Content::Text(_) => drop(self.fault::<()>(item.line, format!("`{}` lists a blank text", self.key))),
                other => drop(self.fault::<()>(item.line, format!("`{}` lists texts, not {}", self.key, other.kind()))),
            }
        }
        Some(At { line, value: texts })
    }

    /// Reads a list of one text or more.
    pub(super) fn some_texts(&mut self, node: Node) -> Option<At<Vec<At<String>>>> {
        if matches!(&node.content, Content::List(items) if items.is_empty()) {
            return self.fault(node.line, format!("`{}` is an empty list; leave it out", self.key));
        }
        self.texts(node)
    }

    /// Reads a number of something.
    pub(super) fn count<T: TryFrom<i128>>(&mut self, node: &Node) -> Option<At<T>> {
        let expected = "a whole number from 0";
        match node.content {
            Content::Whole(whole) => {
                let value = T::try_from(whole).ok();
                if value.is_none() {
                    let message = format!("`{}` takes {expected}, not a number such as {whole}", self.key);
                    self.fault::<()>(node.line, message);
                }
                value.map(|value| At { line: node.line, value })
            }
            _ => self.wrong(expected, node),
        }
    }

    /// Reads a number, with or without a fraction.
    pub(super) fn number(&mut self, node: &Node) -> Option<f64> {
        match node.content {
            #[expect(clippy::cast_precision_loss, reason = "settings of models are small")]
            Content::Whole(whole) => Some(whole as f64),
            Content::Number(number) => Some(number),
            _ => self.wrong("a number", node),
        }
    }

    /// Reads yes or no.
    pub(super) fn flag(&mut self, node: &Node) -> Option<bool> {
        match node.content {
            Content::Flag(flag) => Some(flag),
            _ => self.wrong("`true` or `false`", node),
        }
    }

    /// Reads a time: a number of seconds, or a text.
    pub(super) fn time(&mut self, node: &Node) -> Option<At<Duration>> {
        let time = match &node.content {
            Content::Whole(seconds) => u64::try_from(*seconds).ok().map(Duration::from_secs),
            Content::Number(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            Content::Text(text) => match time::read(text) {
                Ok(time) => Some(time),
                Err(fault) => return self.fault(node.line, format!("`{}`: {fault}", self.key)),
            },
            _ => return self.wrong("a time such as `30s`, or a number of seconds", node),
        };
        if time.is_none() {
            self.fault::<()>(node.line, format!("`{}` takes a number of seconds from 0", self.key));
        }
        time.map(|value| At { line: node.line, value })
    }

    /// Reads a map.
    pub(super) fn map(&mut self, node: Node) -> Option<Vec<(super::yaml::Name, Node)>> {
        match node.content {
            Content::Map(entries) => Some(entries),
            _ => self.wrong("a map", &node),
        }
    }

    /// Reads a schema, which is a map.
    pub(super) fn schema(&mut self, node: Node) -> Option<Node> {
        match node.content {
            Content::Map(_) => Some(node),
            _ => self.wrong("a JSON schema, a map", &node),
        }
    }
}
