//! Finds the spans of a note that can be the city where the person lives now.

use super::cue::{is_away, is_former, is_home, is_home_of_relation, is_origin, lead};
use super::person::{is_heading, opens_sentence};
use super::relation::{is_other_person, is_relation};
use super::span::{is_part, spans, start};
use super::text::{end_with, narrow, range};

/// Words directly before a person.
const PERSON_CUES: [&str; 5] = ["by", "called", "named", "than", "with"];

/// Returns the spans that can be the city if `name` is the name.
pub(super) fn places<'a>(note: &'a str, name: &str) -> Vec<&'a str> {
    let mut places = spans(note);
    places.retain(|span| !is_of_name(note, span, name) && !is_person(note, span));
    let places = narrow(places, |span| !opens_sentence(note, span) && !is_heading(note, span));
    let places = narrow(places, |span| !is_former(note, span) && !is_home_of_relation(note, span));
    let places = narrow(places, |span| is_home(note, span) || !is_away(note, span));
    let places = narrow(places, |span| is_home(note, span));
    narrow(places, |span| is_home(note, span) || is_origin(note, span))
}

/// Whether `span`, a slice of `note`, is (part of) `name`; a part after "in", "from" or "to" is a place with that name.
fn is_of_name(note: &str, span: &str, name: &str) -> bool {
    let lead = lead(note, span);
    span == name || is_part(span, name) && !end_with(&["for", "from", "in", "of", "to"], &lead)
}

/// Whether the words before `span`, a slice of `note`, mark it as a person ("by X", "her son X").
fn is_person(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let related = lead.last().is_some_and(|word| is_relation(word));
    related
        || end_with(&PERSON_CUES, &lead)
        || is_other_person(note, span)
        || start(note, span) < range(note, span).start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_home_is_not_the_city() {
        assert_eq!(places("Ann, born in Bath, left York for Leeds", "Ann"), ["Leeds"]);
        assert_eq!(places("Ann moved from Bath to York", "Ann"), ["York"]);
        assert_eq!(places("Ann used to live in Bath; now York is home", "Ann"), ["York"]);
    }

    #[test]
    fn a_visited_place_is_not_the_city_if_there_is_a_home() {
        assert_eq!(places("Ann works in Bath but lives in York", "Ann"), ["York"]);
        assert_eq!(places("Ann is visiting from Bath", "Ann"), ["Bath"]);
    }

    #[test]
    fn the_home_of_a_relation_is_not_the_city() {
        assert_eq!(places("Her sister lives in Bath, but Ann is from York", "Ann"), ["York"]);
    }

    #[test]
    fn a_person_is_not_the_city() {
        assert_eq!(places("Referred by Tim Lee. Ann, 9, York. Seen by Dr. Cole", "Ann"), ["York"]);
    }

    #[test]
    fn the_place_of_origin_is_the_city_if_no_home_is_named() {
        assert_eq!(places("Ann ran in Bath and is from York", "Ann"), ["York"]);
    }
}
