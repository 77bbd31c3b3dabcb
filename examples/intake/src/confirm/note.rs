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

/// Titles, days and months: capitalised words that belong to no name and no city.
static TITLES_AND_DATES: LazyLock<Regex> = pattern!(
    r"(?xi)^(?:mr|mrs|ms|miss|mx|dr|doctor|prof|professor|sir|dame|lady|lord|rev|captain|capt|herr|frau|señora?|senhora?
    |signora?|monsieur|madame|monday|tuesday|wednesday|thursday|friday|saturday|sunday|january|february|march|april|may
    |june|july|august|september|october|november|december|i)\b\.?\s*"
);

/// Words that are often capitalised only because they begin a sentence.
static OPENERS: LazyLock<Regex> = pattern!(
    r"(?xi)^(?:an?|the|this|that|these|those|s?he|it|we|they|you|my|our|your|his|her|their|its|in|on|at|by|for|from|to|of
    |with|and|but|or|so|as|if|when|while|after|before|until|since|please|new|next|not?|now|then|there|here|today
    |yesterday|tomorrow|both|who|what|where|could|can|will|would|spoke|took|lives|living|aged?|still|first|also
    |patient|client|caller|visitor|guest|member|student|pupil)\b\s*"
);

/// Capitalised words in a row, with particles such as "de" between them.
static CAPITALISED: LazyLock<Regex> = LazyLock::new(|| {
    let word = r"(?:\b(?:al|el)-)?\b\p{Lu}(?:\.|\w*(?:(?:-|['’]\p{Lu})\w+)*)";
    let particle = "de|da|do|dos|das|di|del|della|der|den|van|von|la|le|al|el|bin|ben|ibn|y|e|upon";
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
        !self.text.contains([' ', '-'])
    }
}

/// Returns `note` with its number words as digits.
pub(super) fn with_digits(note: &str) -> String {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        let (tens, units) = (TENS.join("|"), UNITS.join("|"));
        Regex::new(&format!(r"(?i)\b(?:({tens})(?:[- ]({units}))?|({units}))\b")).expect("the pattern is valid")
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

/// Returns the runs of capitalised words of `note`, without titles, dates and words that only begin a sentence.
pub(super) fn runs(note: &str) -> Vec<Run<'_>> {
    let all = CAPITALISED.find_iter(note).map(|found| Run { text: found.as_str(), start: found.start() });
    all.map(|run| trimmed(note, run)).filter(|run| !run.text.is_empty()).collect()
}

/// Removes what precedes the name or city in `run`.
fn trimmed<'a>(note: &str, run: Run<'a>) -> Run<'a> {
    let opener = OPENERS.find(run.text).filter(|_| begins_sentence(note, run.start));
    match TITLES_AND_DATES.find(run.text).or(opener) {
        Some(lead) => trimmed(note, Run { text: &run.text[lead.end()..], start: run.start + lead.end() }),
        None => run,
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
