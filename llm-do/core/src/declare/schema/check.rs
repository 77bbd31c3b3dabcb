//! Validates values against a schema, with formats as encoded by the Rust types.

use std::sync::{Arc, OnceLock};

use llm_do_providers::modern_schema;
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Number, Value, json};

use super::blocking::run_blocking;
use super::canonical;
use super::foreign::Validator;
use super::limits::{MAX_WORK, QUICK_WORK, Work};
use super::rules::Rules;

/// The maximum number of reported faults for one value. A model reads them all, and a long list may have a fault per
/// item.
const MAX_FAULTS: usize = 10;

/// The check that decides whether a value follows a schema.
#[derive(Debug)]
enum Decider {
    Rules(Rules),
    Validator(Validator),
}

impl Decider {
    fn holds(&self, value: &Value) -> bool {
        match self {
            Self::Rules(rules) => rules.hold(value),
            Self::Validator(validator) => validator.holds(value),
        }
    }

    /// Describes the faults of a value, at most [`MAX_FAULTS`], and returns how many more there are.
    fn faults(&self, value: &Value, is_wanted: &dyn Fn() -> bool) -> (Vec<String>, usize) {
        match self {
            Self::Rules(rules) => rules.faults(value, MAX_FAULTS, is_wanted),
            Self::Validator(validator) => validator.faults(value, MAX_FAULTS, is_wanted),
        }
    }
}

/// A schema and its validator; each part is built on first use.
#[derive(Debug)]
pub struct CheckedSchema {
    schema: OnceLock<Arc<Value>>,
    /// The schema for checks, if it is a different one.
    checked: Option<Arc<Value>>,
    /// Writes the schema; not called if it is set.
    write: fn() -> Value,
    /// Whether the schema does not come from a Rust type. A schema from a model or a file may demand any amount of
    /// work.
    is_untrusted: bool,
    /// Boxed here and below, since most schemas of a program are never used.
    quick: OnceLock<Option<Box<Rules>>>,
    work: OnceLock<Option<Box<Work>>>,
    /// Whether its values may have unordered parts.
    is_unordered: OnceLock<bool>,
    decider: OnceLock<Option<Decider>>,
}

impl CheckedSchema {
    #[must_use]
    pub fn new(schema: &Value) -> Self {
        Self { schema: Arc::new(modern_schema(schema)).into(), ..Self::of_type(|| Value::Null) }
    }

    /// Creates the schema of a Rust type; `write` is called on first use.
    pub(crate) fn of_type(write: fn() -> Value) -> Self {
        Self {
            schema: OnceLock::new(),
            checked: None,
            write,
            is_untrusted: false,
            quick: OnceLock::new(),
            is_unordered: OnceLock::new(),
            work: OnceLock::new(),
            decider: OnceLock::new(),
        }
    }

    /// Returns the schema in draft 2020-12, and without schemas that are `true` or `false`, which some clients and servers refuse.
    pub(crate) fn schema(&self) -> &Arc<Value> {
        self.schema.get_or_init(|| Arc::new(modern_schema(&(self.write)())))
    }

    /// Marks the schema as untrusted: it does not come from a Rust type.
    #[must_use]
    pub fn untrusted(self) -> Self {
        Self { is_untrusted: true, ..self }
    }

    /// Sets a different schema for checks, which allows all values that this one allows.
    pub(crate) fn checked_by(self, checked: Value) -> Self {
        Self { checked: Some(Arc::new(checked)), ..self }
    }

    fn checked(&self) -> &Arc<Value> {
        self.checked.as_ref().unwrap_or_else(|| self.schema())
    }

    /// Returns whether values may have unordered parts, such as a `HashSet`.
    pub(crate) fn is_unordered(&self) -> bool {
        *self.is_unordered.get_or_init(|| canonical::is_needed(self.schema()))
    }

    /// Returns the normal form of a value, with sets and maps sorted: equal values have the same JSON in each process.
    ///
    /// For comparisons only: calls run with arguments in the given order.
    pub(crate) fn canonical(&self, mut value: Value) -> Value {
        if self.is_unordered() {
            canonical::sort(self.schema(), &mut value);
        }
        value
    }

