//! Classifies a place by the words around it: home, origin, former home or short stay.

use super::relation::is_relation;
use super::span::{spans, start};
use super::text::{after, any_of, before, end_with, lower_words, range};

/// Words of living in a place.
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

/// Words of having lived in a place before.
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

/// Words of a short stay in a place, or of going there.
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

/// Messages, which are from a person and not from a place.
const MESSAGES: [&str; 12] = [
    "booking",
    "call",
    "email",
    "enquiry",
    "heard",
    "letter",
    "mail",
    "message",
    "note",
    "order",
    "request",
    "voicemail",
];

/// Words directly before a place of origin.
const ORIGIN: [&str; 8] =
    ["am from", "comes from", "hails from", "he's from", "i'm from", "im from", "is from", "she's from"];

/// Whether the person has left `span`, a slice of `note` ("born in X", "used to live in X", "moved from X").
pub(super) fn is_former(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let moved_from = any_of(&["came", "moved", "relocated"], &lead) && end_with(&["from"], &lead);
    moved_from || any_of(&FORMER, &lead)
}

/// Whether `span`, a slice of `note`, is where a relation of the person lives ("her sister lives in X").
pub(super) fn is_home_of_relation(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let home = lead.iter().position(|word| HOME.contains(&word.as_str())).unwrap_or(0);
    lead[..home].iter().any(|word| is_relation(word))
}

/// Whether the person only visits `span`, a slice of `note`, or is not there yet.
pub(super) fn is_away(note: &str, span: &str) -> bool {
    any_of(&AWAY, &lead(note, span))
}

/// Whether the person lives in `span`, a slice of `note` ("lives in X", "moved to X", "X is home").
pub(super) fn is_home(note: &str, span: &str) -> bool {
    let lead = lead(note, span);
    let next = after(note, range(note, span).end);
    let is_after = next.first().is_some_and(|word| word == "is") && any_of(&["home"], &next[..next.len().min(3)]);
    let moved = any_of(&["moved", "relocated"], &lead) && end_with(&["to"], &lead);
    is_after || moved || end_with(&["now in"], &lead) || any_of(&HOME, &lead) && !end_with(&["near"], &lead)
}

/// Whether the person is from `span`, a slice of `note`.
pub(super) fn is_origin(note: &str, span: &str) -> bool {
    end_with(&ORIGIN, &lead(note, span))
}

/// Whether the words before `span`, a slice of `note`, mark it as a place ("in X", ", of X", "he comes from X").
pub(super) fn is_place(note: &str, span: &str) -> bool {
    let begin = range(note, span).start;
    let lead = lead(note, span);
    let previous = spans(note).into_iter().rfind(|other| range(note, other).end <= begin);
    match lead.last().map_or("", String::as_str) {
        "in" | "near" => true,
        "of" => lead.len() == 1,
        "from" => !any_of(&MESSAGES, &lower_words(&note[..begin])),
        "to" if lead.len() == 1 => previous.is_some_and(|previous| is_former(note, previous)),
        _ => is_home(note, span),
    }
}

/// Returns the words before `span`, a slice of `note`, back to the previous span or clause, without titles.
pub(super) fn lead(note: &str, span: &str) -> Vec<String> {
    let start = start(note, span);
    let previous = spans(note).into_iter().map(|other| range(note, other).end).rfind(|end| *end <= start);
    let from = previous.unwrap_or_default();
    before(&note[from..], start - from)
}
