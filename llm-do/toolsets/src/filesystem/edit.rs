//! `edit_file`: replaces text in a file.

mod search;

use self::search::EditSearch;
use super::diff;
use super::fault::{Fault, shown};
use super::locate::Place;
use super::open;
use super::previewed::with_real_path;
use super::replace::{lock, replace};
use super::root::Root;
use super::text;
use super::write::check_writable;

/// The maximum number of lines that an error lists.
const MAX_LISTED: usize = 10;

/// The maximum number of lines that are compared for a hint.
const MAX_COMPARED: usize = 5_000_000;

/// A replacement.
#[derive(Clone, Copy, Debug, Hash)]
pub(super) struct Edit<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// Whether all occurrences are replaced; otherwise, there must be exactly one.
    pub(super) all: bool,
}

/// An edit, computed but not written.
struct Edited {
    place: Place,
    metadata: cap_std::fs::Metadata,
    before: String,
    after: String,
    occurrences: Occurrences,
}

/// The places of the replaced text.
#[derive(Debug, Default)]
struct Occurrences {
    count: usize,
    /// The 1-based line numbers of the first places.
    lines: Vec<usize>,
}

/// Edits the file, and returns what happened.
pub(super) fn edit(root: &Root, path: &str, edit: Edit<'_>) -> Result<String, Fault> {
    let _changes = lock();
    let edited = apply(root, path, edit)?;
    root.check_unchanged(&("edit", path, edit), &[&edited.place.target()], Some(&edited.place))?;
    replace(&edited.place, edited.after.as_bytes(), Some(&edited.metadata))?;
    let times = text::count(edited.occurrences.count, "occurrence");
    Ok(format!("replaced {times} in `{}`, {}", shown(&edited.place.path), edited.occurrences.at_lines()))
}

/// Shows the change that [`edit`] would make.
pub(super) fn preview(root: &Root, path: &str, edit: Edit<'_>) -> Result<String, Fault> {
    let edited = apply(root, path, edit)?;
    let target = edited.place.target();
    root.remember(&("edit", path, edit), &[&target], Some(&edited.place));
    let difference = diff::changed_text(&shown(&target.path), &edited.before, &edited.after);
    Ok(with_real_path(path, &target, &difference))
}

fn apply(root: &Root, path: &str, edit: Edit<'_>) -> Result<Edited, Fault> {
    root.rules.check_changes()?;
    let place = open::find(root, path)?;
    root.rules.check_change(&place.path, false)?;
    let content = open::read(&place, root.max_bytes, "")?;
    check_writable(&place, &content.metadata)?;
    let before = text::decode(content.bytes, &place.path)?;
    let (after, occurrences) = replaced(&before, edit, &place, root.max_bytes)?;
    Ok(Edited { place, metadata: content.metadata, before, after, occurrences })
}

/// Returns the text after the edit, of at most `max` bytes, with the places of the replacements.
fn replaced(before: &str, edit: Edit<'_>, place: &Place, max: u64) -> Result<(String, Occurrences), Fault> {
    let invalid = |text: &str| Err(Fault::Invalid(text.to_owned()));
    if edit.old.is_empty() {
        return invalid("empty `old_text`; give the text to replace, or use `write_file`");
    }
    let search = EditSearch::new(before, edit);
    if search.old == search.new {
        return invalid("`old_text` and `new_text` are equal, so the edit would change nothing");
    }
    let occurrences = Occurrences::find(&search.old, search.text());
    match (occurrences.count, edit.all) {
        (0, _) => {
            let at_end = search.replaced_at_end(place, max);
            at_end.unwrap_or_else(|| Err(not_found(search.text(), &search.old, place)))
        }
        (1, _) | (_, true) => search.replaced(occurrences, place, max),
        (times, false) => Err(Fault::Invalid(format!(
            "`old_text` occurs {times} times in `{}`, {}; include more of the text around it, or set `replace_all`",
            shown(&place.path),
            occurrences.at_lines()
        ))),
    }
}

impl Occurrences {
    fn find(part: &str, text: &str) -> Self {
        let (mut line, mut counted, mut found) = (1, 0, Self::default());
        for (start, _) in text.match_indices(part) {
            found.count += 1;
            if found.lines.len() < MAX_LISTED {
                line += text[counted..start].matches('\n').count();
                counted = start;
                found.lines.push(line);
            }
        }
        found
    }

    fn at_lines(&self) -> String {
        let listed: Vec<_> = self.lines.iter().map(usize::to_string).collect();
        let word = if self.count == 1 { "line" } else { "lines" };
        match self.count - self.lines.len() {
            0 => format!("at {word} {}", listed.join(", ")),
            more => format!("at {word} {} and {more} more", listed.join(", ")),
        }
    }
}

/// Returns the error for a missing text; it names a line that differs only in white space, if any.
fn not_found(before: &str, old: &str, place: &Place) -> Fault {
    let hint = match alike(before, old) {
        Some(line) => format!("a text that differs only in white space begins at line {line}"),
        None => "read the file again, and copy the text exactly, without line numbers".to_owned(),
    };
    Fault::Invalid(format!("`old_text` was not found in `{}`; {hint}", shown(&place.path)))
}

/// Returns the 1-based line at which a text begins that differs only in white space; gives up after [`MAX_COMPARED`] lines.
fn alike(before: &str, old: &str) -> Option<usize> {
    let wanted: Vec<_> = filled(old).map(|(_, line)| line).collect();
    if wanted.is_empty() {
        return None;
    }
    let mut left = MAX_COMPARED;
    let mut rest = filled(before);
    loop {
        let candidate = rest.clone().map(|(_, line)| line);
        let equal = candidate.zip(&wanted).take(left).take_while(|(line, wanted)| line == *wanted).count();
        left = left.checked_sub(equal + 1)?;
        let (line, _) = rest.next()?;
        if equal == wanted.len() {
            return Some(line + 1);
        }
    }
}

/// Returns the lines that are not blank, trimmed, with their 0-based numbers.
fn filled(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let lines = text.lines().map(str::trim).enumerate();
    lines.filter(|(_, line)| !line.is_empty())
}
