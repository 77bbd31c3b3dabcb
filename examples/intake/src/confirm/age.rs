//! The numbers of a note, and which of them states the age of the person.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::people::{People, Subject};
use super::{Found, denial};

/// The highest age that a record may hold.
const OLDEST: u8 = 120;

/// How likely the words around a number make it the age of someone.
#[derive(PartialEq)]
enum Reading {
    /// A usual form, such as "aged 34".
    Stated,
    /// No usual form, but also nothing else.
    Possible,
    /// An age of another time, or a limit, such as "is 34 next week".
    Doubtful,
}

/// Returns what the note states about the age of the person.
pub(super) fn found(note: &str, people: &People<'_>, read: u8) -> Found<u8> {
    static WITHHELD: LazyLock<Regex> = LazyLock::new(|| denial("age|how old"));
    // Words that an age without a number needs, as in "born in 1979".
    static DERIVED: LazyLock<Regex> = pattern!(
        r"(?xi)\b(?:born|birth\w*|dob|dozen|score|decade|century|(?:old|young)er|twice|age
        |(?:twen|thir|for|fif|six|seven|eigh|nine)ties)\b"
    );
    let age = |(value, range): (u8, Range<usize>)| {
        let subject = Some(people.subject(range.start)).filter(|subject| *subject != Subject::Other)?;
        Some((value, reading(&note[..range.start], &note[range.end..])?, subject))
    };
    let ages: Vec<_> = numbers(note).filter_map(age).collect();
    let is_stated = ages.iter().any(|age| matches!(age, (_, Reading::Stated, Subject::Person)));
    let is_simple = ages.iter().all(|age| matches!(age, (_, Reading::Possible, Subject::Person)));
    // Another number that may be the age is as good as stated.
    let stated = ages.iter().filter(|(_, reading, _)| is_stated && *reading != Reading::Doubtful);
    Found {
        is_withheld: WITHHELD.is_match(note),
        is_in_note: numbers(note).any(|(value, _)| value == read) || DERIVED.is_match(note),
        is_clear: is_stated || is_simple,
        stated: stated.map(|(value, ..)| *value).collect(),
        possible: ages.iter().map(|(value, ..)| *value).collect(),
    }
}

/// Finds the numbers that are low enough for an age.
fn numbers(note: &str) -> impl Iterator<Item = (u8, Range<usize>)> {
    static NUMBER: LazyLock<Regex> = pattern!(r"(?:^|[\s(,;–—\x22“])(\d+)");
    let numbers = NUMBER.captures_iter(note).filter_map(|found| found.get(1));
    numbers.filter_map(|number| Some((number.as_str().parse().ok().filter(|value| *value <= OLDEST)?, number.range())))
}

/// Returns what the words around a number make of it; `None` if it is a count, a measure, a date or a time.
fn reading(before: &str, after: &str) -> Option<Reading> {
    static YEARS_OLD: LazyLock<Regex> =
        pattern!(r"(?i)^(?:[- ]?\p{Ll}+[- ]old\b|[- ]?years? of age\b| ?yrs?(?: ?[^\w. ]|\.|$)| ?y\.?/?o\b| ?[MF]\b)");
    static AGE: LazyLock<Regex> = pattern!(
        r"(?i)(?:\baged?:?|\bage\b[\p{Ll} ]*[:=]?|\b(?:(?:wo)?man|lady|gentleman|boy|girl) of|\bat the age of) $"
    );
    static RANGE: LazyLock<Regex> = pattern!(r"^(?:-| (?:to|or|in|at|on|next|last)\b| and (?:\d|under|over|up))");
    static IS: LazyLock<Regex> = pattern!(
        r"(?xi)(?:\bturned|\bI(?:\ am|['’]m)|(?-i:\bAt)
        |\b(?:s?he|who|and|age|\w+self|(?-i:\p{Lu}\w+)|owner|patient|client|applicant|claimant)(?:\ is|['’]s|\ =))
        (?:\ (?:just|now|only|also|still|already|currently|turned))*\ $"
    );
    static APART: LazyLock<Regex> = pattern!(r"(?:[,(.;/–—-] ?|^)$");
    // A number after a noun counts or numbers something: "badge 118", "size 39".
    static FREE: LazyLock<Regex> = pattern!(
        r"(?i)(?:[^\p{L}\d ] ?|^|\b(?:an?|is|was|as|be|not|of|and(?: at)?|turned|only|now|still|just|even|sa(?:id|ys?)|yrs|years) )$"
    );
    static END: LazyLock<Regex> = pattern!(
        r"^(?: years?)? ?(?:[.,;!?)/–—\n-]|$|(?:s?he|is|and|but|now|today|last|this|with|who|lives|living|from|of \p{Lu}\w*)\b)"
    );
    static LIMIT: LazyLock<Regex> = pattern!(
        r"(?i)\b(?:(?:then|when|\d{4}),? aged|nearly|almost|about|around|between(?: \d+ and)?|over|under|not|be|turns|was|were) $"
    );
    // A question, or another time.
    static ELSE: LazyLock<Regex> = pattern!(r"^[^.!?\n]*\?|^ (?:in \d|when\b)|^(?: \w+){0,3} ago\b");
    static MEASURE: LazyLock<Regex> = pattern!(
        r"(?x)^(?:[/%\p{L}]|[:.,]\d|-\w|\ (?:\d|(?:years?|yrs|months?)\ \w|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|[ap]\.?m)))"
    );
    static NUMBERED: LazyLock<Regex> = pattern!(r"(?:\d[ /]+|[£$€+#]|\b(?i:no|nr|ext|tel|box)\.? )$");

    let (is_old, follows_is) = (YEARS_OLD.is_match(after), IS.is_match(before));
    let is_limit = LIMIT.is_match(before) || ELSE.is_match(after);
    let is_end = END.is_match(after) || before.ends_with(" turned ");
    let is_age = AGE.is_match(before) && !RANGE.is_match(after);
    if NUMBERED.is_match(before) || MEASURE.is_match(after) && !is_old {
        None
    } else if is_limit || follows_is && !is_end && !is_old || AGE.is_match(before) && !is_age {
        Some(Reading::Doubtful)
    } else if is_old || is_age || is_end && (follows_is || APART.is_match(before)) {
        Some(Reading::Stated)
    } else {
        let reading = if is_end { Some(Reading::Possible) } else { RANGE.is_match(after).then_some(Reading::Doubtful) };
        reading.filter(|_| FREE.is_match(before))
    }
}
