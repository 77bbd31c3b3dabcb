//! The numbers of a note, and which of them states the age of the person.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::people::{PERSON, People};
use super::{Stated, doubt, is_withheld};

/// The highest age that a record may hold.
const OLDEST: u8 = 120;

/// A number that can be an age.
struct Age {
    value: u8,
    start: usize,
    reading: Reading,
}

/// What the words around a number make of it.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    /// They leave no other meaning, such as "aged" before it.
    Stated,
    /// It is an age if the model read it so.
    Likely,
    /// It is an age of another time or thing, such as "is 34 next week".
    Doubtful,
}

/// Returns the age of the person, or `None` if the note contains no number that can be an age.
///
/// A stated age is confirmed if the model did not read another possible one, and any other one if it is the only one
/// and the model read it.
pub(super) fn age(note: &str, people: &People<'_>, proposed: u8) -> Stated<u8> {
    let age = |(value, range): (u8, Range<usize>)| {
        let reading = reading(&note[..range.start], &note[range.end..])?;
        Some(Age { value, start: range.start, reading })
    };
    let ages: Vec<_> = numbers(note).filter_map(age).collect();
    let own: Vec<_> = ages.iter().filter(|age| people.is_about_person(age.start)).collect();
    let mut stated: Vec<_> = own.iter().filter(|age| age.reading == Reading::Stated).map(|age| age.value).collect();
    stated.dedup();
    let is_made_up = numbers(note).all(|(value, range)| value != proposed || is_count(&note[range.end..]));
    match (stated.as_slice(), own.as_slice()) {
        ([], []) if is_withheld(note, "age") || ages.is_empty() && is_made_up && !BIRTH.is_match(note) => Ok(None),
        ([only], own) if own.iter().all(|age| age.value == *only || age.reading == Reading::Doubtful) => {
            Ok(Some(*only))
        }
        ([], [Age { value, reading: Reading::Likely, .. }]) if *value == proposed && !PAST.is_match(note) => {
            Ok(Some(proposed))
        }
        _ => doubt("age", ages.iter().map(|age| age.value)),
    }
}

/// Words that may state an age without a plain number.
static BIRTH: LazyLock<Regex> = pattern!(r"\bbirthday\b|\byears ago\b");

/// Words of another time, or of how old someone looks, anywhere in a note.
static PAST: LazyLock<Regex> = pattern!(r"(?i)\b(?:was|were|when|then|looks?|feels?|ago|file)\b");

/// Finds the numbers that are low enough for an age.
fn numbers(note: &str) -> impl Iterator<Item = (u8, Range<usize>)> {
    static NUMBER: LazyLock<Regex> = pattern!(r"(?:^|[\s(,;–—\x22“])(\d+)");
    let numbers = NUMBER.captures_iter(note).filter_map(|found| found.get(1));
    numbers.filter_map(|number| Some((number.as_str().parse().ok().filter(|value| *value <= OLDEST)?, number.range())))
}

