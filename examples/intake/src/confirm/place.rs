//! The places of a note, and in which of them the person lives.

use std::sync::LazyLock;

use regex::Regex;

use super::note::{Run, clause_before};
use super::people::{People, is_opener};
use super::{Stated, agrees, contains, doubt, is_withheld};

/// What precedes the city where a person lives.
static HOME: LazyLock<Regex> = pattern!(
    r"(?xi)(?:(?:\b(?:lives?|resides)|(?:^|[^\p{L}\ ]\ ?|\b(?:is|am|are|both|now|still|and|been)\ )
    (?:living|residing|resident|based))(?:\ and\ works)?(?:\ [\p{Ll}'’/]+){0,5}\ in(?:\ the\ (?:city|town)\ of)?
    |(?:^|[^-]\b)(?:resident|citizen)\ of
    |\bmoved\ from\ [^.,;:]+\ to|\b(?:home|address|house|flat)(?:\ (?:now|still))*(?:\ is|['’]s)(?:\ (?:now|still))*\ in
    |\b(?:ha(?:s|ve)|makes?)\ (?:an?|his|her|their|my)\ (?:own\ )?(?:home|house|flat|place)\ in
    |\b(?:home|address|city|town|residence)\ as
    |(?:^|[^\p{L}\ ]\ ?|\b(?:STOP|private|permanent|present|current|his|her|my|whose)\ )
    (?:home|address|city|town|lives|res|residence)
    (?:\ (?:now|still|is|address|city|town|of\ residence))*(?:(?:\ in|\.)?\ ?[:=])?
    |\b(?:lives|home\ is|of\ residence:?)|\bres\.)\ $"
);

/// What precedes a city that is mostly, but not always the home.
static STAY: LazyLock<Regex> = pattern!(
    r"(?xi)(?:\b(?:ha(?:s|ve)\ lived|living|based|settled)(?:\ [\p{Ll}'’/]+){0,3}\ in
    |(?:\b(?:s?he|they|I|who|family|(?-i:\p{Lu}\p{L}+))(?:\ ha(?:s|ve))?|[,)])\ moved\ to
    |(?:^|[^\p{L}\ ]\ ?|\b(?:his|her|their|my|its|at|home|stop|and)\ )
    (?:home|house|flat|place|address|residence)(?:\ (?:now|still|is))*(?:\ in)?|\bhome\ to)\ $"
);

/// Words of change anywhere in a note: what it states may have been.
static CHANGED: LazyLock<Regex> = pattern!(
    r"(?xi)\b(?:g[ai]v\w+\ (?:up|notice)|let\ go|washed|sold|left\ (?:it\b|(?-i:\p{Lu}))|evict\w+|burn\w*|flood\w*|former\w*|ex-
    |used\ to|(?:until|till)\ (?:last|s?he|\d)|originally|previous\w*|grew|born|birth|native|raised|abroad
    |somewhere|billing|delivery|departure|holiday|between\ homes)"
);

/// A home without a capital letter, or with an abbreviation.
static LIVES_IN: LazyLock<Regex> = pattern!(r"(?i)\b(?:lives?|living|based|home|resid\w+)(?: \p{Ll}+)? in \w");

