//! Finds the numbers of a note that can be the person's age.

use super::number::{Number, numbers};
use super::relation::{is_children, is_other_person, is_relation};
use super::span::spans;
use super::text::{after, any_of, before, end_with, is_one_of, narrow, range};
use super::vocabulary::MONTHS;

/// Words before a number that label it as something other than an age.
const LABELS: [&str; 35] = [
    "after",
    "apartment",
    "apt",
    "badge",
    "bed",
    "before",
    "bib",
    "bus",
    "card",
    "chair",
    "class",
    "desk",
    "ext",
    "extension",
    "flat",
    "floor",
    "for",
    "gate",
    "grade",
    "house",
    "line",
    "locker",
    "no",
    "nr",
    "number",
    "order",
    "page",
    "platform",
    "room",
    "seat",
    "size",
    "table",
    "unit",
    "until",
    "year",
];

/// Singular units after a number, and words after a time or a price.
const MEASURES: [&str; 16] =
    ["am", "cm", "eur", "euro", "ft", "h", "kg", "km", "m", "mg", "min", "ml", "noon", "o'clock", "pm", "usd"];

/// Words between a number and a plural that separate them, so that the number does not count the plural.
const STOPS: [&str; 24] = [
    "a", "an", "and", "as", "at", "but", "by", "for", "from", "he", "her", "his", "i", "in", "is", "now", "of", "on",
    "or", "she", "that", "the", "who", "with",
];

/// Words that end like a plural but are not.
const SINGULARS: [&str; 30] = [
    "always", "asks", "calls", "comes", "does", "enjoys", "goes", "has", "his", "is", "its", "likes", "lives", "loves",
    "needs", "plays", "resides", "runs", "says", "speaks", "stays", "studies", "takes", "teaches", "this", "travels",
    "wants", "was", "works", "writes",
];

/// Words directly before a number that mark it as an age.
const AGE_CUES: [&str; 16] = [
    "age", "age is", "age of", "aged", "am", "he's", "i'm", "im", "is", "is now", "is only", "she's", "shes", "turned",
    "turning", "turns",
];

/// Words directly before a number that mark it as a past or future age.
const OTHER_TIMES: [&str; 4] = ["not", "was only", "will be", "will turn"];

/// Returns the numbers of `note` that can be the age, judged by the words around them.
pub(super) fn ages(note: &str) -> Vec<u8> {
    let numbers = narrow(numbers(note), |number| !counts(note, number) && !is_dated(note, number));
    let numbers = narrow(numbers, |number| !is_other_age(note, number));
    let numbers = narrow(numbers, |number| is_marked_as_age(note, number));
    let mut ages: Vec<u8> = numbers.into_iter().map(|number| number.value).collect();
    ages.dedup();
    ages
}

/// Whether `number` counts or labels something ("3 weeks", "6 chess tournaments", "room 12").
fn counts(note: &str, number: &Number) -> bool {
    if is_in_years(note, number) {
        return false;
    }
    let next = after(note, number.end);
    let plural = next.iter().take(2).take_while(|word| !STOPS.contains(&word.as_str())).any(|word| is_plural(word));
    let measured = next.first().is_some_and(|word| MEASURES.contains(&word.as_str()));
    let labelled = before(note, number.start).last().is_some_and(|word| LABELS.contains(&word.as_str()));
    plural || measured || labelled || note[number.end..].starts_with(['%', '€', '$', '£'])
}

/// Whether `word` looks like the plural of a noun.
fn is_plural(word: &str) -> bool {
    word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") && !word.contains('\'') && !SINGULARS.contains(&word)
}

/// Whether `number` belongs to a date or an order ("14 March", "the 17th"), but not to a birthday.
fn is_dated(note: &str, number: &Number) -> bool {
    let next = after(note, number.end);
    let ordinal = next.first().is_some_and(|word| ["st", "nd", "rd", "th"].contains(&word.as_str()));
    if ordinal {
        return next.get(1).is_none_or(|word| word != "birthday");
    }
    let is_month = |word: Option<&String>| word.is_some_and(|word| is_one_of(&MONTHS, word));
    is_month(next.first()) || is_month(before(note, number.start).last())
}

/// Whether `number` is the age of another person, or a past or future age.
fn is_other_age(note: &str, number: &Number) -> bool {
    let lead = before(note, number.start);
    let relation =
        lead.iter().rev().nth(1).is_some_and(|word| is_relation(word)) && end_with(&["aged", "is", "was"], &lead);
    let children = lead.iter().any(|word| is_children(word));
    let last = spans(note).into_iter().rfind(|span| range(note, span).end <= number.start);
    let is_others_age = last.is_some_and(|span| {
        let end = range(note, span).end;
        is_other_person(note, span) && !note[end..number.start].contains(['.', ';', '!', '?'])
    });
    relation || children || is_others_age || end_with(&OTHER_TIMES, &lead)
}

/// Whether the note marks `number` as an age ("aged 7", "7 years old").
fn is_marked_as_age(note: &str, number: &Number) -> bool {
    let lead = before(note, number.start);
    let label = note[..number.start].trim_end_matches([':', ' ']).to_lowercase();
    is_in_years(note, number) || end_with(&AGE_CUES, &lead) || label.ends_with("age")
}

/// Whether a unit of age follows `number` ("years old", "-year-old", "y/o").
fn is_in_years(note: &str, number: &Number) -> bool {
    let next = after(note, number.end);
    let year = next.first().is_some_and(|word| ["year", "years", "yr", "yrs", "y"].contains(&word.as_str()));
    year && any_of(&["old", "age", "o"], &next[1..next.len().min(3)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_labels_are_not_ages() {
        assert_eq!(ages("Ann is ill for 3 weeks, 41, has two sons"), [41]);
        assert_eq!(ages("Ann, 41, won 6 chess tournaments"), [41]);
        assert_eq!(ages("Ann, 41, room 12, comes at 6 pm"), [41]);
    }

    #[test]
    fn a_verb_is_not_a_plural() {
        assert_eq!(ages("Ann, 35 lives in Bath with 2 cats"), [35]);
    }

    #[test]
    fn dates_are_not_ages_but_birthdays_are() {
        assert_eq!(ages("On 14 March and on the 17th Ann, 41"), [41]);
        assert_eq!(ages("Ann has her 65th birthday in room 3"), [65]);
    }

    #[test]
    fn a_number_marked_as_age_beats_other_numbers() {
        assert_eq!(ages("Ann, 3, 41 years old"), [41]);
        assert_eq!(ages("Age: 41, Badge: 7"), [41]);
    }

    #[test]
    fn ages_of_other_people_or_other_times_are_left_out() {
        assert_eq!(ages("Ann came with her son Tim, who is 6. She is 41"), [41]);
        assert_eq!(ages("Ann, 41, two kids aged 7 and 9"), [41]);
        assert_eq!(ages("Ann was 19 when she left, now she is 41"), [41]);
        assert_eq!(ages("Ann will be 42 in May, now she is 41"), [41]);
    }

    #[test]
    fn a_single_number_is_kept_even_if_it_counts_something() {
        assert_eq!(ages("Ann of Bath, 9 weeks"), [9]);
    }
}
