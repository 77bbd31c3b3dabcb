//! `read_file`: numbered lines of a text file, or only its text.

use std::fmt::Write;
use std::iter;

use super::fault::{Fault, shown};
use super::open;
use super::root::Root;
use super::text;

/// The part of a file to read.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    /// The 1-based first line.
    pub(super) offset: u32,
    /// The maximum number of lines.
    pub(super) limit: Option<u32>,
    /// The 1-based first character in the first line.
    pub(super) column: u32,
    /// The maximum number of characters.
    pub(super) max_chars: u32,
    /// Whether only the text is returned.
    pub(super) raw: bool,
}

/// Reads a part of a file.
pub(super) fn read(root: &Root, path: &str, part: LineRange) -> Result<String, Fault> {
    let place = open::find(root, path)?;
    let content = open::read(&place, root.max_bytes, "; search it with `search_files`")?;
    let whole = text::decode(content.bytes, &place.path)?;
    let whole = text::without_mark(&whole);
    if !part.raw {
        return Ok(numbered(whole, part));
    }
    let text = raw(whole, part);
    let chars = text.chars().count();
    // A note on omitted text would look like text of the file.
    if chars > part.max_chars as usize {
        return Err(Fault::TooLong { path: shown(&place.path), chars, max: part.max_chars });
    }
    Ok(text)
}

/// Returns the part unchanged, with its line ends.
fn raw(whole: &str, part: LineRange) -> String {
    let limit = part.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut lines = whole.split_inclusive('\n').skip(part.offset.max(1) as usize - 1).take(limit);
    let first = lines.next().unwrap_or_default();
    let rest = first.char_indices().nth(part.column.max(1) as usize - 1).map_or("", |(start, _)| &first[start..]);
    iter::once(rest).chain(lines).collect()
}

/// Returns the lines with their numbers, and a note on omitted text.
fn numbered(whole: &str, part: LineRange) -> String {
    let total = text::lines(whole).count();
    let first = part.offset.max(1) as usize;
    if total == 0 {
        return "[the file is empty]".to_owned();
    }
    if first > total {
        return format!("[line {first} is past the end: the file has {}]", text::count(total, "line"));
    }
    let mut page = LinePage { text: String::new(), left: part.max_chars as usize, last: first - 1, cut: None };
    let limit = part.limit.map_or(usize::MAX, |limit| limit as usize);
    let mut column = part.column.max(1) as usize;
    for (index, line) in text::lines(whole).enumerate().skip(first - 1).take(limit) {
        if !page.push(index + 1, line, column) {
            break;
        }
        column = 1;
    }
    page.finish(first, total)
}

/// The lines so far.
struct LinePage {
    text: String,
    /// The number of characters that still fit.
    left: usize,
    /// The number of the last line, complete or cut.
    last: usize,
    /// The shown part of the last line, if it is cut.
    cut: Option<Cut>,
}

/// A part of a line, in 1-based columns.
struct Cut {
    from: usize,
    to: usize,
    total: usize,
}

impl LinePage {
    /// Adds a line from a column on; returns whether more lines fit.
    fn push(&mut self, number: usize, line: &str, column: usize) -> bool {
        let total = line.chars().count();
        let rest = line.char_indices().nth(column - 1).map_or("", |(start, _)| &line[start..]);
        let (shown, missing) = text::cut(rest, self.left);
        // Only the first line is cut: later lines are complete on the next page.
        if missing > 0 && !self.text.is_empty() {
            return false;
        }
        let _ = writeln!(self.text, "{number:>6}\t{shown}");
        self.last = number;
        self.cut = (missing > 0).then_some(Cut { from: column, to: total - missing, total });
        // A line break counts too.
        self.left = self.left.saturating_sub(shown.chars().count() + 1);
        missing == 0 && self.left > 0
    }

    fn finish(mut self, first: usize, total: usize) -> String {
        let last = self.last;
        if let Some(Cut { from, to, total: characters }) = self.cut {
            let _ = write!(
                self.text,
                "[line {last} of {total}: characters {from} to {to} of {characters}; \
                 to go on, set `offset` to {last} and `column` to {}]",
                to + 1
            );
        } else if last < total {
            let _ = write!(self.text, "[lines {first} to {last} of {total}; to go on, set `offset` to {}]", last + 1);
        } else if first > 1 {
            let _ = write!(self.text, "[lines {first} to {last} of {total}]");
        } else {
            self.text.pop();
        }
        self.text
    }
}
