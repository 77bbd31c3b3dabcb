//! Finds the spans of a note that can be the person's name.

use super::cue::is_place;
use super::relation::is_other_person;
use super::span::{is_part, spans};
use super::text::{begins_sentence, narrow, range};

/// Returns the spans that can be the name if `city` is the city, those of several words first.
///
/// The list is empty if all capitalised words are places.
pub(super) fn names<'a>(note: &'a str, city: &str) -> Vec<&'a str> {
    let mut names = spans(note);
    names.retain(|span| !is_place(note, span));
    let has_several_words = |span: &&str| span.contains(' ');
    if names.iter().any(has_several_words) {
        names.retain(|span| has_several_words(span) || !opens_sentence(note, span));
    }
    let names = narrow(names, |span| !is_other_person(note, span));
    let names = narrow(names, |span| !is_quoted(note, span) && !is_heading(note, span));
    // If name and city are the same span, the first span is the name, and the city is wrong.
    let first = names.first().copied();
    let mut names = narrow(names, |span| Some(*span) == first || !is_part(span, city));
    names.sort_by_key(|span| !has_several_words(span));
    names
}

/// Returns the longer name of the note that begins with `name`, since a note may repeat only the first name.
pub(super) fn full_name(note: &str, name: &str, city: &str) -> Option<String> {
    let begins = |full: &&str| full.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
    names(note, city).into_iter().find(begins).map(str::to_owned)
}

/// Whether `span`, a slice of `note`, is a heading: one word before a colon and a capitalised word.
pub(super) fn is_heading(note: &str, span: &str) -> bool {
    let rest = &note[range(note, span).end..];
    let next = rest.strip_prefix(':').map(str::trim_start);
    !span.contains(' ') && next.is_some_and(|next| next.starts_with(char::is_uppercase))
}

/// Whether `span`, a slice of `note`, begins a sentence and continues in lower case or with a number, as ordinary words do.
pub(super) fn opens_sentence(note: &str, span: &str) -> bool {
    let range = range(note, span);
    let rest = &note[range.end..];
    let is_lowercase_next = rest.trim_start_matches([',', ' ']).starts_with(char::is_lowercase);
    let is_number_next = rest.trim_start_matches(' ').starts_with(|c: char| c.is_ascii_digit());
    begins_sentence(note, range.start) && (is_lowercase_next || is_number_next)
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
    fn a_place_is_not_a_name() {
        assert_eq!(names("Living in Oslo, Ann from Bath", ""), ["Ann"]);
        assert!(names("its ann from Bath", "").is_empty());
    }

    #[test]
    fn a_word_that_begins_a_sentence_is_not_a_name_beside_a_full_name() {
        assert_eq!(names("Lost wallet of one Ann Hill. Bus 12 is late.", ""), ["Ann Hill"]);
        assert_eq!(names("Ann is 7", ""), ["Ann"]);
    }

    #[test]
    fn relations_nicknames_and_headings_are_not_names() {
        assert_eq!(names("For Susan: Ann Hill, with her son Tim", ""), ["Ann Hill"]);
        assert_eq!(names("All call her \"Kit\"; Ann Hill is 7", ""), ["Ann Hill"]);
    }

    #[test]
    fn the_city_is_not_a_name_unless_it_comes_first() {
        assert_eq!(names("Ann Hill, 7, Bath", "Bath"), ["Ann Hill"]);
        assert_eq!(names("Ann Hill, 7, Bath", "Ann Hill"), ["Ann Hill", "Bath"]);
    }
}