    /// Checks a value as [`check`](Self::check) does, on a blocking thread if it may take long.
    pub async fn check_async(self: &Arc<Self>, value: Value) -> (Value, Result<(), String>) {
        if !self.is_slow(&value) {
            let checked = self.check(&value);
            return (value, checked);
        }
        let schema = Arc::clone(self);
        run_blocking(move |is_wanted| {
            let checked = schema.check_while(&value, is_wanted);
            (value, checked)
        })
        .await
    }

    /// Returns whether the schema does not come from a Rust type.
    pub(crate) fn is_untrusted(&self) -> bool {
        self.is_untrusted
    }

    /// Returns whether checking a value may block an async thread for too long.
    ///
    /// The schema of a Rust type is trusted: its author chose the work that it demands.
    pub(crate) fn is_slow(&self, value: &Value) -> bool {
        let is_quick = |work: &Work| work.is_built_quickly() && !work.exceeds(value, QUICK_WORK);
        self.is_untrusted && !self.is_quickly_accepted(value) && !self.work().is_some_and(is_quick)
    }

    /// Returns whether the schema is untrusted and its rules accept the value, with work in proportion to the value.
    fn is_quickly_accepted(&self, value: &Value) -> bool {
        if !self.is_untrusted {
            return false;
        }
        let build = || Rules::of(&bounded(self.checked())).ok().filter(Rules::are_linear).map(Box::new);
        self.quick.get_or_init(build).as_ref().is_some_and(|rules| rules.hold(value))
    }

    fn work(&self) -> Option<&Work> {
        self.work.get_or_init(|| Work::of(self.checked()).map(Box::new)).as_deref()
    }

    /// Returns the faults of `value` with their locations, at most [`MAX_FAULTS`].
    pub fn check(&self, value: &Value) -> Result<(), String> {
        self.check_while(value, &|| true)
    }

    /// Returns whether a value follows the schema; `None` if the check takes too much work, or if the schema is
    /// invalid.
    pub(crate) fn holds(&self, value: &Value) -> Option<bool> {
        if self.is_quickly_accepted(value) {
            return Some(true);
        }
        if self.is_too_much(value) {
            return None;
        }
        Some(self.decider()?.holds(value))
    }

    /// Checks the value of one property; the rest of an object of the schema may be missing.
    pub(crate) fn check_property(schema: &Value, name: &str, value: &Value) -> Result<(), String> {
        let property = &schema["properties"][name];
        let mut alone = json!({ "type": "object", "properties": { name: property } });
        if let Some(defs) = schema.get("$defs") {
            alone["$defs"] = defs.clone();
        }
        Self::new(&alone).check(&json!({ name: value }))
    }

    /// Checks a value as [`check`](Self::check) does; stops once `is_wanted` returns false.
    fn check_while(&self, value: &Value, is_wanted: &dyn Fn() -> bool) -> Result<(), String> {
        if self.is_quickly_accepted(value) || !is_wanted() {
            return Ok(());
        }
        if self.is_too_much(value) {
            let fault = "the value takes too much work to validate against its schema; make it smaller or less nested";
            // For a Rust type, decoding decides.
            return if self.is_untrusted { Err(fault.to_owned()) } else { Ok(()) };
        }
        // If the schema of a type is invalid, decoding decides.
        let is_faulty = |decider: &&Decider| is_wanted() && !decider.holds(value);
        let Some(decider) = self.decider().filter(is_faulty) else { return Ok(()) };
        let (mut faults, unlisted) = decider.faults(value, is_wanted);
        if unlisted > 0 {
            faults.push(format!("and {unlisted} more"));
        }
        Err(faults.join("; "))
    }

    /// Returns whether the validator would take too long for `value`.
    ///
    /// For a type that is not recursive, the work is proportional to the value, so it is never too much.
    fn is_too_much(&self, value: &Value) -> bool {
        let Some(work) = self.work() else { return self.is_untrusted };
        (self.is_untrusted || work.is_cyclic()) && work.exceeds(value, MAX_WORK)
    }