/// What follows it: "resident", "-based", "is her home", "where she lives".
static IS_HOME: LazyLock<Regex> = pattern!(
    r"(?xi)^(?:\ resident|-based|(?:\ is)?(?:\ (?:his|her|their|my))?\ home|\ is\ (?:his|her|my)\ (?:city|town)
    |(?:,\ the\ (?:city|town)|,\ that(?:['’]s|\ is)|,|\ is)?\ where\ (?:\w+\ )?(?:s?he|they|I)\ (?:\w+\ )?(?:lives?|resides
    |(?:is|has|been)\ (?:living|lived)))\b"
);

/// What precedes the city of an introduction: "She is from", "aged 40, of".
static ORIGIN: LazyLock<Regex> = pattern!(
    r"(?i)(?:(?:[,)]|, an? [\p{Ll} ]+|\bs?he(?: is|['’]s)|\bcomes?|\d|\bold(?: \w+)?) (?:from|of)|(?:\d|\d\)|\bold) ?[,–—-]) $"
);

/// Returns the city where the person lives, or `None` if the note names no city or denies that it does.
///
/// A home is confirmed if the person has no other one, and if the model read it or the note mentions no change; an
/// origin, such as "from Bath", if the model read it or the note names no other place; the only place of a simple note
/// if the model read it.
pub(super) fn city<'a>(note: &str, runs: &[Run<'a>], people: &People<'_>, proposed: &str) -> Stated<&'a str> {
    let own = |start: Option<usize>, run: &Run<'_>| {
        start.is_some_and(|start| people.is_about_person(start) && !is_uncertain(note, *run))
    };
    let homes: Vec<_> = runs.iter().filter(|run| own(home_start(note, **run), run)).collect();
    let origins = runs.iter().filter(|run| own(origin_start(note, **run, people), run));
    let places: Vec<_> = runs.iter().filter(|run| is_place(note, **run) && !people.named.contains(run)).collect();
    let is_home = !homes.is_empty();
    let mut cities = if is_home { homes } else { origins.collect() };
    cities.dedup_by_key(|run| run.text);
    let is_withheld =
        is_withheld(note, "(?:fixed|permanent) home|address|abode|residence|where s?he lives|home (?:city|town)");
    let only = only_place(note, runs, people);
    // "District, City" and "City, Region" look the same.
    let is_first = |run: &Run<'_>| {
        runs.iter().any(|next| note.get(run.end()..next.start) == Some(", ") && !people.named.contains(next))
    };
    match cities.as_slice() {
        [city] if is_first(city) && !contains(proposed, city.text) => doubt("city", [city.text].into_iter()),
        [_] if is_withheld || !is_home && CHANGED.is_match(note) => doubt("city", [cities[0].text].into_iter()),
        [city] if is_home && !CHANGED.is_match(note) || agrees(proposed, city.text) || places.len() <= 1 => {
            Ok(Some(city.text))
        }
        [] if only.is_some_and(|run| agrees(proposed, run.text)) => Ok(only.map(|run| run.text)),
        [] if is_withheld => Ok(None),
        [] if places.is_empty() && !LIVES_IN.is_match(note) && people.is_alone() && !contains(note, proposed) => {
            Ok(None)
        }
        _ => doubt("city", places.iter().map(|run| run.text).chain(contains(note, proposed).then_some(proposed))),
    }
}

/// Returns the only place of a simple note, if a word such as "living" is in its sentence.
fn only_place<'a>(note: &str, runs: &[Run<'a>], people: &People<'_>) -> Option<Run<'a>> {
    static HOME_WORD: LazyLock<Regex> = pattern!(
        r"(?xi)\b(?:lives?|living|resid\w+|hometown|based
        |(?:his|her|my|whose|home)\ (?:home|house|flat|place|address|city|town))\b"
    );
    let mut others = runs.iter().filter(|run| !people.named.contains(run) && !is_opener(note, **run));
    let (Some(run), None) = (others.next(), others.next()) else { return None };
    let before = note[..run.start].rsplit(['.', '!', '?', ';']).next()?;
    let after = note[run.end()..].split(['.', '!', '?', ';']).next()?;
    let is_home = HOME_WORD.is_match(before) || HOME_WORD.is_match(after);
    let is_clear = people.is_simple() && !CHANGED.is_match(note) && !is_uncertain(note, *run);
    (is_home && is_clear).then_some(*run)
}

