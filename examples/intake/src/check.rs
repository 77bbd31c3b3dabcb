//! What code can check in a record by itself, and what it can mend.
//!
//! A small model reads a note well but copies it badly: it writes `Zurkle` for
//! `Zurich`, or translates. So code holds every record against its note: what
//! is nearly right is set right, and the rest is a fault to ask again about.
//! Nothing here knows any name or city; a rule may only use the note itself
//! and closed classes of English words, such as numbers and titles.

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
use self::span::{alike, as_written, find, is_part, without_title};

/// Returns `person` with all that needs no second question set right.
///
/// The name loses its title, name and city become what the note says, if they
/// are nearly so, and the age becomes the only number that may be one.
pub(crate) fn repair(note: &str, person: &Person) -> Person {
    let age = match ages(note).as_slice() {
        [only] => *only,
        _ => person.age,
    };
    let city = as_written(note, tidy(&person.city));
    let name = as_written(note, without_title(tidy(&person.name)));
    let name = full_name(note, &name, &city).unwrap_or(name);
    Person { name, age, city }
}

/// Returns what is still wrong with `person`: for each fault, what the note says instead.
///
/// The wrong value is not repeated: a small model would only copy it again.
pub(crate) fn faults(note: &str, person: &Person) -> Vec<String> {
    let Person { name, age, city } = person;
    let (names, ages) = (names(note, city), ages(note));
    // A wrong name may be the city: what the note offers for one must not depend on it.
    let places = places(note, &settled(note, name.clone(), &names));
    let mut faults = Vec::new();
    if !may_be(note, name, &names) {
        faults.push(hint("name", &names));
    }
    if !ages.is_empty() && !ages.contains(age) {
        faults.push(hint("age", &ages));
    }
    if !may_be(note, city, &places) {
        faults.push(hint("city", &places));
    }
    faults
}

/// Returns what to ask when a reply had `faults`: the note, and below it what is known of the answer.
pub(crate) fn again(note: &str, faults: &[String]) -> String {
    format!("{}\n\n{}", digits(note), faults.join(" "))
}

/// Returns `first` with the values of `second` where it has faults.
///
/// A small model that is asked about one value may do worse with the others.
pub(crate) fn mend(note: &str, first: Person, second: Person) -> Person {
    let names = names(note, &first.city);
    let name = if may_be(note, &first.name, &names) { first.name } else { second.name };
    let places = places(note, &settled(note, name.clone(), &names));
    let city = if may_be(note, &first.city, &places) { first.city } else { second.city };
    let ages = ages(note);
    let age = if ages.is_empty() || ages.contains(&first.age) { first.age } else { second.age };
    Person { name, age, city }
}

/// Returns `person` with a name and a city that the note does offer: what is like them, else the likeliest.
///
/// This is for a model that has been asked again and is still wrong.
pub(crate) fn settle(note: &str, person: Person) -> Person {
    let name = settled(note, person.name, &names(note, &person.city));
    let city = settled(note, person.city, &places(note, &name));
    Person { name, city, ..person }
}

/// Returns `value` if it may be one of `offered`, else that of them which is like it, else the first.
fn settled(note: &str, value: String, offered: &[&str]) -> String {
    if may_be(note, &value, offered) {
        return value;
    }
    alike(&value, offered).or(offered.first().copied()).map_or(value, str::to_owned)
}

/// Whether `value` is words of `note`, no number, and of what is `offered`, if anything is.
fn may_be(note: &str, value: &str, offered: &[&str]) -> bool {
    let is_copied = !value.contains(|c: char| c.is_ascii_digit()) && find(note, value).is_some();
    is_copied && (offered.is_empty() || offered.iter().any(|offer| is_part(value, offer)))
}

/// Says which values `field` may have, as a sentence.
fn hint(field: &str, values: &[impl ToString]) -> String {
    let values: Vec<_> = values.iter().map(ToString::to_string).collect();
    if values.is_empty() {
        return format!("Copy the {field} from the note.");
    }
    format!("The {field} is {}.", values.join(" or "))
}

/// Takes away what the model put around a value, and what follows it after a comma or in brackets.
fn tidy(value: &str) -> &str {
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
    fn titles_and_decoration_go() {
        let repaired = repair("Mrs. Ann Hill (38) of Bath", &person("Mrs. Ann Hill (38", 38, " Bath, UK"));
        assert_eq!(repaired, person("Ann Hill", 38, "Bath"));
    }

    #[test]
    fn a_misspelt_copy_becomes_what_the_note_says() {
        let repaired = repair("Mei Ito, 21, lives in Zurich", &person("Mei Ita", 21, "Zurkle"));
        assert_eq!(repaired, person("Mei Ito", 21, "Zurich"));
    }

    #[test]
    fn a_name_that_goes_on_is_taken_whole() {
        let repaired = repair("Mei Ito, 21, from Salt Lake City", &person("Mei", 21, "Salt Lake"));
        assert_eq!(repaired, person("Mei Ito", 21, "Salt Lake City"));
    }

    #[test]
    fn a_first_name_that_stands_alone_becomes_the_full_one() {
        let repaired = repair("Ann Hill came. Ann is 9 and lives in Bath", &person("Ann", 9, "Bath"));
        assert_eq!(repaired.name, "Ann Hill");
    }

    #[test]
    fn what_was_right_stays_when_asking_again() {
        let note = "Ann Hill, 9, lives in Bath";
        let mended = mend(note, person("Ann Hill", 9, "Ann Hill"), person("Bath", 9, "Bath"));
        assert_eq!(mended, person("Ann Hill", 9, "Bath"));
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
    fn a_sound_record_has_no_faults() {
        assert!(faults("Ann Hill, 9, of Bath", &person("Ann Hill", 9, "Bath")).is_empty());
    }

    #[test]
    fn a_fault_says_what_the_note_offers() {
        let note = "Ann Hill, 9 or 10. She left Bath for Ghent.";
        let faults = faults(note, &person("Anton", 11, "Belgium"));
        assert_eq!(faults, ["The name is Ann Hill or Bath or Ghent.", "The age is 9 or 10.", "The city is Ghent."]);
    }

    #[test]
    fn a_name_is_no_city_unless_the_note_repeats_it() {
        assert_eq!(faults("Ann Hill, 9, of Bath", &person("Ann Hill", 9, "Ann Hill")), ["The city is Bath."]);
        assert!(faults("Paris Hill, 9, left Bath for Paris", &person("Paris Hill", 9, "Paris")).is_empty());
    }

    #[test]
    fn a_number_is_no_name() {
        assert_eq!(faults("Ann, 25, of Bath", &person("25", 25, "Bath")), ["The name is Ann."]);
    }

    #[test]
    fn asking_again_adds_the_faults_to_the_note() {
        assert_eq!(again("Ann is forty.", &["The city is Bath.".to_owned()]), "Ann is 40.\n\nThe city is Bath.");
    }

    #[test]
    fn what_is_still_invented_becomes_the_closest_span() {
        let settled = settle("Ann Hill, 9, is from Ghent", person("Ann Hill", 9, "Belgium"));
        assert_eq!(settled, person("Ann Hill", 9, "Ghent"));
    }

    #[test]
    fn an_empty_note_changes_nothing() {
        let nobody = person("", 0, "");
        assert_eq!(settle("", repair("", &nobody)), nobody);
    }
}
