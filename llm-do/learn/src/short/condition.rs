//! Conditions that a script can check.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::answers::Choice;
use crate::case::Example;
use crate::edges::edges;
use crate::fields::Kind;
use crate::table::Counter;
use crate::text::Normal;

/// The most words of a text that are looked at, the frequent ones first.
const MAX_WORDS: usize = 2_000;

/// The least length of a word: shorter ones are parts of many words.
const LEAST_LETTERS: usize = 3;

/// In how many cases a condition holds at least.
const LEAST: u32 = 5;

/// A condition on one argument.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Condition {
    /// Its place in the list of all conditions.
    pub(crate) place: u32,
    pub(crate) argument: String,
    pub(crate) test: Test,
    /// Whether it is that the test does not hold.
    pub(crate) is_not: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    /// The text contains this word, in small letters.
    Contains(String),
    Is(Value),
    AtLeast(f64),
}

impl Condition {
    pub(crate) fn holds(&self, input: &Value) -> bool {
        let value = input.get(&self.argument).unwrap_or(&Value::Null);
        self.test.holds(value, &lowercase(value)) != self.is_not
    }

    /// Returns whether it holds, by a function from the place of its test.
    pub(super) fn holds_by(&self, holds: impl Fn(u32) -> bool) -> bool {
        holds(self.place) != self.is_not
    }

    pub(super) fn is_on_text(&self) -> bool {
        matches!(self.test, Test::Contains(_))
    }

    pub(super) fn negated(&self) -> Self {
        Self { is_not: !self.is_not, ..self.clone() }
    }
}

impl Test {
    fn holds(&self, value: &Value, lowercase: &str) -> bool {
        match self {
            Self::Contains(word) => lowercase.contains(word.as_str()),
            Self::Is(expected) => value == expected,
            Self::AtLeast(least) => value.as_f64().is_some_and(|number| number >= *least),
        }
    }
}

fn lowercase(value: &Value) -> String {
    value.as_str().map(str::to_lowercase).unwrap_or_default()
}

/// Returns the conditions on arguments that all cases have.
pub(super) fn all(kinds: &BTreeMap<String, Kind>, examples: &[Example], choice: &Choice) -> Vec<Condition> {
    let mut conditions = Vec::new();
    for (path, kind) in kinds {
        let Some(argument) = path.strip_prefix('/').filter(|name| is_name(name)) else { continue };
        let values: Vec<_> = examples.iter().filter_map(|case| case.input.get(argument)).collect();
        if values.len() < examples.len() || values.iter().any(|value| !is_of_kind(value, *kind)) {
            continue;
        }
        let tests = tests(*kind, &values, choice);
        conditions.extend(tests.into_iter().map(|test| (argument.to_owned(), test)));
    }
    let condition = |(place, (argument, test))| Condition { place, argument, test, is_not: false };
    (0..).zip(conditions).map(condition).collect()
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

fn is_of_kind(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Text => value.is_string(),
        Kind::Choice => value.is_string() || value.is_boolean(),
        Kind::Number => value.is_number(),
        Kind::LeftOut(_) => false,
    }
}

fn tests(kind: Kind, values: &[&Value], choice: &Choice) -> Vec<Test> {
    match kind {
        Kind::Text => words(values).into_iter().map(Test::Contains).collect(),
        Kind::Choice => {
            let distinct: BTreeMap<_, _> = values.iter().map(|value| (value.to_string(), *value)).collect();
            distinct.into_values().cloned().map(Test::Is).collect()
        }
        Kind::Number => {
            let numbers = values.iter().zip(&choice.labels);
            let mut numbers: Vec<_> = numbers.filter_map(|(value, label)| Some((value.as_f64()?, *label))).collect();
            edges(&mut numbers, choice.values.len()).into_iter().map(Test::AtLeast).collect()
        }
        Kind::LeftOut(_) => Vec::new(),
    }
}

fn words(values: &[&Value]) -> BTreeSet<String> {
    let mut counter = Counter::default();
    for (value, case) in values.iter().zip(0..) {
        let lowercase = lowercase(value);
        let normal = Normal::of(&lowercase);
        let is_word = |word: &&str| word.chars().count() >= LEAST_LETTERS && lowercase.contains(word);
        normal.words().filter(is_word).for_each(|word| counter.add(word, case));
    }
    counter.frequent(LEAST, MAX_WORDS).into_iter().map(|(word, _)| word.into_string()).collect()
}

/// Returns the places of the conditions that hold for an input, in order.
pub(super) fn holding(conditions: &[Condition], input: &Value) -> Vec<u32> {
    let mut holding = Vec::new();
    for of_argument in conditions.chunk_by(|left, right| left.argument == right.argument) {
        let value = input.get(&of_argument[0].argument).unwrap_or(&Value::Null);
        let lowercase = lowercase(value);
        let held = of_argument.iter().filter(|condition| condition.test.holds(value, &lowercase));
        holding.extend(held.map(|condition| condition.place));
    }
    holding
}
