//! Default limits for values whose schema has none.

use serde_json::{Map, Value, json};

use super::summary::SchemaSummary;

/// The maximum length of a string, in characters.
const MAX_LENGTH: u64 = 200;

/// The maximum length of a string with one of the formats below, in characters.
const MAX_FORMATTED_LENGTH: u64 = 60;

/// The formats whose values are short, but whose digits or zeros could go on.
const SHORT_FORMATS: [&str; 7] = ["date", "date-time", "duration", "ipv4", "ipv6", "time", "uuid"];

/// The default pattern of a string. Most words of a vocabulary start with a space, which the model would copy; a
/// string of white space only is kept as intended.
const TEXT_PATTERN: &str = r"^(\S[\s\S]*|\s{0,4})$";

/// The maximum number of items of an array, or entries of a map: the model rarely stops before.
const MAX_ITEMS: u64 = 8;

/// The maximum number of items or entries in a value of any type.
const MAX_ANY_ITEMS: u64 = 4;

/// The nesting depth of a value of any type.
const ANY_DEPTH: usize = 2;

/// The maximum absolute value of an integer: it fits 32 bits.
const MAX_INTEGER: i64 = 2_000_000_000;

/// Adds limits to a schema of one type.
type Limiter = fn(&mut Map<String, Value>);

/// The function that limits each type.
const LIMITERS: [(&str, Limiter); 3] = [("string", bound_string), ("array", bound_array), ("integer", bound_integer)];

/// Returns a bounded schema for any value.
pub(super) fn any_value() -> Map<String, Value> {
    any_to_depth(ANY_DEPTH)
}

fn any_to_depth(depth: usize) -> Map<String, Value> {
    let scalar =
        json!({"type": ["string", "number", "boolean", "null"], "maxLength": MAX_LENGTH, "pattern": TEXT_PATTERN});
    let schema = match depth.checked_sub(1).map(any_to_depth) {
        None => scalar,
        Some(inner) => json!({"anyOf": [
            scalar,
            {"type": "array", "items": inner, "maxItems": MAX_ANY_ITEMS},
            {"type": "object", "additionalProperties": inner, "maxProperties": MAX_ANY_ITEMS},
        ]}),
    };
    if let Value::Object(fields) = schema { fields } else { Map::new() }
}

/// Adds limits to `fields`, except where `fields` or `siblings` already have them.
pub(super) fn bound(fields: &mut Map<String, Value>, siblings: &SchemaSummary) {
    for (name, bound) in LIMITERS {
        if has_type(fields, name) && !siblings.constrains(name) {
            bound(fields);
        }
    }
    if has_type(fields, "object") || fields.contains_key("properties") {
        bound_object(fields, siblings);
    }
}

/// Returns whether `type` includes `name`.
fn has_type(fields: &Map<String, Value>, name: &str) -> bool {
    match fields.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}

fn count(fields: &Map<String, Value>, key: &str) -> u64 {
    fields.get(key).and_then(Value::as_u64).unwrap_or(0)
}

fn length(value: Option<&Value>) -> u64 {
    let length = match value {
        Some(Value::Array(items)) => items.len(),
        Some(Value::Object(fields)) => fields.len(),
        _ => 0,
    };
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn set_default(fields: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    fields.entry(key).or_insert_with(|| value.into());
}

/// Limits the length of a string, even with a pattern or format: these may be unbounded too.
fn bound_string(fields: &mut Map<String, Value>) {
    let minimum = count(fields, "minLength");
    let Some(format) = fields.get("format") else {
        set_default(fields, "maxLength", MAX_LENGTH.max(minimum));
        return set_default(fields, "pattern", TEXT_PATTERN);
    };
    let longest = if SHORT_FORMATS.iter().any(|short| format == short) { MAX_FORMATTED_LENGTH } else { MAX_LENGTH };
    set_default(fields, "maxLength", longest.max(minimum));
}

/// Closes an array with `prefixItems`, and limits one without.
fn bound_array(fields: &mut Map<String, Value>) {
    let (minimum, listed) = (count(fields, "minItems"), length(fields.get("prefixItems")));
    if listed > 0 && minimum <= listed {
        set_default(fields, "items", false);
    }
    set_default(fields, "items", any_to_depth(1));
    set_default(fields, "maxItems", MAX_ITEMS.max(minimum).max(listed));
}

/// Limits an integer by its format, such as `uint8`, which llguidance does not support, or to 32 bits.
fn bound_integer(fields: &mut Map<String, Value>) {
    let format = fields.get("format").and_then(Value::as_str).unwrap_or_default();
    let (minimum, maximum) = match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        _ if format.starts_with("uint") => (0, MAX_INTEGER),
        _ => (-MAX_INTEGER, MAX_INTEGER),
    };
    fields.remove("format");
    // A schema with a bound beyond ours keeps only its own.
    let stated = |key: &str| fields.get(key).or_else(|| fields.get(&exclusive(key))).and_then(Value::as_f64);
    #[expect(clippy::cast_precision_loss, reason = "the bounds fit 32 bits")]
    let beyond = stated("minimum").is_some_and(|low| low >= maximum as f64)
        || stated("maximum").is_some_and(|high| high <= minimum as f64);
    for (key, value) in [("minimum", minimum), ("maximum", maximum)] {
        if !beyond && !fields.contains_key(&exclusive(key)) {
            set_default(fields, key, value);
        }
    }
}

/// Returns the exclusive form of the keyword.
fn exclusive(key: &str) -> String {
    if key == "minimum" { "exclusiveMinimum".to_owned() } else { "exclusiveMaximum".to_owned() }
}

/// Closes an object with named properties, and limits one without.
fn bound_object(fields: &mut Map<String, Value>, siblings: &SchemaSummary) {
    let named = length(fields.get("properties"));
    let minimum = count(fields, "minProperties").max(length(fields.get("required")));
    if fields.contains_key("additionalProperties") {
        if siblings.is_empty() && fields["additionalProperties"] != false {
            set_default(fields, "maxProperties", MAX_ITEMS.max(minimum) + named);
        }
    } else if siblings.is_open {
        // A sibling allows further properties and limits them.
    } else if named > 0 || fields.contains_key("patternProperties") {
        close(fields, siblings);
    } else if siblings.named.is_empty() {
        // An arbitrary object: an empty one would be as useful, and a small model writes a lot.
        set_default(fields, "additionalProperties", any_to_depth(1));
        set_default(fields, "maxProperties", MAX_ITEMS.max(minimum));
    }
}

/// Allows the properties that siblings name, and no more.
fn close(fields: &mut Map<String, Value>, siblings: &SchemaSummary) {
    let required = SchemaSummary::from_fields(fields).required;
    set_default(fields, "properties", Map::new());
    let Some(Value::Object(properties)) = fields.get_mut("properties") else { return };
    for name in &siblings.named {
        set_default(properties, name, true);
    }
    // Required properties that no schema names may have any value.
    for name in required.iter().chain(&siblings.required) {
        set_default(properties, name, any_to_depth(1));
    }
    set_default(fields, "additionalProperties", false);
}
