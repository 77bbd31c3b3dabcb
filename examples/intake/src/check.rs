//! Checks a record against its note, and corrects small errors.
//!
//! A small model understands a note well but copies it badly: it writes `Zurkle` for
//! `Zurich`, or translates. So code compares every record with its note: nearly correct
//! values are corrected, and for other errors the model is asked again. There are no lists
//! of names or cities: rules use only the note itself and closed classes of English words,
//! such as numbers and titles.

mod age;
mod cue;
mod number;
mod person;
mod place;
mod relation;
mod span;
mod text;
mod vocabulary;

use crate::Person;

use self::age::ages;
pub(crate) use self::number::digits;
use self::person::{full_name, names};
use self::place::places;
use self::span::{as_written, find, is_part, most_similar, without_title};

/// Returns `person` with the errors corrected that need no second request.
///
/// Removes titles from the name, replaces name and city by the similar words of the note,
/// and sets the age if only one number of the note can be an age.
pub(crate) fn repair(note: &str, person: &Person) -> Person {
    let age = match ages(note).as_slice() {
        [only] => *only,
        _ => person.age,
    };
    let city = as_written(note, trim_value(&person.city));
    let name = as_written(note, without_title(trim_value(&person.name)));
    let name = full_name(note, &name, &city).unwrap_or(name);
    Person { name, age, city }
}

/// Returns a hint for each invalid field of `person`: the values that the note allows.
///
/// A hint does not repeat the invalid value: a small model would only copy it again.
pub(crate) fn faults(note: &str, person: &Person) -> Vec<String> {
    let Person { name, age, city } = person;
    let (names, ages) = (names(note, city), ages(note));
    // An invalid name may be the city, so it is replaced before the places are listed.
    let places = places(note, &valid_or_closest(note, name.clone(), &names));
    let mut faults = Vec::new();
    if !is_valid(note, name, &names) {
        faults.push(hint("name", &names));
    }
    if !ages.is_empty() && !ages.contains(age) {
        faults.push(hint("age", &ages));
    }
    if !is_valid(note, city, &places) {
        faults.push(hint("city", &places));
    }
    faults
}

/// Returns the prompt of the second request: the note, and below it the hints.
pub(crate) fn retry_prompt(note: &str, faults: &[String]) -> String {
    format!("{}\n\n{}", digits(note), faults.join(" "))
}

/// Returns `first` with its invalid fields replaced by those of `second`.
///
/// The valid fields of `first` stay, since a small model may get them wrong in its second answer.
pub(crate) fn merge(note: &str, first: Person, second: Person) -> Person {
    let names = names(note, &first.city);
    let name = if is_valid(note, &first.name, &names) { first.name } else { second.name };
    let places = places(note, &valid_or_closest(note, name.clone(), &names));
    let city = if is_valid(note, &first.city, &places) { first.city } else { second.city };
    let ages = ages(note);
    let age = if ages.is_empty() || ages.contains(&first.age) { first.age } else { second.age };
    Person { name, age, city }
}

/// Returns `person` with an invalid name or city replaced by the most similar candidate of the note, else by the first.
///
/// For values that are still invalid after the second request.
pub(crate) fn replace_invalid(note: &str, person: Person) -> Person {
    let name = valid_or_closest(note, person.name, &names(note, &person.city));
    let city = valid_or_closest(note, person.city, &places(note, &name));
    Person { name, city, ..person }
}

/// Returns `value` if it is valid, else the most similar of `candidates`, else the first.
fn valid_or_closest(note: &str, value: String, candidates: &[&str]) -> String {
    if is_valid(note, &value, candidates) {
        return value;
    }
    most_similar(&value, candidates).or(candidates.first().copied()).map_or(value, str::to_owned)
}

/// Whether `value` occurs in `note`, has no digits, and is part of one of `candidates`, unless they are empty.
fn is_valid(note: &str, value: &str, candidates: &[&str]) -> bool {
    let is_copied = !value.contains(|c: char| c.is_ascii_digit()) && find(note, value).is_some();
    is_copied && (candidates.is_empty() || candidates.iter().any(|candidate| is_part(value, candidate)))
}

