//! The places of a note, and in which of them the person lives.

use std::sync::LazyLock;

use regex::Regex;

use super::note::{Run, clause_before, is_opener};
use super::people::{People, Subject};
use super::{Found, agrees, contains, denial, denies};

/// What precedes the city where a person lives.
static HOME: LazyLock<Regex> = pattern!(
    r"(?xi)(?:\b(?:lives?|(?:has|have|['’]s|['’]ve)\ (?:\p{Ll}+\ )?lived|living|resid\w+|(?:is|and|now|[^\p{L}\ ])\ based|settled|citizen)
    (?:\ [\p{Ll}'’/]+){0,5}\ (?:in|of|to)(?:\ the\ (?:city|town)\ of)?
    |\bmoved(?:\ back)?\ to|\b(?:ha(?:s|ve)|makes?)\ (?:an?|his|her|their|my)\ (?:own\ )?(?:home|house|flat|place)\ in
    |\b(?:home|house|flat|address|city|town|hometown|residence|res|lives|resides|lvs)
    (?:\ (?:now|still|is|address|city|town|of\ residence|for\ \w+))*(?:['’]s)?(?:,?\ in|\ as)?\ ?[:=–-]?|\bres\.:?)\ $"
);

/// What follows it: "resident", "-based", "is her home", "where she lives".
static IS_HOME: LazyLock<Regex> = pattern!(
    r"(?xi)^(?:\ resident|-based|(?:\ is|,)?(?:\ (?:his|her|their|my))?\ home\b|\ (?:s?he|they)\ lives?\ in\b
    |\ is\ (?:his|her|my)\ (?:city|town)|(?:,\ the\ (?:city|town)|:?,?\ that(?:['’]s|\ is)|,|\ is)?\ where\ (?:[\p{L}'’-]+\ ){0,3}(?:lives?|resides|lived|living))\b"
);

/// What precedes the city of an introduction: "She is from", "aged 40, of", "Ann Hill of", "Ann Hill, 40,".
static ORIGIN: LazyLock<Regex> = pattern!(
    r"(?i)(?:(?:[,)]|, an? [\p{Ll} ]+|\bs?he(?: is|['’]s)|\bcomes?|\d|\bold(?: \w+)?) (?:from|of)|(?:\d|\d\)|\bold) ?[,–—-]) $"
);

/// Returns what the note states about the city where the person lives.
pub(super) fn found<'a>(note: &'a str, runs: &[Run<'a>], people: &People<'_>, read: &str) -> Found<&'a str> {
    static WITHHELD: LazyLock<Regex> = LazyLock::new(|| {
        denial(r"(?:fixed|permanent) home|address|abode|residence|where s?he lives|which town, s?he|home (?:city|town)")
    });
    // The statement begins where the words begin that make it a home.
    let is_home =
        |run: &&Run<'a>| home_start(note, **run).is_some_and(|start| people.subject(start) == Subject::Person);
    let is_origin = |run: &&Run<'a>| is_origin(note, **run, people) && people.subject(run.start) == Subject::Person;
    let certain = || runs.iter().filter(|run| !is_uncertain(note, **run));
    let homes: Vec<_> = certain().filter(is_home).map(|run| run.text).collect();
    let is_possible = |run: &&Run<'_>| {
        (is_place(note, **run) || run.is_one_word() && !is_opener(note, **run))
            && !STREET.is_match(run.text)
            && !people.named.contains(run)
            && (people.subject(run.start) != Subject::Other || agrees(read, run.text))
    };
    let possible: Vec<_> = runs.iter().filter(is_possible).map(|run| run.text).collect();
    let has_home = !homes.is_empty();
    let stated = if has_home { homes } else { certain().filter(is_origin).map(|run| run.text).collect() };
    Found {
        is_withheld: WITHHELD.is_match(note),
        is_in_note: contains(note, read) || LIVES.is_match(note),
        is_clear: match stated.as_slice() {
            [] => !people.are_several() && !denies(note) && LIVES.is_match(note),
            _ => has_home || !denies(note) && possible.len() < 2,
        },
        stated,
        possible,
    }
}

/// Words that a note needs if its only place is the home without a usual form.
static LIVES: LazyLock<Regex> = pattern!(r"(?i)\b(?:liv(?:es?|ing)|resid\w+|home|hometown|house|flat|place|address)\b");

/// Whether `run` follows words such as "in" or is a home or a street.
pub(super) fn is_place(note: &str, run: Run<'_>) -> bool {
    static PREPOSITION: LazyLock<Regex> =
        pattern!(r"(?:\b(?:from|of|nor|between|to|on|for|in|near|at|via|outside|opposite) (?:the )?|\d, )$");
    PREPOSITION.is_match(&note[..run.start]) || is_inside(note, run)
}

/// A street or a house.
static STREET: LazyLock<Regex> =
    pattern!(r" (?:St|Rd|Street|Road|Lane|Avenue|Row|House|Hall|Court|Lodge|Hotel|Hospital)$");

/// Whether `run` is a place and cannot be a person.
pub(super) fn is_inside(note: &str, run: Run<'_>) -> bool {
    static PREPOSITION: LazyLock<Regex> =
        pattern!(r"\b(?:in|near|at|via|outside|opposite|(?:mov\w+|fly\w*|going|back|off) to) (?:the )?$");
    PREPOSITION.is_match(&note[..run.start]) || home_start(note, run).is_some() || STREET.is_match(run.text)
}

/// Returns the byte at which the words begin that make `run` a home.
pub(super) fn home_start(note: &str, run: Run<'_>) -> Option<usize> {
    static DETOUR: LazyLock<Regex> =
        pattern!(r" (?:who|and [^w]\S*|but|near|outside|born|until|not|during|term|often|mostly) ");
    let before = HOME.find(&note[..run.start]).filter(|found| !DETOUR.is_match(found.as_str()));
    before.map(|found| found.start()).or(IS_HOME.is_match(&note[run.end()..]).then_some(run.start))
}

/// Whether `run` introduces the person: "Ann Hill of Bath", "Ann Hill, Bath, 34", "is from Bath".
fn is_origin(note: &str, run: Run<'_>, people: &People<'_>) -> bool {
    let follows = |name: &Run<'_>| {
        [Some(" of "), Some(" from "), Some(" is from "), Some(", ")].contains(&note.get(name.end()..run.start))
    };
    (ORIGIN.is_match(&note[..run.start]) || people.named.iter().any(follows)) && !people.named.contains(&run)
}

/// Whether the words before `run` deny, doubt or postpone, or a genitive follows.
fn is_uncertain(note: &str, run: Run<'_>) -> bool {
    static UNCERTAIN: LazyLock<Regex> = pattern!(
        r"(?xi)\b(?:g[ai]v\w+\ up|somewhere|was|were|former\w*|previous|or|may|might|maybe|perhaps|probably|about|around|near|outside|almost
        |nearly|will|hop\w+|plan\w*|guess|think\w*|if|would|wants?|move|moving|sold|left|work|office|holiday|second|not?|nor|never|used\ to
        |wish\w*|old\ (?:home|house|flat|place|address))\b
        |['’]ll\b|n['’]t\b"
    );
    static ENDED: LazyLock<Regex> = pattern!(
        r"(?x)^['’]|^,?\ or\b|^[^.!?]*\?|^(?:\ [^\s.,!?;]+){0,3}\ (?:no\ (?:more|longer)|originally|then|later|anymore|and\ (?:to|in)|weeks?|summer|winter
        |but\ s?he\ (?:has\ )?left)\b"
    );
    let (before, after) = (clause_before(note, run.start), &note[run.end()..]);
    STREET.is_match(run.text) || UNCERTAIN.is_match(before) || ENDED.is_match(after)
}
