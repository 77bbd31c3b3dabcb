//! A note as the rules read it: number words as digits, and its runs of capitalised words.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// Number words below twenty; the index is the value.
#[rustfmt::skip]
const UNITS: [&str; 20] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
];

/// Number words for tens, from twenty on.
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Titles, roles, labels, days and months: capitalised words that belong to no name and no city.
static LABELS: LazyLock<Regex> = pattern!(
    r"(?xi)^(?:(?-i:Father|Sister|Brother|Old|Young|Little)\x20
    |(?:mr|mrs|ms|miss|mx|dr|doctor|pt|wife|husband|prof|professor|sir|dame|lady|lord|master|rev|capt(?:ain)?|col(?:onel)?
    |count(?:ess)?|herr|frau|señora?|sra?|senhora?|signora?|monsieur|madame|(?:sur|fore)?name|first|last|given|family|full|age|city|home|address|patient|client
    |caller|customer|visitor|guest|member|student|pupil|driver|owner|donor|tenant|applicant|passenger|resident|nurse|coach|(?:wo)?man|boy|girl|i
    |(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b\.?\s*
    |(?:mon|tues?|wed|thu|thurs|fri|sat|sun|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?
    |sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)$)"
);

/// What follows a name or a city in a run: a day, or letters such as "OBE".
static TAIL: LazyLock<Regex> =
    pattern!(r"(?: (?:I|\p{Lu}{2,}|(?:Mon|Tues?|Wed|Thu|Thurs|Fri|Sat|Sun)(?:\p{Ll}*days?)?)|-based)$");

/// Words that are often capitalised only because they begin a sentence.
static OPENERS: LazyLock<Regex> = pattern!(
    r"(?xi)^(?:an?|the|this|that|these|those|s?he|it|we|they|you|my|our|your|his|her|their|its|in|on|at|by|for|from|to
    |of|with|and|but|or|so|as|if|when|while|after|before|until|since|please|next|not?|now|then|there|here|today
    |yesterday|tomorrow|both|who|what|where|could|would|spoke|took|met|saw|called|emailed|phoned|asked|booked
    |interviewed|has|is|was|wants|needs|works|turned|left|gave|lives|living|aged|still|first|also|only|just|hi|hello|dear)\b\s*"
);

/// Capitalised words in a row, with particles such as "de" between them.
static CAPITALISED: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"(?:\b(?:al-|el-|[dl]['’])|\B['’]s-)?\b(?:St\.|\p{Lu}(?:\.|\w*(?:(?:-|['’]\p{Lu})\w+)*))";
    let particle =
        "de|da|do|dos|das|di|del|della|der|den|ter|van|von|zu|af|la|le|al|el|bin|binti|ben|ibn|y|e|upon|['’]t";
    Regex::new(&format!("{word}(?: (?:(?:{particle}) ){{0,2}}{word})*")).expect("the pattern is valid")
});

/// A run of capitalised words, which can be a name or a city, and where it begins in the note.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl Run<'_> {
    pub(super) fn end(self) -> usize {
        self.start + self.text.len()
    }

    pub(super) fn is_one_word(self) -> bool {
        !self.text.contains(' ')
    }
}

/// Returns `note` with its number words as digits.
pub(super) fn with_digits(note: &str) -> String {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        // "One" by itself is mostly not a number.
        let (tens, units, from_two) = (TENS.join("|"), UNITS.join("|"), UNITS[2..].join("|"));
        Regex::new(&format!(r"(?i)\b(?:({tens})(?:[- ]?({units}))?|({from_two}))\b")).expect("the pattern is valid")
    });
    let value =
        |words: &[&str], word: &str| words.iter().position(|known| known.eq_ignore_ascii_case(word)).unwrap_or(0);
    let digits = |found: &Captures<'_>| {
        let tens = found.get(1).map_or(0, |word| 10 * value(&TENS, word.as_str()) + 20);
        let unit = found.get(2).or(found.get(3)).map_or(0, |word| value(&UNITS, word.as_str()));
        (tens + unit).to_string()
    };
    WORDS.replace_all(note, digits).into_owned()
}

/// Returns the runs of capitalised words of `note`, without labels, abbreviations and words that only begin a sentence.
pub(super) fn runs(note: &str) -> Vec<Run<'_>> {
    let all = CAPITALISED.find_iter(note).map(|found| Run { text: found.as_str(), start: found.start() });
    all.map(|run| trimmed(note, run)).filter(|run| run.text.contains(char::is_lowercase)).collect()
}

/// Removes what precedes the name or city in `run`.
fn trimmed<'a>(note: &str, run: Run<'a>) -> Run<'a> {
    let opener = OPENERS.find(run.text).filter(|_| begins_sentence(note, run.start));
    match LABELS.find(run.text).or(opener) {
        Some(lead) => trimmed(note, Run { text: &run.text[lead.end()..], start: run.start + lead.end() }),
        None => Run { text: TAIL.find(run.text).map_or(run.text, |tail| &run.text[..tail.start()]), ..run },
    }
}

/// Whether a sentence begins at byte `at` of `note`.
pub(super) fn begins_sentence(note: &str, at: usize) -> bool {
    let before = note[..at].trim_end_matches([' ', '"', '“', '(']);
    before.is_empty() || before.ends_with(['.', '!', '?', ':', '\n'])
}

/// Returns the part of the clause of byte `at` that precedes it.
pub(super) fn clause_before(note: &str, at: usize) -> &str {
    static END: LazyLock<Regex> = pattern!(r"[.!?;:,()\n]|\b(?:but|and)\b");
    &note[END.find_iter(&note[..at]).last().map_or(0, |end| end.end())..at]
}

/// Returns where the sentence of byte `at` ends.
pub(super) fn sentence_end(note: &str, at: usize) -> usize {
    static END: LazyLock<Regex> = pattern!(r"[.!?] |\n");
    END.find_at(note, at).map_or(note.len(), |end| end.start())
}

/// Whether only the beginning of a sentence seems to capitalise `run`.
pub(super) fn is_opener(note: &str, run: Run<'_>) -> bool {
    run.is_one_word() && begins_sentence(note, run.start) && !note[..run.start].ends_with(": ")
}