    /// Returns the check that decides about values, built once.
    fn decider(&self) -> Option<&Decider> {
        let build = || {
            let schema = bounded(self.checked());
            let rules = Some(&schema).filter(|_| !self.is_untrusted).and_then(|schema| Rules::of(schema).ok());
            rules.map(Decider::Rules).or_else(|| Some(Decider::Validator(Validator::of(schema, self.is_untrusted)?)))
        };
        self.decider.get_or_init(build).as_ref()
    }

    /// Returns the first part of a Rust type's schema that only the feature `json-schema` can check, if any.
    #[cfg(not(feature = "json-schema"))]
    pub(crate) fn unsupported(&self) -> Option<String> {
        Rules::of(&bounded(self.schema())).err()
    }

    /// Describes the first fault of a value, if it has one, with the value itself.
    pub(crate) fn first_fault(schema: &Value, value: &Value) -> Option<String> {
        match Rules::of(&bounded(schema)) {
            Ok(rules) => rules.first_fault(value),
            Err(_) => Validator::of(schema.clone(), false)?.first_fault(value),
        }
    }
}

/// Adds the bounds implied by number formats; they are not sent to models, since they rarely matter.
pub(super) fn bounded(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Ok(schema) = <&mut Schema>::try_from(&mut schema) {
        RecursiveTransform(bound).transform(schema);
    }
    schema
}

fn bound(schema: &mut Schema) {
    let Some((least, greatest)) = schema.get("format").and_then(Value::as_str).and_then(range) else { return };
    if let Some(keywords) = schema.as_object_mut() {
        keywords.entry("minimum").or_insert(least);
        keywords.entry("maximum").or_insert(greatest);
    }
}

/// Returns the minimum and maximum of a number format; 128-bit formats are limited to the numbers of `serde_json`.
fn range(format: &str) -> Option<(Value, Value)> {
    let range = match format {
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" => (i64::MIN.into(), i64::MAX.into()),
        "int" => (isize::MIN.into(), isize::MAX.into()),
        "int128" => (i64::MIN.into(), u64::MAX.into()),
        "uint32" => (0.into(), u32::MAX.into()),
        "uint" => (0.into(), usize::MAX.into()),
        "uint64" | "uint128" => (0.into(), u64::MAX.into()),
        "float" => (f32::MIN.into(), f32::MAX.into()),
        _ => return None,
    };
    Some(range)
}

/// Converts the whole numbers in `value` to integers: `1.0` is an integer to JSON Schema, but not to serde.
pub(crate) fn make_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            if let Some(whole) = whole(number) {
                *number = whole;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        _ => {}
    }
}

/// Returns whether `value` contains whole numbers that are not written as integers.
pub(crate) fn has_whole(value: &Value) -> bool {
    match value {
        Value::Number(number) => whole(number).is_some(),
        Value::Array(items) => items.iter().any(has_whole),
        Value::Object(fields) => fields.values().any(has_whole),
        _ => false,
    }
}

fn whole(number: &Number) -> Option<Number> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    Number::from_i128(format!("{float:.0}").parse().ok()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_of_a_type_that_takes_too_much_work_is_left_to_decoding() {
        let next = json!({ "properties": { "next": { "$ref": "#" } } });
        let schema = CheckedSchema::new(&json!({ "type": "object", "allOf": [next, next] }));
        let list = |nodes| (0..nodes).fold(json!(1), |next, _| json!({ "next": next }));
        assert!(schema.check(&list(4)).is_err());
        assert_eq!(schema.check(&list(100)), Ok(()));
        assert!(schema.untrusted().check(&list(100)).is_err());
    }

    #[test]
    fn a_large_value_of_a_plain_untrusted_schema_is_accepted_quickly() {
        let number = json!({ "type": "integer", "minimum": 0 });
        let list = |item| CheckedSchema::new(&json!({ "type": "array", "items": item })).untrusted();
        let numbers = |last: i64| Value::from([vec![0; 20_000], vec![last]].concat());
        let (plain, combined) = (list(number.clone()), list(json!({ "anyOf": [number] })));
        assert!(!plain.is_slow(&numbers(1)) && plain.check(&numbers(1)).is_ok());
        assert!(plain.is_slow(&numbers(-1)) && plain.check(&numbers(-1)).is_err());
        assert!(combined.is_slow(&numbers(1)) && combined.check(&numbers(1)).is_ok());
    }
}
