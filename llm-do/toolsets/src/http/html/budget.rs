//! Limits the text of an outline: each line also costs its indentation and the width of its table, which the author can
//! multiply.

use super::WIDTH;
use super::element::Kind;

/// The maximum of the text, in bytes of estimated lines.
const MAX_TEXT: usize = 16 << 20;
/// The memory of a line besides its text, in bytes.
const LINE: usize = 64;
/// The minimum average length of a wrapped line, in bytes.
const WRAPPED: usize = 40;
/// The width of a list or quote around a line, in bytes.
const INDENT: usize = 4;

/// The remaining budget for the text of an outline.
#[derive(Debug)]
pub(super) struct Budget {
    left: usize,
    /// Whether the budget was insufficient.
    pub(super) is_spent: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: MAX_TEXT, is_spent: false }
    }
}

impl Budget {
    /// Spends the cost of an element, or of a text that begins a line.
    pub(super) fn spend(&mut self, bytes: usize, open: &[(&'static str, Kind)]) {
        self.take(bytes + line(open));
    }

    /// Spends the cost of a text, and returns the part of it that the budget covers.
    pub(super) fn text<'t>(&mut self, text: &'t str, open: &[(&'static str, Kind)]) -> &'t str {
        let line = line(open);
        let is_pre = open.iter().any(|(name, _)| *name == "pre");
        // A character reference may be a line break.
        let is_break = |next: char| is_pre && matches!(next, '\n' | '\r' | '&');
        let mut end = 0;
        for part in text.split_inclusive(is_break) {
            let lines = part.len() / WRAPPED + usize::from(part.ends_with(is_break));
            // A tab is eight columns wide.
            let tabs = if is_pre { part.bytes().filter(|byte| *byte == b'\t').count() } else { 0 };
            if !self.take(part.len() + 8 * tabs + lines * line) {
                break;
            }
            end += part.len();
        }
        &text[..end]
    }

    fn take(&mut self, cost: usize) -> bool {
        match self.left.checked_sub(cost) {
            Some(left) => self.left = left,
            None => self.is_spent = true,
        }
        !self.is_spent
    }
}

/// Returns the cost of a line in these elements, in addition to its text.
fn line(open: &[(&'static str, Kind)]) -> usize {
    let width = |kind: &Kind| match kind {
        Kind::List | Kind::Quote | Kind::Description => INDENT,
        _ => 0,
    };
    let is_table = open.iter().any(|(_, kind)| *kind == Kind::Table);
    let table = if is_table { WIDTH } else { 0 };
    LINE + table + open.iter().map(|(_, kind)| width(kind)).sum::<usize>()
}
