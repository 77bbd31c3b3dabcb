//! What the fields of the inputs are.

use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use siphasher::sip::SipHasher13;

use crate::leaves::{Leaf, visit};
use crate::text::has_words_without_spaces;

/// From this number of values on, they show what they are.
const ENOUGH: usize = 20;

/// A text with at most this number of distinct values is a choice, if they recur.
const MAX_CHOICES: usize = 100;

/// How often a value of a choice occurs at least, on average.
const RECURS: usize = 4;

/// The most bytes of an identifier.
const MAX_IDENTIFIER: usize = 80;

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Choice,
    Number,
    /// Nothing is learned from them, for this reason.
    LeftOut(&'static str),
}

/// A field of inputs from which nothing is learned.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LeftOut {
    /// The field, with `*` for the items of a list.
    pub field: String,
    /// Why.
    pub reason: String,
}

/// The kinds of the fields of some inputs, by path.
pub(crate) fn kinds<'a>(inputs: impl IntoIterator<Item = &'a Value>) -> BTreeMap<String, Kind> {
    let mut fields: BTreeMap<String, Field> = BTreeMap::new();
    for input in inputs {
        visit(input, &mut |path, leaf| match fields.get_mut(path) {
            Some(field) => field.add(leaf),
            None => fields.entry(path.to_owned()).or_default().add(leaf),
        });
    }
    fields.into_iter().map(|(path, field)| (field.kind(&path), path)).map(|(kind, path)| (path, kind)).collect()
}

/// What was seen of a field.
#[derive(Default)]
struct Field {
    distinct: HashSet<u64>,
    flags: usize,
    texts: usize,
    /// The parts of texts between spaces.
    parts: usize,
    with_digits: usize,
    /// Those that are too long for an identifier, or not of its script.
    long: usize,
    dates: usize,
    numbers: usize,
    whole: usize,
    rising: usize,
    last: Option<f64>,
}

impl Field {
    fn add(&mut self, leaf: Leaf<'_>) {
        let mut hasher = SipHasher13::new();
        match leaf {
            Leaf::Flag(flag) => {
                flag.hash(&mut hasher);
                self.flags += 1;
            }
            Leaf::Text(text) => {
                text.hash(&mut hasher);
                self.texts += 1;
                self.parts += text.split_whitespace().count();
                self.long += usize::from(text.len() > MAX_IDENTIFIER || has_words_without_spaces(text));
                self.with_digits += usize::from(text.bytes().any(|byte| byte.is_ascii_digit()));
                self.dates += usize::from(is_date(text));
            }
            Leaf::Number(number) => {
                number.to_bits().hash(&mut hasher);
                self.numbers += 1;
                self.whole += usize::from(number.fract() == 0.0);
                self.rising += usize::from(self.last.is_some_and(|last| last < number));
                self.last = Some(number);
            }
        }
        self.distinct.insert(hasher.finish());
    }

    fn kind(&self, path: &str) -> Kind {
        if self.texts > 0 {
            return self.text(path);
        }
        if self.numbers == 0 {
            return Kind::Choice;
        }
        let named = names_an_identifier(path) && self.are_distinct(0.5);
        let counts_up = self.are_distinct(0.95) && self.rising as f64 >= 0.95 * (self.numbers - 1) as f64;
        if self.numbers >= ENOUGH && self.whole == self.numbers && (named || counts_up) {
            Kind::LeftOut("its values are identifiers")
        } else {
            Kind::Number
        }
    }

    fn text(&self, path: &str) -> Kind {
        let most = |count: usize| count as f64 >= 0.9 * self.texts as f64;
        if most(self.dates) {
            return Kind::LeftOut("its values are dates");
        }
        let single = self.parts as f64 <= 1.2 * self.texts as f64 && self.long * 10 <= self.texts;
        let looks = most(self.with_digits) && self.are_distinct(0.9);
        let named = names_an_identifier(path) && self.are_distinct(0.5);
        if self.texts >= ENOUGH && single && (looks || named) {
            return Kind::LeftOut("its values are identifiers");
        }
        let few = self.distinct.len() <= MAX_CHOICES && self.distinct.len() * RECURS <= self.values();
        if few && self.parts <= 4 * self.texts { Kind::Choice } else { Kind::Text }
    }

    fn values(&self) -> usize {
        self.flags + self.texts + self.numbers
    }

    fn are_distinct(&self, share: f64) -> bool {
        self.distinct.len() as f64 >= share * self.values() as f64
    }
}

/// Returns whether the name of a field is that of an identifier.
fn names_an_identifier(path: &str) -> bool {
    let name = path.rsplit('/').find(|name| *name != "*").unwrap_or_default();
    let lower = name.to_lowercase();
    lower == "id" || name.ends_with("Id") || ["_id", "-id", "uuid", "guid"].iter().any(|end| lower.ends_with(end))
}

/// Returns whether a text begins with a date as in RFC 3339, with or without a time.
fn is_date(text: &str) -> bool {
    let fits = |(byte, shape): (u8, u8)| if shape == b'0' { byte.is_ascii_digit() } else { byte == shape };
    text.len() >= 10 && text.bytes().zip(*b"0000-00-00").all(fits)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Kind, kinds};

    #[test]
    fn a_field_is_what_its_values_are() {
        let input = |at: u32| {
            json!({
                "id": at * 7 % 64,
                "order": format!("A-{}", at * 31),
                "at": format!("2026-01-{:02}T10:00:00Z", at % 28 + 1),
                "row": at + 1000,
                "country": if at.is_multiple_of(2) { "NZ" } else { "PE" },
                "amount": at % 7,
                "is_new": at.is_multiple_of(3),
                "message": format!("where is parcel {} of mine", at % 40),
            })
        };
        let inputs: Vec<Value> = (0..64).map(input).collect();
        let kinds = kinds(&inputs);
        let identifiers = Kind::LeftOut("its values are identifiers");
        let expected = [
            ("/amount", Kind::Number),
            ("/at", Kind::LeftOut("its values are dates")),
            ("/country", Kind::Choice),
            ("/id", identifiers),
            ("/is_new", Kind::Choice),
            ("/message", Kind::Text),
            ("/order", identifiers),
            ("/row", identifiers),
        ];
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected.map(|(path, kind)| (path.to_owned(), kind)));
    }
}
