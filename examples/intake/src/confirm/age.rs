//! The numbers of a note, and which of them states the age of the person.

use std::sync::LazyLock;

use regex::Regex;

use super::people::People;
use super::{Stated, doubt};

/// The highest age that a record may hold.
const OLDEST: u8 = 120;

/// A number that is an age.
struct Age {
    value: u8,
    start: usize,
    /// Whether its words leave no other meaning, such as "aged" before it.
    is_stated: bool,
}

/// Returns the age of the person, or `None` if the note contains no number that can be an age.
///
/// It is doubtful if `proposed` is another number that can be one.
pub(super) fn age(note: &str, people: &People<'_>, proposed: u8) -> Stated<u8> {
    let ages = ages(note);
    let is_own = |age: &&Age| age.is_stated && people.is_about_person(age.start);
    let mut own: Vec<_> = ages.iter().filter(is_own).map(|age| age.value).collect();
    own.dedup();
    match own.as_slice() {
        [] if ages.is_empty() => Ok(None),
        [only] if *only == proposed || !ages.iter().any(|age| age.value == proposed) => Ok(Some(*only)),
        _ => doubt("age", ages.iter().map(|age| age.value)),
    }
}

/// Finds the numbers that state an age or may do so.
fn ages(note: &str) -> Vec<Age> {
    static NUMBER: LazyLock<Regex> = pattern!(r"(?:^|[\s(,;–—\x22“])(\d+)");
    let numbers = NUMBER.captures_iter(note).filter_map(|found| found.get(1));
    numbers
        .filter_map(|number| {
            let value = number.as_str().parse().ok().filter(|value| *value <= OLDEST)?;
            let is_stated = is_stated(&note[..number.start()], &note[number.end()..])?;
            Some(Age { value, start: number.start(), is_stated })
        })
        .collect()
}

/// Whether the words around a number state an age; `None` if they give it another meaning.
fn is_stated(before: &str, after: &str) -> Option<bool> {
    static YEARS_OLD: LazyLock<Regex> = pattern!(r"(?i)^[- ]?(?:(?:years?|yrs?)[- ](?:old|of age)|yrs?\b|y\.?o?\b)");
    static IS: LazyLock<Regex> = pattern!(
        r"(?xi)(?:\bage[ds]?:?|\bage\ of|\bturn(?:s|ed)|\bis|['’]s|\bam|['’]m|\b(?:(?:wo)?man|lady|gentleman|boy|girl)\ of)
        (?:\ (?:just|now|only|still|already|currently|turned))*\ $"
    );
    static NOT_YET: LazyLock<Regex> =
        pattern!(r"^(?:-| (?:or|to|in|on|next|last year|when|at|by|per|of|this|tomorrow|soon|if|as)\b)");
    static APART: LazyLock<Regex> = pattern!(r"(?:[,(.;:–—-] ?|^|\bAt )$");
    static END: LazyLock<Regex> = pattern!(r"^ ?(?:[.,;!?)–—-]|$|(?:and|but|now|today|with|lives|living|from|of)\b)");
    static OTHER_BEFORE: LazyLock<Regex> = pattern!(
        r"(?xi)(?:\d\ |[£$€+]|\b(?:for|at|by|until|till|after|before|since|past|room|flat|bus|number|no\.?|ward|table
        |seat|page|size|order)\ )$"
    );
    static OTHER_AFTER: LazyLock<Regex> = pattern!(
        r"(?x)^(?:[:/%\p{L}]|[.,]\d|-\d|\ (?:\d|when\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|[ap]\.?m)))"
    );
    static COUNTED: LazyLock<Regex> = pattern!(r"^ (\p{Ll}+s)\b");
    static NOT_COUNTED: [&str; 9] = ["is", "was", "has", "lives", "as", "years", "months", "this", "always"];

    let (follows_is, is_apart, ends) = (IS.is_match(before), APART.is_match(before), END.is_match(after));
    let counted = COUNTED.captures(after).is_some_and(|found| !NOT_COUNTED.contains(&&found[1]));
    if YEARS_OLD.is_match(after) {
        Some(true)
    } else if OTHER_AFTER.is_match(after) || counted || OTHER_BEFORE.is_match(before) && !is_apart {
        None
    } else {
        Some(follows_is && !NOT_YET.is_match(after) || is_apart && ends)
    }
}
