//! Which spans of a note may be the city where its person lives now.

use super::person::{is_heading, is_others, is_relation, opens_sentence};
use super::span::{has_title, is_part, spans};
use super::text::{after, any_of, before, end_with, narrow, range};

/// Words of living somewhere.
const HOME: [&str; 22] = [
    "address",
    "apartment",
    "base",
    "based",
    "flat",
    "home",
    "hometown",
    "house",
    "live",
    "lives",
    "living",
    "livs",
    "now",
    "remained",
    "reside",
    "residence",
    "resident",
    "resides",
    "residing",
    "settled",
    "settles",
    "stayed",
];

/// Words of having been somewhere before.
const FORMER: [&str; 12] = [
    "born",
    "childhood",
    "fled",
    "former",
    "formerly",
    "grew",
    "left",
    "native",
    "originally",
    "previously",
    "raised",
    "used",
];

/// Words of being somewhere for a while, or of going there.
const AWAY: [&str; 40] = [
    "commutes",
    "commuting",
    "course",
    "dreams",
    "flew",
    "flies",
    "flight",
    "fly",
    "flying",
    "go",
    "goes",
    "going",
    "holiday",
    "job",
    "near",
    "office",
    "once",
    "studied",
    "studies",
    "study",
    "studying",
    "ticket",
    "train",
    "travel",
    "traveling",
    "travelled",
    "travelling",
    "travels",
    "trip",
    "vacation",
    "visit",
    "visited",
    "visiting",
    "visits",
    "way",
    "weekend",
    "work",
    "worked",
    "working",
    "works",
];

/// What stands before a person.
const PERSON_CUES: [&str; 5] = ["by", "called", "named", "than", "with"];

/// The words between "moved" and the place.
const MOVES: [&str; 3] = ["moved", "moved to", "relocated to"];

/// Returns the spans that may be the city, where `name` is said to be the name.
pub(super) fn places<'a>(note: &'a str, name: &str) -> Vec<&'a str> {
    let mut places = spans(note);
    places.retain(|span| !is_of_name(note, span, name) && !is_person(note, span));
    let places = narrow(places, |span| !opens_sentence(note, span) && !is_heading(note, span));
    let places = narrow(places, |span| !is_former(note, span) && !is_of_another(note, span));
    let places = narrow(places, |span| is_home(note, span) || !is_away(note, span));
    narrow(places, |span| is_home(note, span))
}

/// Whether `span`, a slice of `note`, is (part of) `name`; a part after "in" or the like is a place of that name.
fn is_of_name(note: &str, span: &str, name: &str) -> bool {
    let lead = lead(note, span);
    span == name || is_part(span, name) && !end_with(&["for", "from", "in", "of", "to"], &lead)
}

/// Whether what stands before `span`, a slice of `note`, makes it a person ("by X", "her son X").
fn is_person(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let related = lead.last().is_some_and(|word| is_relation(word));
    related || end_with(&PERSON_CUES, &lead) || is_others(note, span) || has_title(note, span)
}

/// Whether the person has left `span`, a slice of `note` ("born in X", "used to live in X", "moved from X").
fn is_former(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let moved_from = any_of(&["moved", "came", "relocated"], &lead) && end_with(&["from"], &lead);
    moved_from || any_of(&FORMER, &lead)
}

/// Whether `span`, a slice of `note`, is where a relation of the person lives ("her sister lives in X").
fn is_of_another(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let home = lead.iter().position(|word| HOME.contains(&word.as_str())).unwrap_or(0);
    lead[..home].iter().any(|word| is_relation(word))
}

/// Whether the person is in `span`, a slice of `note`, for a while only, or not yet.
fn is_away(note: &str, span: &str) -> bool {
    any_of(&AWAY, &lead(note, span))
}

/// Whether the note says that the person lives in `span`, a slice of it.
fn is_home(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let next = after(note, range(note, span).end);
    let is_after = next.first().is_some_and(|word| word == "is") && any_of(&["home"], &next[..next.len().min(3)]);
    let moved = any_of(&MOVES, &lead) && end_with(&["to"], &lead);
    is_after || moved || any_of(&HOME, &lead) && !end_with(&["near"], &lead)
}

/// Returns the words between `span`, a slice of `note`, and the span or the clause before it.
fn lead(note: &str, span: &str) -> Vec<String> {
    let start = range(note, span).start;
    let previous = spans(note).into_iter().map(|other| range(note, other).end).rfind(|end| *end <= start);
    let from = previous.unwrap_or_default();
    before(&note[from..], start - from)
}
