//! The lines between the first and the last change of a file.

use crate::filesystem::text;

/// The number of lines shown before and after a change.
pub(super) const CONTEXT: usize = 3;

/// The lines from the first change to the last one, with the shown lines around them.
pub(super) struct ChangedLines<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// The number of equal lines before them.
    pub(super) before: usize,
}

impl<'a> ChangedLines<'a> {
    pub(super) fn between(old: &'a str, new: &'a str) -> Self {
        let (start, end) = equal_bytes(old.as_bytes(), new.as_bytes());
        let start = context_start(old, start);
        let end = context_end(old, old.len() - end);
        let after = old.len() - end;
        Self { old: &old[start..end], new: &new[start..new.len() - after], before: text::lines(&old[..start]).count() }
    }
}

/// Returns the number of equal bytes at the start and, of the remaining bytes, at the end.
fn equal_bytes(old: &[u8], new: &[u8]) -> (usize, usize) {
    let equal = |(one, other): &(&u8, &u8)| one == other;
    let start = old.iter().zip(new).take_while(equal).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(equal).count();
    (start, end)
}

/// Returns the start of the lines that are shown before the change at `at`.
fn context_start(text: &str, at: usize) -> usize {
    let mut breaks = (0..at).rev().filter(|byte| text.as_bytes()[*byte] == b'\n');
    breaks.nth(CONTEXT).map_or(0, |line_break| line_break + 1)
}

/// Returns the end of the lines that are shown after the change that ends at `at`.
fn context_end(text: &str, at: usize) -> usize {
    let mut breaks = (at..text.len()).filter(|byte| text.as_bytes()[*byte] == b'\n');
    breaks.nth(CONTEXT).map_or(text.len(), |line_break| line_break + 1)
}
