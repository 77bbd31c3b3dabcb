//! The answer of a search: a page of matches, with the lines around them.

use std::fmt::Write;
use std::path::Path;

use llm_do_core::base::printable::printable;

use super::{Query, Skipped, without_end};
use crate::filesystem::list::{listed, notes, page};
use crate::filesystem::text::{self, count};
use crate::filesystem::walk::{MAX_TIME, Omitted};

/// The maximum number of characters shown of a line.
const MAX_WIDTH: usize = 400;

/// The maximum number of lines shown before and after a match.
const MAX_CONTEXT: usize = 20;

/// The length of an answer in bytes from which no further match is added.
const MAX_ANSWER: usize = 100_000;

/// A line that matches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Match {
    /// The 0-based line number.
    pub(super) line: usize,
    /// The offset of the line in the file, in bytes.
    pub(super) start: usize,
}

/// A page of matches.
pub(super) struct MatchPage {
    text: String,
    /// The 0-based number of the first match.
    first: usize,
    /// The exclusive 0-based number of the last match.
    end: usize,
    context: usize,
    /// The number of matches so far.
    total: usize,
    /// The number of files with a match.
    files: usize,
}

impl MatchPage {
    pub(super) fn new(query: &Query<'_>) -> Self {
        let (first, end) = page(query.offset, query.limit);
        let context = (query.context as usize).min(MAX_CONTEXT);
        Self { text: String::new(), first, end, context, total: 0, files: 0 }
    }

    /// Returns whether [`push`](Self::push) needs the match with this 0-based number in the next file: it is on the
    /// page, or directly after it.
    pub(super) fn needs(&self, number: usize) -> bool {
        (self.first..=self.end).contains(&(self.total + number))
    }

    /// Adds the matching lines of a file: the needed ones of `count`.
    pub(super) fn push(&mut self, path: &Path, bytes: &[u8], matches: &[Match], count: usize) {
        if count == 0 {
            return;
        }
        self.files += 1;
        let first = self.first.max(self.total);
        self.total += count;
        let mut next = 0;
        for (index, matched) in matches.iter().enumerate() {
            if first + index >= self.end {
                return;
            }
            if next == 0 {
                let _ = writeln!(self.text, "{}", listed(path));
            }
            next = self.around(bytes, *matched, matches.get(index + 1).map(|following| following.line), next);
            if self.text.len() >= MAX_ANSWER {
                self.end = first + index + 1;
            }
        }
    }

    /// Adds a match with its context, from line `next` on; returns the next line that is not shown yet.
    fn around(&mut self, bytes: &[u8], matched: Match, following: Option<usize>, next: usize) -> usize {
        let Match { line, start } = matched;
        let first = line.saturating_sub(self.context).max(next);
        if next > 0 && first > next && self.context > 0 {
            self.text.push_str("  --\n");
        }
        // The next match adds its own line.
        let end = (line + self.context + 1).min(following.unwrap_or(usize::MAX));
        let mut number = first;
        let shown = bytes[lines_before(bytes, start, line - first)..].split_inclusive(|byte| *byte == b'\n');
        for text in shown.take(end - first) {
            let mark = if number == line { ':' } else { '-' };
            let _ = writeln!(self.text, "{:>6}{mark} {}", number + 1, shortened(without_end(text)));
            number += 1;
        }
        number.max(line + 1)
    }

    pub(super) fn finish(self, omitted: &Omitted, skipped: Skipped) -> String {
        let Self { mut text, first, end, total, files, .. } = self;
        let mut notes = notes(first, end, total, "match", omitted);
        if total > 0 {
            notes.push(format!("[{} in {}]", count(total, "match"), count(files, "file")));
        }
        let skipped_files =
            [(skipped.large, "too large"), (skipped.binary, "binary"), (skipped.unreadable, "not readable")];
        for (number, why) in skipped_files.into_iter().filter(|(number, _)| *number > 0) {
            notes.push(format!("[{} not searched: {why}]", count(number, "file")));
        }
        if skipped.long_lines > 0 {
            notes.push(format!("[{} not searched: too long]", count(skipped.long_lines, "line")));
        }
        if omitted.is_late {
            let seconds = MAX_TIME.as_secs();
            notes.push(format!(
                "[stopped after {seconds} s: choose a folder as `path`, a `pattern`, or a simpler expression]"
            ));
        }
        if skipped.is_stopped {
            notes.push("[stopped after 512 MiB: choose a folder as `path`, or a `pattern`]".to_owned());
        }
        text.push_str(&notes.join("\n"));
        text
    }
}

/// Returns the start of the line that is this many lines before the line at `start`.
fn lines_before(bytes: &[u8], start: usize, lines: usize) -> usize {
    let mut breaks = (0..start).rev().filter(|byte| bytes[*byte] == b'\n');
    breaks.nth(lines).map_or(0, |line_break| line_break + 1)
}

/// Returns a line as text, cut if it is long.
fn shortened(line: &[u8]) -> String {
    // A character has at most 4 bytes.
    let mut end = line.len().min(4 * (MAX_WIDTH + 1));
    while end < line.len() && end > 0 && line[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    let (line, beyond) = line.split_at(end);
    let beyond = String::from_utf8_lossy(beyond).chars().count();
    let line = printable(&String::from_utf8_lossy(line));
    let (shown, missing) = text::cut(&line, MAX_WIDTH);
    let missing = missing + beyond;
    if missing > 0 { format!("{shown}… {missing} more characters") } else { shown.to_owned() }
}
