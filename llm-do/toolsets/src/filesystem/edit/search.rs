//! Finds the places of an edit, and computes the text after it. Models do not see line ends, so both ignore them.

use std::borrow::Cow;

use super::{Edit, Occurrences};
use crate::filesystem::fault::{Fault, shown};
use crate::filesystem::line_ends::{Unified, around, with_line_ends_of};
use crate::filesystem::locate::Place;

/// The texts of an edit, and the text in which the old text is searched.
pub(super) struct EditSearch<'a> {
    before: &'a str,
    /// The text with `\n` at the end of each line, unless the edit is literal.
    unified: Unified<'a>,
    pub(super) old: Cow<'a, str>,
    pub(super) new: Cow<'a, str>,
    /// Whether the old text occurs with its `\r\n` in the file, so that the new text is literal too.
    is_literal: bool,
}

impl<'a> EditSearch<'a> {
    pub(super) fn new(before: &'a str, edit: Edit<'a>) -> Self {
        let gives_crlf = edit.old.contains("\r\n");
        let is_literal = gives_crlf && before.contains(edit.old);
        let own = |part: &'a str| if gives_crlf && !is_literal { Unified::new(part).text } else { Cow::Borrowed(part) };
        let unified = if is_literal { Unified::literal(before) } else { Unified::new(before) };
        Self { before, unified, old: own(edit.old), new: own(edit.new), is_literal }
    }

    /// Returns the text in which the old text is searched.
    pub(super) fn text(&self) -> &str {
        &self.unified.text
    }

    /// Returns the text after the edit, of at most `max` bytes, with the places of the replacements.
    pub(super) fn replaced(&self, found: Occurrences, place: &Place, max: u64) -> Result<(String, Occurrences), Fault> {
        let places = self.text().match_indices(&*self.old).map(|(start, _)| (start, start + self.old.len()));
        self.check_size(found.count, place, max)?;
        Ok((checked(self.with(places, &self.new), place, max)?, found))
    }

    /// Like [`replaced`](Self::replaced), for an old text that ends with a line break, in a file without a final one,
    /// which reading does not show.
    pub(super) fn replaced_at_end(&self, place: &Place, max: u64) -> Option<Result<(String, Occurrences), Fault>> {
        let text = self.text();
        let old = self.old.strip_suffix('\n').filter(|old| !old.is_empty() && !text.ends_with('\n'))?;
        let start = text.strip_suffix(old)?.len();
        let new = self.new.strip_suffix("\r\n").or_else(|| self.new.strip_suffix('\n')).unwrap_or(&self.new);
        let line = text[..start].matches('\n').count() + 1;
        let found = Occurrences { count: 1, lines: vec![line] };
        let after = self.with([(start, text.len())].into_iter(), new);
        Some(self.check_size(1, place, max).and_then(|()| checked(after, place, max)).map(|after| (after, found)))
    }

    /// Returns the text with `new` at these places.
    fn with(&self, places: impl Iterator<Item = (usize, usize)>, new: &str) -> String {
        let (before, mut after, mut copied) = (self.before, String::new(), 0);
        for (start, end) in places {
            let (start, end) = (self.unified.original(start), self.unified.original(end));
            after.push_str(&before[copied..start]);
            let literal = Cow::Borrowed(new);
            let ended = if self.is_literal {
                literal
            } else {
                with_line_ends_of(&before[start..end], new, around(before, end))
            };
            after.push_str(&ended);
            copied = end;
        }
        after.push_str(&before[copied..]);
        after
    }

    /// Checks the minimum size of the file after the edit, before its text is allocated.
    fn check_size(&self, times: usize, place: &Place, max: u64) -> Result<(), Fault> {
        let breaks = if self.unified.is_original() { 0 } else { self.old.matches('\n').count() };
        let size = |bytes: usize| bytes as u128 * times as u128;
        let least = (self.before.len() as u128).saturating_sub(size(self.old.len() + breaks)) + size(self.new.len());
        let least = u64::try_from(least).unwrap_or(u64::MAX);
        if least <= max { Ok(()) } else { Err(too_large(least, place, max)) }
    }
}

fn checked(after: String, place: &Place, max: u64) -> Result<String, Fault> {
    let bytes = after.len() as u64;
    if bytes <= max { Ok(after) } else { Err(too_large(bytes, place, max)) }
}

fn too_large(bytes: u64, place: &Place, max: u64) -> Fault {
    Fault::TooLarge { path: shown(&place.path), bytes, max, hint: " after the edit" }
}
