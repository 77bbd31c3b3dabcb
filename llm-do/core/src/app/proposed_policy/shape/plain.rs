//! Parts of paths and addresses that can be written in one way only.

/// The pattern of a plain part.
pub(super) const PART: &str = "[A-Za-z0-9_][A-Za-z0-9_.+@=,-]*";
/// The maximum length of a plain text, in bytes.
pub(super) const MAX_LENGTH: usize = 1024;

/// Returns whether a part of a path is plain: it begins with a letter, a digit or `_`, so it is neither `.` nor `..`, and has no
/// percent-encoding, separators, spaces or letters outside of ASCII.
pub(super) fn is_plain(part: &str) -> bool {
    let is_first = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'_';
    let is_other = |letter: u8| is_first(letter) || b".+@=,-".contains(&letter);
    part.bytes().next().is_some_and(is_first) && part.bytes().all(is_other)
}

/// Splits a text into plain parts.
pub(super) fn parts(text: &str) -> Option<Vec<&str>> {
    let parts: Vec<_> = text.split('/').collect();
    parts.iter().all(|part| is_plain(part)).then_some(parts)
}

/// Returns the first parts that all have in common.
pub(super) fn common<'t>(all: &[&[&'t str]]) -> Vec<&'t str> {
    let Some((first, rest)) = all.split_first() else { return Vec::new() };
    let is_common = |place: usize, part: &str| rest.iter().all(|other| other.get(place) == Some(&part));
    first.iter().enumerate().take_while(|(place, part)| is_common(*place, part)).map(|(_, part)| *part).collect()
}

/// Returns a plain text as a pattern that matches it alone.
pub(super) fn escaped(text: &str) -> String {
    text.replace('.', r"\.").replace('+', r"\+")
}
