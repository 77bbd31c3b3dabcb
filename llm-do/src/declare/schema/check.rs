//! Holding values to a schema, and to what its formats mean in Rust.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock, OnceLock};

use jiff::{SignedDuration, Span, Zoned};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, ValidationOptions, Validator};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Number, Value, json};

use super::apart::apart;
use super::canonical;
use super::limits::{MAX_WORK, QUICK_WORK, Work, excess};
use super::simple::Simple;

/// How many faults of one value are told: a model reads them all, and a list of a thousand may have a thousand.
const MAX_FAULTS: usize = 10;

/// The largest pattern that is not of a Rust type, compiled, in bytes.
const MAX_PATTERN_SIZE: usize = 1 << 20;

/// A schema and what holds values to it, each made when first needed.
#[derive(Debug)]
pub(crate) struct CheckedSchema {
    pub(crate) schema: Arc<Value>,
    /// Whether it is not made of a Rust type: a model or a file may ask for any amount of work.
    is_foreign: bool,
    simple: OnceLock<Option<Simple>>,
    work: OnceLock<Option<Work>>,
    /// Whether its values may have parts without an order.
    is_unordered: OnceLock<bool>,
    validator: OnceLock<Option<Validator>>,
}

impl CheckedSchema {
    pub(crate) fn new(schema: Value) -> Self {
        Self {
            schema: Arc::new(schema),
            is_foreign: false,
            simple: OnceLock::new(),
            is_unordered: OnceLock::new(),
            work: OnceLock::new(),
            validator: OnceLock::new(),
        }
    }

    /// The same, of a schema that is not made of a Rust type.
    pub(crate) fn foreign(self) -> Self {
        Self { is_foreign: true, ..self }
    }

    /// Returns whether values may have parts without an order, such as a `HashSet`.
    pub(crate) fn is_unordered(&self) -> bool {
        *self.is_unordered.get_or_init(|| canonical::is_needed(&self.schema))
    }

    /// Sorts all that has no order in the schema, also fields that it does not name: for values that are no Rust type's.
    pub(crate) fn sorted(&self, mut value: Value) -> Value {
        canonical::sort(&self.schema, &mut value);
        value
    }

    /// Sorts sets and maps, so that equal values are the same JSON in each process.
    pub(crate) fn canonical(&self, mut value: Value) -> Value {
        if self.is_unordered() {
            canonical::sort(&self.schema, &mut value);
        }
        value
    }

    /// Checks a value as [`check`](Self::check) does: off the async threads, if it may take long.
    pub(crate) async fn check_apart(self: &Arc<Self>, value: Value) -> (Value, Result<(), String>) {
        if !self.is_slow(&value) {
            let checked = self.check(&value);
            return (value, checked);
        }
        let schema = Arc::clone(self);
        apart(move |is_wanted| {
            let checked = schema.check_while(&value, is_wanted);
            (value, checked)
        })
        .await
    }

    /// Returns whether it is not made of a Rust type.
    pub(crate) fn is_foreign(&self) -> bool {
        self.is_foreign
    }

    /// Returns whether to check a value may take longer than an async thread may be held.
    ///
    /// The schema of a Rust type asks for no more work than its author had it ask for.
    pub(crate) fn is_slow(&self, value: &Value) -> bool {
        let is_quick = |work: &Work| work.is_built_quickly() && !work.exceeds(value, QUICK_WORK);
        self.is_foreign && !self.is_simple(value) && !self.work().is_some_and(is_quick)
    }

    /// Returns whether values are simply seen to keep to the schema.
    fn is_simple(&self, value: &Value) -> bool {
        let simple = self.simple.get_or_init(|| Simple::of(&bounded(&self.schema)));
        simple.as_ref().is_some_and(|simple| simple.holds(value))
    }

    fn work(&self) -> Option<&Work> {
        self.work.get_or_init(|| Work::of(&self.schema)).as_ref()
    }

    /// Says what is wrong with `value`, and where: everything, up to [`MAX_FAULTS`].
    pub(crate) fn check(&self, value: &Value) -> Result<(), String> {
        self.check_while(value, &|| true)
    }

    /// The same, step by step: once `is_wanted` returns false, it stops, and finds no more faults.
    fn check_while(&self, value: &Value, is_wanted: &dyn Fn() -> bool) -> Result<(), String> {
        if self.is_simple(value) || !is_wanted() {
            return Ok(());
        }
        if self.is_too_much(value) {
            // Of a type, decoding judges the value then.
            let fault = "holding it to its schema takes too much work; make it smaller, or nest less in it";
            return if self.is_foreign { Err(fault.to_owned()) } else { Ok(()) };
        }
        // A schema that the validator does not take is the type's own affair: decoding judges the value then.
        let validator = self.validator.get_or_init(|| self.options().build(&bounded(&self.schema)).ok());
        let is_faulty = |validator: &&Validator| is_wanted() && !validator.is_valid(value);
        let Some(validator) = validator.as_ref().filter(is_faulty) else { return Ok(()) };
        let mut errors = validator.iter_errors(value).take_while(|_| is_wanted());
        let mut faults: Vec<_> = errors.by_ref().take(MAX_FAULTS).map(|error| fault(&error, &self.schema)).collect();
        let others = errors.count();
        if others > 0 {
            faults.push(format!("and {others} more"));
        }
        Err(faults.join("; "))
    }

