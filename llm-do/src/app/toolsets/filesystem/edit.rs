//! `edit_file`: replaces text in a file.

use super::diff;
use super::fault::{Fault, shown};
use super::locate::Place;
use super::open;
use super::replace::{lock, replace};
use super::root::Root;
use super::text;
use super::write::check_writable;

/// The maximum number of lines that an error lists.
const MAX_LISTED: usize = 10;

/// A replacement.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Edit<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// Whether all occurrences are replaced; if not, there must be exactly one.
    pub(super) all: bool,
}

/// An edit, computed but not written.
struct Edited {
    place: Place,
    metadata: cap_std::fs::Metadata,
    before: String,
    after: String,
    /// The 1-based lines at which the replaced texts began.
    lines: Vec<usize>,
}

/// Edits the file, and returns what happened.
pub(super) fn edit(root: &Root, path: &str, edit: Edit<'_>) -> Result<String, Fault> {
    let _changes = lock();
    let edited = apply(root, path, edit)?;
    root.check_unchanged(&("edit", path, edit), &edited.place)?;
    replace(&edited.place, edited.after.as_bytes(), Some(&edited.metadata))?;
    let times = text::count(edited.lines.len(), "occurrence");
    Ok(format!("replaced {times} in `{}`, {}", shown(&edited.place.path), at_lines(&edited.lines)))
}

/// Shows what [`edit`] would change.
pub(super) fn preview(root: &Root, path: &str, edit: Edit<'_>) -> Result<String, Fault> {
    let edited = apply(root, path, edit)?;
    root.remember(&("edit", path, edit), Some(&edited.place));
    Ok(diff::changed(&shown(&edited.place.path), &edited.before, &edited.after))
}

fn apply(root: &Root, path: &str, edit: Edit<'_>) -> Result<Edited, Fault> {
    root.rules.check_changes()?;
    let place = open::find(root, path)?;
    root.rules.check_change(&place.path, false)?;
    let content = open::read(&place, root.max_bytes, "")?;
    check_writable(&place, &content.metadata)?;
    let before = text::decode(content.bytes, &place.path)?;
    let (after, lines) = replaced(&before, edit, &place)?;
    if after.len() as u64 > root.max_bytes {
        let (bytes, max) = (after.len() as u64, root.max_bytes);
        return Err(Fault::TooLarge { path: shown(&place.path), bytes, max, hint: " after the edit" });
    }
    Ok(Edited { place, metadata: content.metadata, before, after, lines })
}

/// Returns the text after the edit, and the lines at which replaced texts began.
fn replaced(before: &str, edit: Edit<'_>, place: &Place) -> Result<(String, Vec<usize>), Fault> {
    let invalid = |text: &str| Err(Fault::Invalid(text.to_owned()));
    if edit.old.is_empty() {
        return invalid("empty `old_text`; give the text to replace, or use `write_file`");
    }
    // Models write `\n`, also for a file whose lines end with `\r\n`.
    let is_crlf = text::has_crlf(before) && !edit.old.contains("\r\n");
    let own = |part: &str| if is_crlf { text::with_lf(part).replace('\n', "\r\n") } else { part.to_owned() };
    let (old, new) = (own(edit.old), own(edit.new));
    if old == new {
        return invalid("`old_text` and `new_text` are equal, so the edit would change nothing");
    }
    let lines = lines_of(before, &old);
    match (lines.len(), edit.all) {
        (0, _) => Err(not_found(before, &old, place)),
        (1, _) | (_, true) => Ok((before.replace(&old, &new), lines)),
        (times, false) => Err(Fault::Invalid(format!(
            "`old_text` occurs {times} times in `{}`, {}; include more of the text around it, or set `replace_all`",
            shown(&place.path),
            at_lines(&lines)
        ))),
    }
}

/// Returns the 1-based line of each occurrence.
fn lines_of(text: &str, part: &str) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let starts = text.match_indices(part).map(|(start, _)| {
        line += text[counted..start].matches('\n').count();
        counted = start;
        line
    });
    starts.collect()
}

fn at_lines(lines: &[usize]) -> String {
    let listed: Vec<_> = lines.iter().take(MAX_LISTED).map(usize::to_string).collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    match lines.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        Some(more) => format!("at {word} {} and {more} more", listed.join(", ")),
        None => format!("at {word} {}", listed.join(", ")),
    }
}

/// Returns the error for a text that is not there, with the line that differs in white space only, if there is one.
fn not_found(before: &str, old: &str, place: &Place) -> Fault {
    let path = shown(&place.path);
    let wanted: Vec<_> = text::lines(old).map(str::trim).filter(|line| !line.is_empty()).collect();
    let present = text::lines(before).map(str::trim).enumerate().filter(|(_, line)| !line.is_empty());
    let present: Vec<_> = present.collect();
    let alike = present.windows(wanted.len().max(1)).find(|lines| lines.iter().map(|(_, line)| line).eq(wanted.iter()));
    let hint = match alike {
        Some(lines) => format!("a text that differs only in white space begins at line {}", lines[0].0 + 1),
        None => "read the file again, and copy the text exactly, without line numbers".to_owned(),
    };
    Fault::Invalid(format!("`old_text` was not found in `{path}`; {hint}"))
}