/// Returns a sentence with the values that `field` may have.
fn hint(field: &str, values: &[impl ToString]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    if values.is_empty() {
        return format!("Copy the {field} from the note.");
    }
    format!("The {field} is {}.", values.join(" or "))
}

/// Removes punctuation around a value, and everything after a comma or an opening parenthesis.
fn trim_value(value: &str) -> &str {
    let value = value.split([',', '(']).next().unwrap_or_default();
    value.trim_matches(|c: char| !c.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str, age: u8, city: &str) -> Person {
        Person { name: name.to_owned(), age, city: city.to_owned() }
    }

    #[test]
    fn repair_removes_titles_and_punctuation() {
        let repaired = repair("Mrs. Ann Hill (38) of Bath", &person("Mrs. Ann Hill (38", 38, " Bath, UK"));
        assert_eq!(repaired, person("Ann Hill", 38, "Bath"));
    }

    #[test]
    fn a_misspelt_value_is_replaced_by_the_words_of_the_note() {
        let repaired = repair("Mei Ito, 21, lives in Zurich", &person("Mei Ita", 21, "Zurkle"));
        assert_eq!(repaired, person("Mei Ito", 21, "Zurich"));
    }

    #[test]
    fn a_partial_name_or_city_is_completed() {
        let repaired = repair("Mei Ito, 21, from Salt Lake City", &person("Mei", 21, "Salt Lake"));
        assert_eq!(repaired, person("Mei Ito", 21, "Salt Lake City"));
    }

    #[test]
    fn a_first_name_is_completed_to_the_full_name() {
        let repaired = repair("Ann Hill came. Ann is 9 and lives in Bath", &person("Ann", 9, "Bath"));
        assert_eq!(repaired.name, "Ann Hill");
    }

    #[test]
    fn valid_fields_of_the_first_answer_stay() {
        let note = "Ann Hill, 9, lives in Bath";
        let merged = merge(note, person("Ann Hill", 9, "Ann Hill"), person("Bath", 9, "Bath"));
        assert_eq!(merged, person("Ann Hill", 9, "Bath"));
    }

    #[test]
    fn the_only_number_is_the_age() {
        assert_eq!(repair("Ann of Bath is ninety", &person("Ann", 19, "Bath")).age, 90);
    }

    #[test]
    fn an_age_among_several_numbers_is_left_to_the_model() {
        assert_eq!(repair("Ann of Bath is 9, her son 2", &person("Ann", 9, "Bath")).age, 9);
    }

    #[test]
    fn a_correct_record_has_no_faults() {
        assert!(faults("Ann Hill, 9, of Bath", &person("Ann Hill", 9, "Bath")).is_empty());
    }

    #[test]
    fn a_hint_lists_the_candidates_of_the_note() {
        let note = "Ann Hill, 9 or 10. She left Bath for Ghent.";
        let faults = faults(note, &person("Anton", 11, "Belgium"));
        assert_eq!(faults, ["The name is Ann Hill or Bath or Ghent.", "The age is 9 or 10.", "The city is Ghent."]);
    }

    #[test]
    fn a_name_is_not_a_city_unless_the_note_repeats_it() {
        assert_eq!(faults("Ann Hill, 9, of Bath", &person("Ann Hill", 9, "Ann Hill")), ["The city is Bath."]);
        assert!(faults("Paris Hill, 9, left Bath for Paris", &person("Paris Hill", 9, "Paris")).is_empty());
    }

    #[test]
    fn a_number_is_not_a_name() {
        assert_eq!(faults("Ann, 25, of Bath", &person("25", 25, "Bath")), ["The name is Ann."]);
    }

    #[test]
    fn the_retry_prompt_is_the_note_with_the_hints() {
        assert_eq!(retry_prompt("Ann is forty.", &["The city is Bath.".to_owned()]), "Ann is 40.\n\nThe city is Bath.");
    }

    #[test]
    fn an_invalid_city_is_replaced_by_a_candidate() {
        let replaced = replace_invalid("Ann Hill, 9, is from Ghent", person("Ann Hill", 9, "Belgium"));
        assert_eq!(replaced, person("Ann Hill", 9, "Ghent"));
    }

    #[test]
    fn an_empty_note_changes_nothing() {
        let empty = person("", 0, "");
        assert_eq!(replace_invalid("", repair("", &empty)), empty);
    }
}