    /// Whether the validator would take too long for `value`.
    ///
    /// The work of a type that does not hold itself grows with the value alone, so that it is never too much.
    fn is_too_much(&self, value: &Value) -> bool {
        let Some(work) = self.work() else { return self.is_foreign };
        (self.is_foreign || work.is_cyclic()) && work.exceeds(value, MAX_WORK)
    }

    fn options(&self) -> ValidationOptions<'static> {
        if self.is_foreign { foreign_options() } else { options() }
    }
}

/// Says what keeps a schema that is not made of a Rust type from being one that is taken.
pub(crate) fn fault_of_foreign(schema: &Value) -> Option<String> {
    if let Some(excess) = excess(schema) {
        return Some(excess);
    }
    let error = foreign_options().build(schema).err()?;
    let place = error.instance_path().as_str();
    let hint = match error.kind() {
        ValidationErrorKind::Format { format } if format == "regex" => {
            "; a pattern may have no look-around and no back-reference, since it is matched in linear time"
        }
        _ if place.ends_with("/type") => {
            "; the types are `string`, `number`, `integer`, `boolean`, `array`, `object` and `null`"
        }
        _ => "",
    };
    let what =
        if place.is_empty() { error.to_string() } else { format!("invalid value `{}` at `{place}`", error.instance()) };
    Some(format!("is not a JSON Schema: {what}{hint}"))
}

/// As [`options`], with patterns that are matched in linear time: one that has to backtrack could hold its thread for ever.
fn foreign_options() -> ValidationOptions<'static> {
    options().with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_SIZE))
}

/// Says what is wrong and where, without the value: it may be a secret.
fn fault(error: &ValidationError<'_>, schema: &Value) -> String {
    let said = match error.kind() {
        ValidationErrorKind::Required { property: Value::String(name) } => format!("`{name}` is missing"),
        ValidationErrorKind::AdditionalProperties { unexpected } => unknown(unexpected, known(error, schema)),
        _ => error.masked().to_string(),
    };
    match error.instance_path().as_str() {
        "" => said,
        path => format!("{said} at `{path}`"),
    }
}

/// Says which fields there are not, and which there are.
fn unknown<'a>(unexpected: &[String], known: impl Iterator<Item = &'a str>) -> String {
    let quoted = |name: &str| format!("`{}`", name.escape_debug());
    let unknown: Vec<_> = unexpected.iter().map(|name| quoted(name)).collect();
    let known: Vec<_> = known.map(quoted).collect();
    let there_are =
        if known.is_empty() { "there are none".to_owned() } else { format!("there are {}", known.join(", ")) };
    format!("unknown {}: {there_are}", unknown.join(", "))
}

/// Returns the fields that stand beside the keyword that was not kept to.
fn known<'a>(error: &ValidationError<'_>, schema: &'a Value) -> impl Iterator<Item = &'a str> {
    let (object, _) = error.schema_path().as_str().rsplit_once('/').unwrap_or_default();
    let fields = schema.pointer(object).and_then(|object| object["properties"].as_object());
    fields.into_iter().flat_map(|fields| fields.keys().map(String::as_str))
}

/// Checks the formats of JSON Schema and of schemars, none more strictly than the Rust types that have them write it.
pub(super) fn options<'a>() -> ValidationOptions<'a> {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .with_format("duration", |text: &str| text.parse::<Span>().is_ok() || text.parse::<SignedDuration>().is_ok())
        .with_format("ip", |text: &str| text.parse::<IpAddr>().is_ok())
        .with_format("partial-date-time", |text: &str| is_local(text))
        .with_format("partial-time", |text: &str| is_local(&format!("2000-01-01T{text}")))
        .with_format("uri", has_scheme)
        .with_format("zoned-date-time", |text: &str| text.parse::<Zoned>().is_ok())
}

/// Whether a text is a date and a time of RFC 3339 but for the offset.
fn is_local(text: &str) -> bool {
    static WITH_OFFSET: LazyLock<Option<Validator>> = LazyLock::new(|| {
        let schema = json!({ "format": "date-time" });
        jsonschema::draft202012::options().should_validate_formats(true).build(&schema).ok()
    });
    WITH_OFFSET.as_ref().is_none_or(|validator| validator.is_valid(&json!(format!("{text}Z"))))
}

/// Whether a text begins as an absolute address; the Web allows more in the rest of one than RFC 3986 does.
fn has_scheme(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_inner)
}

/// Adds the bounds that go without saying where a number has a format; models are not shown what rarely matters.
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

/// The least and the greatest number of a format; those of 128 bits end where numbers of `serde_json` do.
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

/// Writes the whole numbers in `value` as integers.
///
/// To JSON Schema `1.0` is an integer, to serde it is none.
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

/// Returns whether there are whole numbers in `value` that are not written as integers.
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
    fn a_value_that_takes_too_much_work_is_left_to_the_decoding_of_a_type() {
        let next = json!({ "properties": { "next": { "$ref": "#" } } });
        let schema = CheckedSchema::new(json!({ "type": "object", "allOf": [next, next] }));
        let list = |nodes| (0..nodes).fold(json!(1), |next, _| json!({ "next": next }));
        assert!(schema.check(&list(4)).is_err());
        assert_eq!(schema.check(&list(100)), Ok(()));
        assert!(schema.foreign().check(&list(100)).is_err());
    }
}