/// Whether `run` follows words such as "in".
pub(super) fn is_place(note: &str, run: Run<'_>) -> bool {
    static PREPOSITION: LazyLock<Regex> = pattern!(r"(?:\b(?:from|of|nor|between|to|on|for) (?:the )?|\d, )$");
    PREPOSITION.is_match(&note[..run.start]) || is_inside(note, run)
}

/// A street or a house.
static STREET: LazyLock<Regex> = pattern!(r" (?:St|Rd|Street|Road|Lane|Avenue|House|Hall|Court|Lodge|Hotel|Hospital)$");

/// Whether `run` is a place and cannot be a person.
pub(super) fn is_inside(note: &str, run: Run<'_>) -> bool {
    static PREPOSITION: LazyLock<Regex> = pattern!(r"\b(?:in|near|at|via|outside|opposite) (?:the )?$");
    PREPOSITION.is_match(&note[..run.start]) || is_home(note, run) || STREET.is_match(run.text)
}

/// Whether `run` is stated as a home.
pub(super) fn is_home(note: &str, run: Run<'_>) -> bool {
    home_start(note, run).is_some() || is_stay(note, run)
}

/// Returns the byte at which the words begin that make `run` a home.
pub(super) fn home_start(note: &str, run: Run<'_>) -> Option<usize> {
    static DETOUR: LazyLock<Regex> =
        pattern!(r" (?:who|and [^w]\S*|but|near|outside|born|until|not|during|term|often|mostly) ");
    let before =
        HOME.find(&note[..run.start]).filter(|found| !DETOUR.is_match(found.as_str())).map(|found| found.start());
    before.or(IS_HOME.is_match(&note[run.end()..]).then_some(run.start))
}

/// What follows the city of an introduction: "a Bath man".
static PEOPLE: LazyLock<Regex> = pattern!(r"^ (?:man|woman|lady|gentleman|boy|girl)\b");

/// Whether `run` is mostly the home.
fn is_stay(note: &str, run: Run<'_>) -> bool {
    STAY.is_match(&note[..run.start]) && !note[run.end()..].starts_with(" was ")
}

/// Returns the start of `run` if it introduces the person: "Ann Hill of Bath", "Ann Hill, Bath, 34", "is from Bath".
fn origin_start(note: &str, run: Run<'_>, people: &People<'_>) -> Option<usize> {
    let follows = |name: &Run<'_>| {
        [Some(" of "), Some(" from "), Some(" is from "), Some(", ")].contains(&note.get(name.end()..run.start))
    };
    let is_origin = ORIGIN.is_match(&note[..run.start])
        || PEOPLE.is_match(&note[run.end()..])
        || is_stay(note, run)
        || people.named.iter().any(follows);
    (is_origin && !people.named.contains(&run)).then_some(run.start)
}

/// Whether the words before `run` deny, doubt or postpone, or a genitive follows.
fn is_uncertain(note: &str, run: Run<'_>) -> bool {
    static UNCERTAIN: LazyLock<Regex> = pattern!(
        r"(?xi)\b(?:was|were|former\w*|previous|or|may|might|maybe|perhaps|probably|about|around|almost|nearly|will|hop\w+
        |plan\w*|guess|think\w*|if|would|wants?|move|moving|sold|left|work|office|holiday|second|not?|nor|never|used\ to
        |wish\w*|old\ (?:home|house|flat|place|address))\b
        |['’]ll\b|n['’]t\b"
    );
    static ENDED: LazyLock<Regex> = pattern!(
        r"(?x)^['’]|^(?:\ [^\s.,!?;]+){0,3}\ (?:no\ (?:more|longer)|then|later|anymore|and\ (?:to|in)|weeks?|summer|winter
        |but\ s?he\ (?:has\ )?left)\b"
    );
    let (before, after) = (clause_before(note, run.start), &note[run.end()..]);
    let is_ending = after.starts_with(" until ") && !before.ends_with("lives in ");
    STREET.is_match(run.text) || UNCERTAIN.is_match(before) || ENDED.is_match(after) || is_ending
}
