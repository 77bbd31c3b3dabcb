//! Which spans of a note may be the name of the person it is about.

use super::span::{is_part, spans};
use super::text::{after, before, begins_sentence, end_with, narrow, range};

/// Words for who somebody is to the person of a note.
const RELATIONS: [&str; 44] = [
    "aunt",
    "boss",
    "boy",
    "boyfriend",
    "brother",
    "carer",
    "child",
    "coach",
    "colleague",
    "cousin",
    "dad",
    "daughter",
    "father",
    "fiancé",
    "fiancée",
    "flatmate",
    "friend",
    "girl",
    "girlfriend",
    "granddad",
    "granddaughter",
    "grandfather",
    "grandma",
    "grandmother",
    "grandson",
    "guardian",
    "husband",
    "manager",
    "mom",
    "mother",
    "mum",
    "neighbor",
    "neighbour",
    "nephew",
    "niece",
    "nurse",
    "partner",
    "roommate",
    "sister",
    "son",
    "spouse",
    "teacher",
    "uncle",
    "wife",
];

/// Words by which a relation is to the person of a note, and not to its writer.
const OWNERS: [&str; 4] = ["her", "his", "their", "whose"];

/// What stands before the name of somebody who is not the person of a note.
const OTHERS: [&str; 6] = ["accompanied by", "married to", "recommended by", "referred by", "sent by", "than"];

/// What brings news from a person, where other things come from a place.
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

/// Returns the spans that may be the name, those of several words first, where `city` is said to be the city.
///
/// There are none where the only capitalised words are a place.
pub(super) fn names<'a>(note: &'a str, city: &str) -> Vec<&'a str> {
    let mut names = spans(note);
    names.retain(|span| !follows_place_cue(note, span));
    let is_several = |span: &&str| span.contains(' ');
    if names.iter().any(is_several) {
        names.retain(|span| is_several(span) || !opens_sentence(note, span));
    }
    let names = narrow(names, |span| !is_others(note, span));
    let names = narrow(names, |span| !is_quoted(note, span) && !is_heading(note, span));
    let mut names = narrow(names, |span| !is_part(span, city));
    names.sort_by_key(|span| !is_several(span));
    names
}

/// Whether `word` says who somebody is to another.
pub(super) fn is_relation(word: &str) -> bool {
    RELATIONS.contains(&word)
}

/// Whether `span`, a slice of `note`, is somebody that the person of the note has to do with ("her son Tim").
pub(super) fn is_others(note: &str, span: &str) -> bool {
    let mut lead = before(note, range(note, span).start);
    if end_with(&OTHERS, &lead) {
        return true;
    }
    while end_with(&["is", "was", "called", "named"], &lead) {
        lead.pop();
    }
    let owner = lead.iter().rev().nth(1).is_some_and(|word| OWNERS.contains(&word.as_str()));
    owner && lead.last().is_some_and(|word| is_relation(word))
}

/// Whether `span`, a slice of `note`, is a word before a colon, which says for whom or what the rest is.
pub(super) fn is_heading(note: &str, span: &str) -> bool {
    let rest = &note[range(note, span).end..];
    let next = rest.strip_prefix(':').map(str::trim_start);
    !span.contains(' ') && next.is_some_and(|next| next.starts_with(char::is_uppercase))
}

/// Whether `span`, a slice of `note`, opens a sentence and goes on in small letters, as a plain word would.
pub(super) fn opens_sentence(note: &str, span: &str) -> bool {
    let range = range(note, span);
    let rest = note[range.end..].trim_start_matches([',', ' ']);
    begins_sentence(note, range.start) && rest.starts_with(char::is_lowercase)
}

/// Whether `span`, a slice of `note`, is in quotes, as a nickname is.
fn is_quoted(note: &str, span: &str) -> bool {
    let range = range(note, span);
    note[..range.start].ends_with(['"', '“']) && note[range.end..].starts_with(['"', '”'])
}

/// Whether what stands before `span`, a slice of `note`, makes it a place ("in X", ", of X", "he comes from X").
fn follows_place_cue(note: &str, span: &str) -> bool {
    let lead = before(note, range(note, span).start);
    let [head @ .., last] = lead.as_slice() else {
        return false;
    };
    match last.as_str() {
        "in" | "near" => true,
        "of" => head.is_empty() || follows_span(note, span),
        "from" => head.last().is_none_or(|word| !MESSAGES.contains(&word.as_str())),
        _ => false,
    }
}

/// Whether only one word parts `span`, a slice of `note`, from another span.
fn follows_span(note: &str, span: &str) -> bool {
    let start = range(note, span).start;
    spans(note)
        .into_iter()
        .map(|other| range(note, other).end)
        .filter(|end| *end < start)
        .any(|end| !note[end..start].contains(',') && after(&note[..start], end).len() == 1)
}
