//! Which spans of a note may be the name of the person it is about.

use super::cue::is_place;
use super::relation::is_others;
use super::span::{is_part, spans};
use super::text::{begins_sentence, narrow, range};

/// Returns the spans that may be the name, those of several words first, where `city` is said to be the city.
///
/// There are none where the only capitalised words are places.
pub(super) fn names<'a>(note: &'a str, city: &str) -> Vec<&'a str> {
    let mut names = spans(note);
    names.retain(|span| !is_place(note, span));
    let is_several = |span: &&str| span.contains(' ');
    if names.iter().any(is_several) {
        names.retain(|span| is_several(span) || !opens_sentence(note, span));
    }
    let names = narrow(names, |span| !is_others(note, span));
    let names = narrow(names, |span| !is_quoted(note, span) && !is_heading(note, span));
    // Where both are said to be the same span, the first is the name, and the city is wrong.
    let first = names.first().copied();
    let mut names = narrow(names, |span| Some(*span) == first || !is_part(span, city));
    names.sort_by_key(|span| !is_several(span));
    names
}

/// Returns the name that begins with `name` among those of several words, since a note may come back to the first.
pub(super) fn full_name(note: &str, name: &str, city: &str) -> Option<String> {
    let begins = |full: &&str| full.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
    names(note, city).into_iter().find(begins).map(str::to_owned)
}

/// Whether `span`, a slice of `note`, is a word before a colon, which says for whom or what the rest is.
pub(super) fn is_heading(note: &str, span: &str) -> bool {
    let rest = &note[range(note, span).end..];
    let next = rest.strip_prefix(':').map(str::trim_start);
    !span.contains(' ') && next.is_some_and(|next| next.starts_with(char::is_uppercase))
}

/// Whether `span`, a slice of `note`, opens a sentence and goes on in small letters or with a number, as a plain word would.
pub(super) fn opens_sentence(note: &str, span: &str) -> bool {
    let range = range(note, span);
    let rest = &note[range.end..];
    let goes_on = rest.trim_start_matches([',', ' ']).starts_with(char::is_lowercase);
    let counts = rest.trim_start_matches(' ').starts_with(|c: char| c.is_ascii_digit());
    begins_sentence(note, range.start) && (goes_on || counts)
}

/// Whether `span`, a slice of `note`, is in quotes, as a nickname is.
fn is_quoted(note: &str, span: &str) -> bool {
    let range = range(note, span);
    note[..range.start].ends_with(['"', '“']) && note[range.end..].starts_with(['"', '”'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_no_name() {
        assert_eq!(names("Living in Oslo, Ann from Bath", ""), ["Ann"]);
        assert!(names("its ann from Bath", "").is_empty());
    }

    #[test]
    fn a_word_that_opens_a_sentence_is_no_name_beside_a_full_one() {
        assert_eq!(names("Lost wallet of one Ann Hill. Bus 12 is late.", ""), ["Ann Hill"]);
        assert_eq!(names("Ann is 7", ""), ["Ann"]);
    }

    #[test]
    fn a_relation_a_nickname_and_a_heading_are_no_names() {
        assert_eq!(names("For Susan: Ann Hill, with her son Tim", ""), ["Ann Hill"]);
        assert_eq!(names("All call her \"Kit\"; Ann Hill is 7", ""), ["Ann Hill"]);
    }

    #[test]
    fn the_city_is_no_name_unless_it_comes_first() {
        assert_eq!(names("Ann Hill, 7, Bath", "Bath"), ["Ann Hill"]);
        assert_eq!(names("Ann Hill, 7, Bath", "Ann Hill"), ["Ann Hill", "Bath"]);
    }
}
