//! Compares schemas keyword by keyword.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::schema::{Direction, Place, Walk};
use super::types::{given_types, is_in, list_values, listed, named_types, types, values};

/// Keywords that do not change the set of valid values.
const ANNOTATIONS: [&str; 12] = [
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];
/// Keywords that must be equal, each with the keywords that change its meaning.
const WHOLE: [&[&str]; 14] = [
    &["$ref"],
    &["$dynamicRef"],
    &["contains", "maxContains", "minContains"],
    &["dependencies"],
    &["dependentRequired"],
    &["dependentSchemas"],
    &["format"],
    &["if", "then", "else"],
    &["not"],
    &["pattern"],
    &["prefixItems", "additionalItems"],
    &["propertyNames"],
    &["unevaluatedItems"],
    &["unevaluatedProperties"],
];

/// Returns the keywords that change the set of valid values.
pub(super) fn assertions(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.iter().filter(|(keyword, _)| !ANNOTATIONS.contains(&keyword.as_str()))
}

/// Returns whether the schema refuses any value.
pub(super) fn asserts(schema: &Map<String, Value>) -> bool {
    assertions(schema).next().is_some()
}

impl<'a> Walk<'a> {
    /// Adds the differences by which the keywords of `accepting`, besides combinations, refuse values of `given`.
    pub(super) fn keywords(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        let given_types = self.compare_types(place, given, accepting);
        self.compare_values(place, given, accepting);
        if self.direction == Direction::Arguments {
            self.numbers(place, &given_types, given, accepting);
            self.whole(place, given, accepting);
        }
        if given_types.contains("object") {
            self.compare_properties(place, given, accepting);
        }
        if let Some(items) = accepting.get("items").filter(|_| given_types.contains("array")) {
            let is_any = given.contains_key("prefixItems");
            let given = given.get("items").unwrap_or(&Value::Bool(true));
            self.within(is_any, |walk| walk.compare(&place.items(), given, items));
        }
    }

    /// Compares the types, and returns those of the given values.
    fn compare_types(
        &mut self,
        place: &Place,
        given: &'a Map<String, Value>,
        accepting: &'a Map<String, Value>,
    ) -> BTreeSet<&'a str> {
        let (given_types, accepted) = (given_types(given), types(accepting));
        let has_type = accepting.contains_key("type");
        if has_type && given_types.iter().any(|name| !is_in(name, &listed(accepting))) {
            let (was, is) = self.in_time(named_types(&given_types), named_types(&accepted));
            self.error(place, &format!(": the type was {was} and is {is}"));
        }
        given_types
    }

    fn compare_values(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        let Some(accepted) = values(accepting) else { return };
        // Both keywords apply together: a value is valid only if both list it.
        let is_in_enum = |value: &Value| {
            let listed = accepting.get("enum").and_then(Value::as_array);
            accepted.contains(value) && listed.is_none_or(|listed| listed.contains(value))
        };
        match (values(given), self.direction) {
            (None, Direction::Arguments) => {
                self.error(place, &format!(": only {} is accepted now", list_values(accepted)));
            }
            (None, Direction::Result) => self.error(place, ": there are values that its type does not accept"),
            (Some(values), direction) => {
                let refused: Vec<_> = values.iter().filter(|value| !is_in_enum(value)).collect();
                if !refused.is_empty() {
                    let word = if direction == Direction::Arguments { "was removed" } else { "is new" };
                    self.error(place, &format!(": the value {} {word}", list_values(refused)));
                }
            }
        }
    }

    /// Compares keywords that are accepted only if they are equal.
    fn whole(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        for keywords in WHOLE.iter().filter(|keywords| accepting.contains_key(keywords[0])) {
            let pick = |schema: &Map<String, Value>| -> Value {
                let found = keywords.iter().filter_map(|word| Some(((*word).to_owned(), schema.get(*word)?.clone())));
                found.collect::<Map<_, _>>().into()
            };
            let is_same = self.are_same(&pick(given), &pick(accepting));
            // The set of evaluated items depends on all other keywords.
            let is_contextual = keywords[0].starts_with("unevaluated") && given != accepting;
            if !is_same || is_contextual {
                let word = if given.contains_key(keywords[0]) { "changed" } else { "is new" };
                self.error(place, &format!(": `{}` {word}", keywords[0]));
            }
        }
        self.replaced(place, given, accepting);
    }

    /// Compares keywords whose absence may also refuse values.
    fn replaced(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        let is_unique = |schema: &Map<String, Value>| schema.get("uniqueItems") == Some(&Value::Bool(true));
        if is_unique(accepting) && !is_unique(given) {
            self.error(place, ": `uniqueItems` is new");
        }
        let has_tuple = |schema: &Map<String, Value>| schema.contains_key("prefixItems");
        if has_tuple(given) && !has_tuple(accepting) && accepting.contains_key("items") {
            self.error(place, ": `prefixItems` was removed");
        }
        let patterns = [given, accepting].map(|schema| schema.get("patternProperties"));
        let are_same = match patterns {
            [None, None] => true,
            [Some(given), Some(accepting)] => self.are_same(given, accepting),
            _ => false,
        };
        if !are_same {
            self.error(place, ": `patternProperties` changed");
        }
    }

    /// Returns whether two objects of keywords are equal, including the schemas to which they refer.
    pub(super) fn are_same_objects(&self, given: &Map<String, Value>, accepting: &Map<String, Value>) -> bool {
        let assertions = |schema| assertions(schema).map(|(word, value)| (word.clone(), value.clone()));
        let [given, accepting] = [given, accepting].map(|schema| Value::Object(assertions(schema).collect()));
        self.are_same(&given, &accepting)
    }
}
