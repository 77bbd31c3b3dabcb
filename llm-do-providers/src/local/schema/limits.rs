//! How long what has no bound may become.

use serde_json::{Map, Value, json};

use super::said::Said;

/// How long a string may be where its schema does not say.
const LONGEST: u64 = 200;

/// How long a string of one of the formats below may be where its schema does not say.
const LONGEST_FORMATTED: u64 = 60;

/// The formats whose texts are short, or would be, had they not digits or zeros that go on.
const SHORT: [&str; 7] = ["date", "date-time", "duration", "ipv4", "ipv6", "time", "uuid"];

/// What a text looks like where its schema does not say: most words are known to the model with the space before them,
/// and it would write that too. A text of nothing but white space is one that is meant.
const TEXT: &str = r"^(\S[\s\S]*|\s{0,4})$";

/// How many items an array, or entries a map, may have where its schema does not say: the model seldom stops before.
const MOST: u64 = 8;

/// How many there may be in a value of any kind.
const FEW: u64 = 4;

/// How deep lists and objects are in a value of any kind.
const DEPTH: usize = 2;

/// How large an integer may be where its schema does not say: it fits 32 bits.
const GREATEST: i64 = 2_000_000_000;

/// What adds bounds to a schema of one type.
type Bound = fn(&mut Map<String, Value>);

/// How each type is bounded.
const BOUNDS: [(&str, Bound); 3] = [("string", bound_string), ("array", bound_array), ("integer", bound_integer)];

/// Returns the schema of any value, short.
pub(super) fn anything() -> Map<String, Value> {
    any(DEPTH)
}

fn any(depth: usize) -> Map<String, Value> {
    let scalar = json!({"type": ["string", "number", "boolean", "null"], "maxLength": LONGEST, "pattern": TEXT});
    let schema = match depth.checked_sub(1).map(any) {
        None => scalar,
        Some(inner) => json!({"anyOf": [
            scalar,
            {"type": "array", "items": inner, "maxItems": FEW},
            {"type": "object", "additionalProperties": inner, "maxProperties": FEW},
        ]}),
    };
    if let Value::Object(fields) = schema { fields } else { Map::new() }
}

/// Bounds the values of `fields`, as far as neither they nor what else is said of the same values does.
pub(super) fn bound(fields: &mut Map<String, Value>, beside: &Said) {
    for (name, bound) in BOUNDS {
        if has_type(fields, name) && !beside.speaks_of(name) {
            bound(fields);
        }
    }
    if has_type(fields, "object") || fields.contains_key("properties") {
        bound_object(fields, beside);
    }
}

/// Whether `fields` allow values of the type `name` by name.
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

fn default(fields: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    fields.entry(key).or_insert_with(|| value.into());
}

/// Bounds a string's length, whatever its pattern or format: these go on forever too.
fn bound_string(fields: &mut Map<String, Value>) {
    let least = count(fields, "minLength");
    let Some(format) = fields.get("format") else {
        default(fields, "maxLength", LONGEST.max(least));
        return default(fields, "pattern", TEXT);
    };
    let longest = if SHORT.iter().any(|short| format == short) { LONGEST_FORMATTED } else { LONGEST };
    default(fields, "maxLength", longest.max(least));
}

/// Closes an array that lists its items, and bounds one that does not.
fn bound_array(fields: &mut Map<String, Value>) {
    let (least, listed) = (count(fields, "minItems"), length(fields.get("prefixItems")));
    if listed > 0 && least <= listed {
        default(fields, "items", false);
    }
    default(fields, "items", any(1));
    default(fields, "maxItems", MOST.max(least).max(listed));
}

/// Bounds an integer by its format, such as `uint8`, which the grammar does not know, or by 32 bits.
fn bound_integer(fields: &mut Map<String, Value>) {
    let format = fields.get("format").and_then(Value::as_str).unwrap_or_default();
    let (least, greatest) = match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        _ if format.starts_with("uint") => (0, GREATEST),
        _ => (-GREATEST, GREATEST),
    };
    fields.remove("format");
    // A schema that starts beyond our bound keeps its own room.
    let stated = |key: &str| fields.get(key).or_else(|| fields.get(&exclusive(key))).and_then(Value::as_f64);
    #[expect(clippy::cast_precision_loss, reason = "the bounds fit 32 bits")]
    let beyond = stated("minimum").is_some_and(|low| low >= greatest as f64)
        || stated("maximum").is_some_and(|high| high <= least as f64);
    for (key, value) in [("minimum", least), ("maximum", greatest)] {
        if !beyond && !fields.contains_key(&exclusive(key)) {
            default(fields, key, value);
        }
    }
}

/// Returns the keyword of the bound that is not itself allowed.
fn exclusive(key: &str) -> String {
    if key == "minimum" { "exclusiveMinimum".to_owned() } else { "exclusiveMaximum".to_owned() }
}

/// Closes an object that names its properties, and bounds one that does not.
fn bound_object(fields: &mut Map<String, Value>, beside: &Said) {
    let named = length(fields.get("properties"));
    let least = count(fields, "minProperties").max(length(fields.get("required")));
    if fields.contains_key("additionalProperties") {
        if beside.is_empty() && fields["additionalProperties"] != false {
            default(fields, "maxProperties", MOST.max(least) + named);
        }
    } else if beside.is_open {
        // What others allow there is theirs to bound.
    } else if named > 0 || fields.contains_key("patternProperties") {
        close(fields, beside);
    } else if beside.named.is_empty() {
        // An object of whatever: nothing would be no worse an answer, and a small model writes much.
        default(fields, "additionalProperties", any(1));
        default(fields, "maxProperties", MOST.max(least));
    }
}

/// Allows the properties that others name, and no more.
fn close(fields: &mut Map<String, Value>, beside: &Said) {
    let own = Said::by(fields).required;
    default(fields, "properties", Map::new());
    let Some(Value::Object(properties)) = fields.get_mut("properties") else { return };
    for name in &beside.named {
        default(properties, name, true);
    }
    // Of those that must be there and that nobody names, nothing is known.
    for name in own.iter().chain(&beside.required) {
        default(properties, name, any(1));
    }
    default(fields, "additionalProperties", false);
}
