//! Differences between two versions of a file, for approvers; limited in bytes and in time.

mod changed_lines;

use std::fmt::Write;
use std::time::Duration;

use llm_do_core::observe::journal::digest;
use serde_json::Value;
use similar::udiff::UnifiedHunkHeader;
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff};

use self::changed_lines::ChangedLines;
use super::{line_ends, text};

/// The maximum number of characters of a difference.
const MAX_CHARS: usize = 100_000;

/// The maximum size of the compared lines, old and new together, in bytes: 1 MiB. Larger differences are described by
/// their line numbers.
const MAX_COMPARED: usize = 1 << 20;

/// The time limit of the search for the smallest difference; after that, a larger one is shown.
const DEADLINE: Duration = Duration::from_secs(1);

/// Shows how a file changes, including byte order marks and line ends, which a line difference does not show.
pub(super) fn changed_text(path: &str, old: &str, new: &str) -> String {
    let mut parts = line_ends::changes(old, new);
    parts.push(changed(path, old, new));
    parts.join("\n")
}

/// Shows how a file changes.
fn changed(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return format!("no change: `{path}` already has this content");
    }
    let changed = ChangedLines::between(old, new);
    if changed.old.len() + changed.new.len() > MAX_COMPARED {
        return described(path, old, new, &changed);
    }
    let mut shown = ShownDiff::new(path, path);
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_lines(changed.old, changed.new);
    for hunk in diff.unified_diff().context_radius(changed_lines::CONTEXT).iter_hunks() {
        let moved: Vec<_> = hunk.ops().iter().map(|op| moved(*op, changed.before)).collect();
        shown.push(&format!("{}\n", UnifiedHunkHeader::new(&moved)));
        for change in hunk.iter_changes() {
            shown.line(sign(change.tag()), change.value());
        }
    }
    shown.finish()
}

/// Shows a file that is new.
pub(super) fn created(path: &str, new: &str) -> String {
    if new.is_empty() {
        return format!("new empty file `{path}`");
    }
    whole("/dev/null", path, '+', new)
}

/// Shows a file that is deleted.
pub(super) fn deleted(path: &str, old: &str) -> String {
    if old.is_empty() {
        return format!("deletes the empty file `{path}`");
    }
    whole(path, "/dev/null", '-', old)
}

/// Shows all lines as added or removed.
fn whole(from: &str, to: &str, sign: char, content: &str) -> String {
    let lines = content.split_inclusive('\n').count();
    let range = if lines == 1 { "1".to_owned() } else { format!("1,{lines}") };
    let mut shown = ShownDiff::new(from, to);
    shown.push(&if sign == '+' { format!("@@ -0,0 +{range} @@\n") } else { format!("@@ -{range} +0,0 @@\n") });
    content.split_inclusive('\n').for_each(|line| shown.line(sign, line));
    shown.finish()
}

/// Describes a difference that is too large to compute.
fn described(path: &str, old: &str, new: &str, changed: &ChangedLines<'_>) -> String {
    let lines = |part: &str| text::count(text::lines(part).count(), "line");
    format!(
        "the difference of `{path}` is too large to show: from line {} on, {} changed to {}; the file goes from {} to {} bytes; digest \
         of the new content: {}",
        changed.before + 1,
        lines(changed.old),
        lines(changed.new),
        old.len(),
        new.len(),
        digest(&Value::from(new))
    )
}

/// Returns an operation with its line numbers in the file.
fn moved(op: DiffOp, before: usize) -> DiffOp {
    match op {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + before, new_index: new_index + before, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + before, old_len, new_index: new_index + before }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + before, new_index: new_index + before, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old_index + before, old_len, new_index: new_index + before, new_len }
        }
    }
}

fn sign(tag: ChangeTag) -> char {
    match tag {
        ChangeTag::Equal => ' ',
        ChangeTag::Delete => '-',
        ChangeTag::Insert => '+',
    }
}

/// A difference so far; the part beyond its maximum is only counted.
struct ShownDiff {
    text: String,
    left: usize,
    missing: usize,
}

impl ShownDiff {
    fn new(from: &str, to: &str) -> Self {
        let mut shown = Self { text: String::new(), left: MAX_CHARS, missing: 0 };
        shown.push(&format!("--- {from}\n+++ {to}\n"));
        shown
    }

    fn line(&mut self, sign: char, line: &str) {
        self.push(sign.encode_utf8(&mut [0; 4]));
        self.push(line);
        if !line.ends_with('\n') {
            self.push("\n\\ No newline at end of file\n");
        }
    }

    fn push(&mut self, part: &str) {
        let (shown, missing) = text::cut(part, self.left);
        self.text.push_str(shown);
        self.missing += missing;
        self.left -= if missing > 0 { self.left } else { part.chars().count() };
    }

    fn finish(mut self) -> String {
        self.text.truncate(self.text.trim_end_matches('\n').len());
        if self.missing > 0 {
            _ = write!(self.text, "\n… {} more characters of the difference are not shown", self.missing);
        }
        self.text
    }
}
