//! The numbers of a note, in digits or in words.

use super::text::{Word, pieces};

/// The number words below twenty; the index is the value.
const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];

/// The number words for tens, from twenty on.
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// The highest age that a record may hold.
const OLDEST: u8 = 120;

/// The highest number that [`digits`] leaves in words.
const SMALL: u8 = 12;

/// A number and its byte range in the note.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub(super) value: u8,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Returns `note` with number words above [`SMALL`] as digits, which the model reads better.
///
/// Smaller ones stay words, since most of them count other things: the model takes the 2 of "2 sons" for an age.
pub(crate) fn digits(note: &str) -> String {
    let mut text = String::new();
    let mut end = 0;
    for number in spelled(note).into_iter().filter(|number| number.value > SMALL) {
        text.push_str(&note[end..number.start]);
        text.push_str(&number.value.to_string());
        end = number.end;
    }
    text.push_str(&note[end..]);
    text
}

/// Finds every number of `note` up to [`OLDEST`], in the order of the note.
///
/// Leaves out clock times, years, and long groups of phone numbers.
pub(super) fn numbers(note: &str) -> Vec<Number> {
    let mut numbers = spelled(note);
    numbers.extend(pieces(note, |c| c.is_ascii_digit() || c == ':').into_iter().filter_map(|run| {
        let digits = run.text.trim_end_matches(':');
        let value = digits.parse().ok().filter(|_| digits.len() < 2 || !digits.starts_with('0'))?;
        Some(Number { value, start: run.start, end: run.start + digits.len() })
    }));
    numbers.retain(|number| number.value <= OLDEST);
    numbers.sort_by_key(|number| number.start);
    numbers
}

/// Finds the numbers in words, longest match first ("thirty-four" is not 30).
fn spelled(note: &str) -> Vec<Number> {
    let words = pieces(note, char::is_alphabetic);
    let mut found = Vec::new();
    let mut next = 0;
    while let Some(first) = words.get(next) {
        let Some((value, used)) = number_at(note, &words[next..]) else {
            next += 1;
            continue;
        };
        found.push(Number { value, start: first.start, end: words[next + used - 1].end });
        next += used;
    }
    found
}

/// Whether `text` begins with a number in words ("Fifteen-year-old").
pub(super) fn begins_with_number(text: &str) -> bool {
    number_at(text, &pieces(text, char::is_alphabetic)).is_some()
}

/// Reads a number at the beginning of `words`; returns it and the number of words that it has.
fn number_at(note: &str, words: &[Word<'_>]) -> Option<(u8, usize)> {
    let word = words.first()?.text.to_lowercase();
    if let Some(value) = UNITS.iter().position(|unit| *unit == word) {
        return Some((u8::try_from(value).ok()?, 1));
    }
    let tens = u8::try_from(TENS.iter().position(|tens| *tens == word)?).ok()? * 10 + 20;
    let unit = words.get(1).filter(|next| matches!(&note[words[0].end..next.start], " " | "-"));
    match unit.and_then(|_| number_at(note, &words[1..2])) {
        Some((unit @ 1..=9, _)) => Some((tens + unit, 2)),
        _ => Some((tens, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(note: &str) -> Vec<u8> {
        numbers(note).iter().map(|number| number.value).collect()
    }

    #[test]
    fn larger_number_words_become_digits() {
        assert_eq!(digits("Ann, thirty-four, of Ghent"), "Ann, 34, of Ghent");
        assert_eq!(digits("Fifteen-year-old Ann"), "15-year-old Ann");
        assert_eq!(digits("she is Sixty two"), "she is 62");
        assert_eq!(digits("São José, fifty"), "São José, 50");
    }

    #[test]
    fn small_counts_stay_in_words() {
        assert_eq!(digits("one day her two sons came"), "one day her two sons came");
    }

    #[test]
    fn a_number_may_be_in_digits_or_in_words() {
        assert_eq!(values("He is 41"), [41]);
        assert_eq!(values("the 65th birthday"), [65]);
        assert_eq!(values("aged seven, not 8"), [7, 8]);
        assert_eq!(values("forty-two."), [42]);
    }

    #[test]
    fn times_years_and_phone_numbers_are_left_out() {
        assert!(values("at 10:15 in 1998, on 0113 496 0027").is_empty());
    }
}
