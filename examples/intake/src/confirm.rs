//! Confirms what the model read from a note, by what the note itself states.
//!
//! For each field, code lists the values that the note may contain, and those that it states about the person in a usual
//! form, such as "lives in". One stated value is confirmed if the model read it too, or if nothing in the note speaks
//! against it. All other values are doubtful, even if they may be right. A field is empty if the note cannot contain its value.

/// A pattern that is compiled when it is first used.
macro_rules! pattern {
    ($pattern:expr) => {
        std::sync::LazyLock::new(|| regex::Regex::new($pattern).expect("the pattern is valid"))
    };
}

mod age;
mod city;
mod name;
mod note;
mod people;

use std::fmt::Display;
use std::sync::LazyLock;

use regex::Regex;

use self::people::{People, RELATION};
use crate::{Finding, Person, Record};

/// What a note states about a field: a value, or `None` if it states none; the error is the reason for a doubt.
type Stated<T> = Result<Option<T>, String>;

/// Words that deny something.
const DENIAL: &str = r"\b(?:not?|never|neither|nor|none|without|forgot|too shy|unknown|withheld|empty|blank|declin\w+|refus\w+)\b|n['’]t\b";

/// Returns a pattern for a sentence that denies that it states `field`, as in "gave no address".
fn denial(field: &str) -> Regex {
    let pattern = format!(r"(?i)(?:{DENIAL})[^.!?;,(]*\b(?:{field})\b|\b(?:{field})\b[^.!?;,(]*(?:{DENIAL})");
    Regex::new(&pattern).expect("the pattern is valid")
}

/// Returns `note` as the model should read it.
pub(crate) fn prepared(note: &str) -> String {
    note::with_digits(note.trim())
}

/// Returns the record of a note: what it states, as far as that confirms what the model read.
pub(crate) fn confirm(note: &str, read: Person) -> Finding {
    let runs = note::runs(note);
    let name = name::found(note, &runs, &read.name).settle("name", |name| agrees(name, &read.name));
    let people = People::new(note, &runs, name.as_ref().ok().copied().flatten().unwrap_or(&read.name));
    let age = age::found(note, &people, read.age).settle("age", |age| *age == read.age);
    let city = city::found(note, &runs, &people, &read.city).settle("city", |city| agrees(city, &read.city));

    let is_misread = people.are_several()
        && matches!(age, Ok(Some(stated)) if stated != read.age)
        && matches!(city, Ok(Some(stated)) if !agrees(stated, &read.city));
    let misread = is_misread.then(|| "the model read another age and another city".to_owned());
    let second_hand = is_second_hand(note).then(|| "the note corrects itself or is second-hand".to_owned());
    let (name, name_doubt) = value_and_doubt(name.map(|name| name.map(str::to_owned)), read.name);
    let (age, age_doubt) = value_and_doubt(age, read.age);
    let (city, city_doubt) = value_and_doubt(city.map(|city| city.map(str::to_owned)), read.city);
    let doubts = [second_hand, misread, name_doubt, age_doubt, city_doubt].into_iter().flatten().collect();
    Finding { record: Record { file: String::new(), name, age, city }, doubts }
}

/// Returns the value for the record, which is what the model read if the field is doubtful, and the doubt.
fn value_and_doubt<T>(stated: Stated<T>, read: T) -> (Option<T>, Option<String>) {
    match stated {
        Ok(value) => (value, None),
        Err(doubt) => (Some(read), Some(doubt)),
    }
}

/// What code found in a note about a field.
struct Found<T> {
    /// The values that the note states about the person in a usual form.
    stated: Vec<T>,
    /// All values that the field can have.
    possible: Vec<T>,
    /// Whether the note denies that it states the field, as in "gave no address".
    is_withheld: bool,
    /// Whether the note contains what the model read.
    is_in_note: bool,
    /// Whether nothing in the note makes the values doubtful.
    is_clear: bool,
}

impl<T: Copy + Display + PartialEq> Found<T> {
    /// Returns the value if it is clear, or if the model read it and nothing else is stated.
    fn settle(self, field: &str, is_read: impl Fn(&T) -> bool) -> Stated<T> {
        let is_only = |value: &T| self.stated.iter().all(|other| other == value);
        match (self.stated.first(), self.possible.as_slice()) {
            (None, _) if self.is_withheld => return Ok(None),
            (None, []) if !self.is_in_note => return Ok(None),
            (Some(value), _) if !self.is_withheld && is_only(value) && (is_read(value) || self.is_clear) => {
                return Ok(Some(*value));
            }
            (None, [value]) if is_read(value) && self.is_clear => return Ok(Some(*value)),
            _ => {}
        }
        let mut possible: Vec<String> = Vec::new();
        for value in self.stated.iter().chain(&self.possible).map(ToString::to_string) {
            if !possible.contains(&value) {
                possible.push(value);
            }
        }
        Err(match possible.as_slice() {
            [] => format!("the note is not clear about the {field}"),
            [only] => format!("the {field} may be {only}, but the note is not clear"),
            _ => format!("the {field} may be {}", possible.join(" or ")),
        })
    }
}

/// Whether the note corrects itself or another record, reports a claim, or is by a relative ("for her mother").
fn is_second_hand(note: &str) -> bool {
    static CORRECTION: LazyLock<Regex> = pattern!(
        r"(?xi)\b(?:sorry|wait|hang\ on|I\ mean|rather|instead|(?:make|scratch|strike)\ that|correct(?:ed|ing|ions?)|mistake\w*|wrong\w*
        |typo|mis(?:read|heard|typed|spelt)|swap\w*\ (?:the|their|its|two)|mix\w*\ (?:\w+\ )?up|crossed\ out|ignore|update|out\ of\ date
        |old\ (?:card|file|form|list|record|sheet)|not\ (?:an?\ )?\d+|swears?|claims|or\ so|according\ to|(?:old|young)er\ than|as\ old\ as)\b"
    );
    static BY_RELATIVE: LazyLock<Regex> = pattern!(r"(?i)\b(?:my|for (?:his|her|their)) $");
    CORRECTION.is_match(note) || RELATION.find_iter(note).any(|found| BY_RELATIVE.is_match(&note[..found.start()]))
}

/// Whether one of two values contains the words of the other.
fn agrees(one: &str, other: &str) -> bool {
    contains(one, other) || contains(other, one)
}

/// Whether `whole` contains the words of `part`, ignoring case and punctuation.
fn contains(whole: &str, part: &str) -> bool {
    let words = |text: &str| format!(" {} ", text.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " ").trim());
    words(whole).contains(&words(part)) && part.contains(char::is_alphanumeric)
}

/// Whether the note denies something, or reports a change or another time.
fn denies(note: &str) -> bool {
    static CHANGE: LazyLock<Regex> = LazyLock::new(|| {
        let words = "was|were|had|used|left|will|would|when|until|till|since|then|ago|work|office|moved|grew|born|native|\
                     raised|holiday";
        Regex::new(&format!(r"(?i){DENIAL}|\b(?:{words})\b|['’]ll\b")).expect("the pattern is valid")
    });
    CHANGE.is_match(note)
}
