//! Validates values against any JSON Schema: from a file, a program or a model, or with keywords that the rules do not
//! support.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError, ValidationOptions};
use llm_do_providers::modern_schema;
use serde_json::Value;

use super::excess::excess;
use super::fault::{located, missing, unknown};
use super::format::Format;
use super::limits::{MAX_VALUE_DEPTH, is_shallow};

/// The maximum compiled size of a pattern that does not come from a Rust type, in bytes.
const MAX_PATTERN_SIZE: usize = 1 << 20;

/// A validator with its schema.
#[derive(Debug)]
pub(super) struct Validator {
    schema: Value,
    validator: jsonschema::Validator,
}

impl Validator {
    /// Returns `None` if the schema is invalid.
    pub(super) fn of(schema: Value, is_untrusted: bool) -> Option<Self> {
        let options = if is_untrusted { untrusted_options() } else { options() };
        let validator = options.build(&schema).ok()?;
        Some(Self { schema, validator })
    }

    pub(super) fn holds(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Describes the faults without the values, which may be secrets; returns at most `most` faults, and the number of
    /// further ones.
    ///
    /// Stops once `is_wanted` returns false.
    pub(super) fn faults(&self, value: &Value, most: usize, is_wanted: &dyn Fn() -> bool) -> (Vec<String>, usize) {
        let mut errors = self.validator.iter_errors(value).take_while(|_| is_wanted());
        let listed = errors.by_ref().take(most).map(|error| fault(&error, &self.schema)).collect();
        (listed, errors.count())
    }

    /// Describes the first fault, including the faulty value.
    pub(super) fn first_fault(&self, value: &Value) -> Option<String> {
        self.validator.iter_errors(value).next().map(|error| error.to_string())
    }
}

/// Returns why a schema is invalid, if it is; unresolved references are invalid too.
pub(crate) fn schema_fault(schema: &Value) -> Option<String> {
    jsonschema::draft202012::new(schema).err().map(|error| error.to_string())
}

/// Returns why a schema that does not come from a Rust type is rejected, if it is.
#[must_use]
pub fn untrusted_schema_fault(schema: &Value) -> Option<String> {
    // A schema that is nested deeper is refused before its conversion.
    let modern = is_shallow(schema, MAX_VALUE_DEPTH).then(|| modern_schema(schema));
    let schema = modern.as_ref().unwrap_or(schema);
    if let Some(excess) = excess(schema) {
        return Some(excess);
    }
    let error = untrusted_options().build(schema).err()?;
    let place = error.instance_path().as_str();
    let hint = match error.kind() {
        ValidationErrorKind::Format { format } if format == "regex" => {
            "; patterns are matched in linear time, so look-around and back-references are not supported"
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

/// A part of a schema for which no validator can be built.
pub(super) struct Rejection {
    /// Its path.
    pub(super) place: String,
    /// Whether it is a pattern that only a backtracking engine matches, and not an invalid part.
    pub(super) is_pattern: bool,
}

/// Returns the first part for which no validator can be built, if there is one.
pub(super) fn rejection(schema: &Value) -> Option<Rejection> {
    let error = untrusted_options().build(schema).err()?;
    let is_pattern = matches!(error.kind(), ValidationErrorKind::Format { format } if format == "regex");
    Some(Rejection { place: error.instance_path().as_str().to_owned(), is_pattern })
}

/// Returns [`options`] with patterns matched in linear time: a backtracking pattern could block its thread indefinitely.
fn untrusted_options() -> ValidationOptions<'static> {
    options().with_pattern_options(PatternOptions::regex().size_limit(MAX_PATTERN_SIZE))
}

/// Describes a fault and its location, without the value, which may be a secret.
fn fault(error: &ValidationError<'_>, schema: &Value) -> String {
    let message = match error.kind() {
        ValidationErrorKind::Required { property: Value::String(name) } => missing(name),
        ValidationErrorKind::AdditionalProperties { unexpected } => unknown(unexpected, known(error, schema)),
        _ => error.masked().to_string(),
    };
    located(message, error.instance_path().as_str())
}

/// Returns the declared fields of the schema that reported the error.
fn known<'a>(error: &ValidationError<'_>, schema: &'a Value) -> impl Iterator<Item = &'a str> {
    let (object, _) = error.schema_path().as_str().rsplit_once('/').unwrap_or_default();
    let fields = schema.pointer(object).and_then(|object| object["properties"].as_object());
    fields.into_iter().flat_map(|fields| fields.keys().map(String::as_str))
}

/// Returns options that check the formats of JSON Schema and of schemars, none more strictly than the Rust types behind them.
fn options<'a>() -> ValidationOptions<'a> {
    let formats = [
        ("duration", Format::Duration),
        ("ip", Format::Ip),
        ("partial-date-time", Format::PartialDateTime),
        ("partial-time", Format::PartialTime),
        ("uri", Format::Uri),
        ("zoned-date-time", Format::ZonedDateTime),
    ];
    let options = jsonschema::draft202012::options().should_validate_formats(true);
    formats
        .into_iter()
        .fold(options, |options, (name, format)| options.with_format(name, move |text: &str| format.holds(text)))
}
