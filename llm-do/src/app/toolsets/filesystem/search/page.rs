//! The answer of a search: a page of matches, with the lines around them.

use std::fmt::Write;
use std::path::Path;

use super::{Query, Skipped};
use crate::app::toolsets::filesystem::list::{listed, notes, page};
use crate::app::toolsets::filesystem::text::{self, count};
use crate::app::toolsets::filesystem::walk::Omitted;
use crate::base::printable::printable;

/// The maximum number of characters shown of a line.
const MAX_WIDTH: usize = 400;

/// The maximum number of lines shown before and after a match.
const MAX_CONTEXT: usize = 20;

/// The length of an answer in bytes after which no further match is added.
const MAX_ANSWER: usize = 100_000;

/// A page of matches.
pub(super) struct Page {
    text: String,
    /// The 0-based number of the first match.
    first: usize,
    /// The number after that of the last match.
    end: usize,
    context: usize,
    /// The number of matches so far.
    total: usize,
    /// The number of files with a match.
    files: usize,
}

impl Page {
    pub(super) fn new(query: &Query<'_>) -> Self {
        let (first, end) = page(query.offset, query.limit);
        let context = (query.context as usize).min(MAX_CONTEXT);
        Self { text: String::new(), first, end, context, total: 0, files: 0 }
    }

    /// Adds the matching lines of a file, by their 0-based numbers.
    pub(super) fn push(&mut self, path: &Path, lines: &[&[u8]], matches: &[usize]) {
        if matches.is_empty() {
            return;
        }
        self.files += 1;
        let mut next = 0;
        for (index, line) in matches.iter().enumerate() {
            if (self.first..self.end).contains(&self.total) {
                if next == 0 {
                    let _ = writeln!(self.text, "{}", listed(path));
                }
                next = self.around(lines, *line, matches.get(index + 1).copied(), next);
                if self.text.len() >= MAX_ANSWER {
                    self.end = self.total + 1;
                }
            }
            self.total += 1;
        }
    }

    /// Adds a match with its context, from line `next` on; returns the next line that was not shown.
    fn around(&mut self, lines: &[&[u8]], matched: usize, following: Option<usize>, next: usize) -> usize {
        let start = matched.saturating_sub(self.context).max(next);
        if next > 0 && start > next && self.context > 0 {
            self.text.push_str("  --\n");
        }
        // The next match shows itself.
        let end = (matched + self.context + 1).min(lines.len()).min(following.unwrap_or(usize::MAX));
        for (number, line) in lines.iter().enumerate().take(end).skip(start) {
            let mark = if number == matched { ':' } else { '-' };
            let _ = writeln!(self.text, "{:>6}{mark} {}", number + 1, shortened(line));
        }
        end.max(matched + 1)
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
        if skipped.is_stopped {
            notes.push("[stopped after 512 MiB: choose a folder as `path`, or a `pattern`]".to_owned());
        }
        text.push_str(&notes.join("\n"));
        text
    }
}

/// Returns a line as text, cut if it is long.
fn shortened(line: &[u8]) -> String {
    let line = printable(&String::from_utf8_lossy(line));
    let (shown, missing) = text::cut(&line, MAX_WIDTH);
    if missing > 0 { format!("{shown}… {missing} more characters") } else { shown.to_owned() }
}
