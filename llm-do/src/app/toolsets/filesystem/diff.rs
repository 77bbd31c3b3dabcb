//! Differences between two versions of a file, as an approver reads them.

use std::time::Duration;

use similar::{Algorithm, TextDiff};

use super::text;

/// The maximum number of characters of a difference.
const MAX_CHARS: usize = 100_000;

/// How long the smallest difference is looked for; a larger one is shown after that.
const DEADLINE: Duration = Duration::from_secs(1);

/// Shows how a file changes.
pub(super) fn changed(path: &str, old: &str, new: &str) -> String {
    if old == new {
        return format!("no change: `{path}` already has this content");
    }
    unified(path, path, old, new)
}

/// Shows a file that is new.
pub(super) fn created(path: &str, new: &str) -> String {
    if new.is_empty() {
        return format!("new empty file `{path}`");
    }
    unified("/dev/null", path, "", new)
}

/// Shows a file that is deleted.
pub(super) fn deleted(path: &str, old: &str) -> String {
    if old.is_empty() {
        return format!("deletes the empty file `{path}`");
    }
    unified(path, "/dev/null", old, "")
}

fn unified(from: &str, to: &str, old: &str, new: &str) -> String {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).timeout(DEADLINE).diff_lines(old, new);
    let whole = diff.unified_diff().context_radius(3).header(from, to).to_string();
    let (shown, missing) = text::cut(whole.trim_end_matches('\n'), MAX_CHARS);
    match missing {
        0 => shown.to_owned(),
        _ => format!("{shown}\n… {missing} more characters of the difference are not shown"),
    }
}
