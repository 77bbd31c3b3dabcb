//! Bounds of numbers, lengths and counts.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::schema::{Place, Walk};

/// Lower bounds with their defaults, each with the type whose values it limits.
const LOWER: [(&str, &str); 3] = [("string", "minLength"), ("array", "minItems"), ("object", "minProperties")];
/// Upper bounds, each with the type whose values it limits.
const UPPER: [(&str, &str); 3] = [("string", "maxLength"), ("array", "maxItems"), ("object", "maxProperties")];
/// Bounds of numbers: the inclusive and the exclusive keyword, and the sign by which a greater bound is narrower.
const NUMBERS: [(&str, &str, f64); 2] = [("minimum", "exclusiveMinimum", 1.0), ("maximum", "exclusiveMaximum", -1.0)];

impl<'a> Walk<'a> {
    /// Compares all bounds that apply to values of these types.
    pub(super) fn numbers(
        &mut self,
        place: &Place,
        types: &BTreeSet<&str>,
        given: &'a Map<String, Value>,
        accepting: &'a Map<String, Value>,
    ) {
        for (_, keyword) in LOWER.into_iter().filter(|(name, _)| types.contains(name)) {
            let [was, is] = [given, accepting].map(|schema| schema.get(keyword).and_then(Value::as_f64));
            self.bound(place, keyword, [given, accepting], is.unwrap_or(0.0) > was.unwrap_or(0.0));
        }
        for (_, keyword) in UPPER.into_iter().filter(|(name, _)| types.contains(name)) {
            let [was, is] = [given, accepting].map(|schema| schema.get(keyword).and_then(Value::as_f64));
            self.bound(place, keyword, [given, accepting], is.is_some_and(|is| was.is_none_or(|was| is < was)));
        }
        if types.contains("number") || types.contains("integer") {
            self.ranges(place, given, accepting);
        }
    }

    fn ranges(&mut self, place: &Place, given: &'a Map<String, Value>, accepting: &'a Map<String, Value>) {
        for (inclusive, exclusive, sign) in NUMBERS {
            let [was, is] = [given, accepting].map(|schema| limit(schema, inclusive, exclusive, sign));
            let is_narrower = is.is_some_and(|is| was.is_none_or(|was| is > was));
            let changed = [inclusive, exclusive].into_iter().find(|word| given.get(*word) != accepting.get(*word));
            self.bound(place, changed.unwrap_or(inclusive), [given, accepting], is_narrower);
        }
        let [was, is] = [given, accepting].map(|schema| schema.get("multipleOf").and_then(Value::as_f64));
        let is_multiple = |was: f64, is: f64| (was / is).fract().abs() < f64::EPSILON;
        self.bound(
            place,
            "multipleOf",
            [given, accepting],
            is.is_some_and(|is| was.is_none_or(|was| !is_multiple(was, is))),
        );
    }

    fn bound(&mut self, place: &Place, keyword: &str, schemas: [&Map<String, Value>; 2], is_narrower: bool) {
        if !is_narrower {
            return;
        }
        let [was, is] = schemas.map(|schema| schema.get(keyword));
        let is = is.map_or_else(|| "is not set".to_owned(), |is| format!("is {is}"));
        match was {
            Some(was) => self.error(place, &format!(": `{keyword}` was {was} and {is}")),
            None => self.error(place, &format!(": `{keyword}` {is} and was not set")),
        }
    }
}

/// Returns the narrowest bound of one side, multiplied so that a greater bound is narrower: its value, and whether it
/// excludes that value.
fn limit(schema: &Map<String, Value>, inclusive: &str, exclusive: &str, sign: f64) -> Option<(f64, bool)> {
    let value = |keyword: &str| schema.get(keyword).and_then(Value::as_f64).map(|value| sign * value);
    let bounds = [value(inclusive).map(|value| (value, false)), value(exclusive).map(|value| (value, true))];
    bounds.into_iter().flatten().max_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal))
}
