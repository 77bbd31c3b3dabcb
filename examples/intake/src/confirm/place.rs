//! The places of a note, and in which of them the person lives.

use std::sync::LazyLock;

use regex::Regex;

use super::note::{Run, clause_before};
use super::people::People;
use super::{Stated, doubt};

/// What precedes the city where a person lives.
static HOME: LazyLock<Regex> = pattern!(
    r"(?xi)(?:\b(?:lives|living|I\ live|ha(?:s|ve)\ lived|resides|residing|based|settled)(?:\ [\p{Ll}'’]+){0,5}\ (?:in|at)
    |\bresident\ (?:of|in)|\b(?:moved|relocated)(?:\ from\ [^.,;:]+)?\ to|\b(?:his|her|my|their)\ home\ in
    |\b(?:home|house|flat|place|address|city|town)(?:\ now|\ still)?(?:\ is|['’]s)(?:\ now|\ still)?(?:\ in)?
    |\b(?:city|home|address|town|lives\ in):)\ $"
);

/// What precedes the city of an introduction: "She is from", "aged 40, of".
static ORIGIN: LazyLock<Regex> =
    pattern!(r"(?i)(?:[,)]|\bis|\bcomes?|\d|\bold(?: \w+)?|\bnamed [\p{L} -]+) (?:from|of) $");

/// Returns the city where the person lives, or `None` if the note names no city.
pub(super) fn city<'a>(note: &str, runs: &[Run<'a>], people: &People<'_>) -> Stated<&'a str> {
    let homes: Vec<_> = runs.iter().filter_map(|run| Some((*run, home_start(note, *run)?))).collect();
    if homes.is_empty() {
        return city_of_origin(note, runs, people);
    }
    let own: Vec<_> = homes.iter().filter(|(_, start)| people.is_about_person(*start)).map(|(run, _)| *run).collect();
    let mut stated: Vec<_> = own.iter().filter(|run| !is_uncertain(note, **run)).map(|run| run.text).collect();
    stated.dedup();
    let is_clear = own.iter().all(|run| stated.contains(&run.text) || is_negated(note, *run));
    match stated.as_slice() {
        [city] if is_clear && !homes.iter().any(|(run, _)| is_district(note, runs, *run, people)) => Ok(Some(city)),
        _ => doubt("city", homes.iter().map(|(run, _)| run.text)),
    }
}

/// Returns the city in a note that states no home.
fn city_of_origin<'a>(note: &str, runs: &[Run<'a>], people: &People<'_>) -> Stated<&'a str> {
    let is_named = |run: &Run<'_>| people.named.contains(&run.start);
    let places: Vec<_> = runs.iter().filter(|run| is_place(note, **run) && !is_named(run)).copied().collect();
    match places.as_slice() {
        [] if people.others.is_empty() && people.unclear.is_empty() => Ok(None),
        [only] if is_origin(note, *only, people) && !is_uncertain(note, *only) => Ok(Some(only.text)),
        _ => doubt("city", places.iter().chain(&people.others).chain(&people.unclear).map(|run| run.text)),
    }
}

/// Whether `run` follows words such as "in".
pub(super) fn is_place(note: &str, run: Run<'_>) -> bool {
    static PREPOSITION: LazyLock<Regex> = pattern!(
        r"\b(?:in|from|near|at|of|nor|between|to|on|via|outside|opposite) (?:the )?(?:\p{Lu}[\w-]*(?: \p{Lu}[\w-]*)*, )?$"
    );
    PREPOSITION.is_match(&note[..run.start]) || home_start(note, run).is_some()
}

/// Returns the byte at which the words before `run` begin that make it a home.
pub(super) fn home_start(note: &str, run: Run<'_>) -> Option<usize> {
    static DETOUR: LazyLock<Regex> = pattern!(r" (?:who|and|but|near|outside|works?|born|until|not) ");
    HOME.find(&note[..run.start]).filter(|found| !DETOUR.is_match(found.as_str())).map(|found| found.start())
}

fn is_origin(note: &str, run: Run<'_>, people: &People<'_>) -> bool {
    ORIGIN.is_match(&note[..run.start]) && people.is_about_person(run.start)
}

/// Whether another place follows `run`, such as the city of a district.
fn is_district(note: &str, runs: &[Run<'_>], run: Run<'_>, people: &People<'_>) -> bool {
    let next = runs.iter().find(|next| next.start > run.start && &note[run.end()..next.start] == ", ");
    next.is_some_and(|next| !people.named.contains(&next.start))
}

/// Whether the words before `run` deny, doubt or postpone.
fn is_uncertain(note: &str, run: Run<'_>) -> bool {
    static UNCERTAIN: LazyLock<Regex> = pattern!(
        r"(?xi)\b(?:was|were|former\w*|or|may|might|maybe|perhaps|probably|about|around|almost|nearly|will|hop\w+|plan\w*
        |guess|think\w*|if|would|wants?|move|moving|until)\b|['’]ll\b"
    );
    UNCERTAIN.is_match(clause_before(note, run.start)) || is_negated(note, run)
}

fn is_negated(note: &str, run: Run<'_>) -> bool {
    static NEGATION: LazyLock<Regex> = pattern!(r"(?i)\b(?:not?|nor|never|used to)\b|n['’]t\b");
    NEGATION.is_match(clause_before(note, run.start))
}