/// Returns what the words around a number make of it; `None` if it is not an age.
fn reading(before: &str, after: &str) -> Option<Reading> {
    static YEARS_OLD: LazyLock<Regex> =
        pattern!(r"(?i)^[- ]?(?:(?:years?|yrs?)[- ](?:old|of age)\b|yrs?\b(?:[^ ]|$)|y\.?o?\b)");
    static NOUN: LazyLock<Regex> = pattern!(r"^[- ]year[- ]old \p{L}");
    static IS: LazyLock<Regex> = pattern!(
        r"(?xi)(?:\baged:?|\bage\b[\p{Ll}\ ]*:?|\bturned|\bis|['’]s|\bam|['’]m
        |\b(?:said|told(?:\ \p{Ll}+){1,2})(?:\ that)?\ s?he\ was|\b(?:(?:wo)?man|lady|gentleman|boy|girl)\ of)
        (?:\ (?:just|now|only|also|still|already|currently|turned))*\ $"
    );
    static THING_IS: LazyLock<Regex> = pattern!(r"\b\p{Ll}{2,} is $");
    static TURNED: LazyLock<Regex> = pattern!(r"^ (?:on|in|this|last|just|recently) \p{L}");
    static LIMIT: LazyLock<Regex> = pattern!(
        r"(?xi)\b(?:(?:then|when|\d{4}),?\ aged|\p{L}+um\ age|age\ (?:limit|group|class|range)[\p{Ll}\ :]*
        |nearly|almost|about|around|over|under|not)\ $"
    );
    static OWN_IS: LazyLock<Regex> = pattern!(r"^(?:s?he|who|\p{Ll}{3}self|and|age|lady|winner) ");
    static AT: LazyLock<Regex> = pattern!(r"(?i)\bat (?:the age of )?$");
    static SHE: LazyLock<Regex> = pattern!(r"^,? (?:s?he|they|I)(?:['’][sm]| (?:\w+ )?(?:is|am|has|lives))\b");
    static NOT_YET: LazyLock<Regex> =
        pattern!(r"^(?:-| (?:or|to|in|on|next|last year|when|at|by|per|of|this|tomorrow|soon|if|as)\b)");
    static APART: LazyLock<Regex> = pattern!(r"(?:[,(.;–—-] ?|^|\bAt )$");
    static END: LazyLock<Regex> = pattern!(
        r"^(?: years?)? ?(?:[.,;!?)–—-]|$|(?:is|and|but|now|today|last|this|with|who|lives|living|from|of \p{Lu}\w*)\b)"
    );
    static NUMBERED: LazyLock<Regex> = pattern!(
        r"(?x)(?:[\d\ /][\d/]\ |[£$€+\#]|\b(?i:room|flat|bus|no\.?|ward|table|seat|row|gate|page|size)\ |\b\p{Ll}+\ )$"
    );
    static NOT_NUMBERED: LazyLock<Regex> = pattern!(
        r"\b(?:was|of|and|or|not|nearly|almost|about|around|over|only|just|now|female|male|(?:wo)?man|boy|girl) $"
    );

    let (follows_is, is_apart) = (IS.is_match(before), APART.is_match(before) && END.is_match(after));
    let is_numbered = NUMBERED.is_match(before) && !NOT_NUMBERED.is_match(before);
    let is_other =
        THING_IS.find(before).is_some_and(|found| !PERSON.is_match(found.as_str()) && !OWN_IS.is_match(found.as_str()));
    if NOUN.is_match(after) {
        Some(Reading::Likely)
    } else if YEARS_OLD.is_match(after) || AT.is_match(before) && SHE.is_match(after) {
        Some(Reading::Stated)
    } else if is_count(after) || !follows_is && (is_numbered || !END.is_match(after)) {
        None
    } else {
        let is_unsure = follows_is && is_other
            || LIMIT.is_match(before)
            || follows_is && NOT_YET.is_match(after) && !(before.ends_with("turned ") && TURNED.is_match(after));
        Some(match (follows_is, is_apart) {
            _ if is_unsure => Reading::Doubtful,
            (false, false) => Reading::Likely,
            _ => Reading::Stated,
        })
    }
}

/// Whether the words after a number make it a count, a measure, a date or a time.
fn is_count(after: &str) -> bool {
    static MEASURE: LazyLock<Regex> = pattern!(
        r"(?x)^(?:[/%\p{L}]|[:.,]\d|-\w|\ (?:\d|\p{Lu}\p{L}+\ (?:St|Rd|Street|Road)\b|(?:ft|kg|cm|km|o['’]clock|when)\b
        |(?:years?|yrs|months?)\ (?:of|in|at|as|ago|later|older|younger)\b
        |(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|[ap]\.?m)))"
    );
    static COUNTED: LazyLock<Regex> = pattern!(r"^ (\p{Ll}+s|children|people)\b");
    static NOT_COUNTED: [&str; 8] = ["is", "was", "has", "lives", "as", "years", "this", "always"];
    MEASURE.is_match(after) || COUNTED.captures(after).is_some_and(|found| !NOT_COUNTED.contains(&&found[1]))
}
