//! Schemas, made fit for a small model: short in the prompt, bounded in the grammar.

use serde_json::{Map, Value, json};

use crate::schema::pointer::{decoded, pointed};

/// How long a string may be where its schema does not say.
const LONGEST: u64 = 200;

/// How long a string of a format, such as a date or an address, may be where its schema does not say.
const LONGEST_FORMATTED: u64 = 60;

/// How many items an array, or entries a map, may have where its schema does not say: the model seldom stops before.
const MOST: u64 = 8;

/// How large an integer may be where its schema does not say: it fits 32 bits.
const GREATEST: i64 = 2_000_000_000;

/// How deep a schema is followed: a recursive type has no end.
const DEPTH: usize = 8;

/// The keywords of which one makes a schema more than "any value".
const ASSERTIONS: [&str; 10] =
    ["type", "$ref", "const", "enum", "anyOf", "oneOf", "allOf", "properties", "items", "patternProperties"];

/// What adds bounds to a schema of one type.
type Bound = fn(&mut Map<String, Value>);

/// How each type is bounded.
const BOUNDS: [(&str, Bound); 4] =
    [("string", bound_string), ("array", bound_array), ("integer", bound_integer), ("object", bound_object)];

/// Returns `schema` with a bound on everything that could go on until the tokens run out.
pub(super) fn bounded(schema: &Value) -> Value {
    let mut schema = moved_to("", schema);
    bound(&mut schema);
    schema
}

/// Returns `schema` for use at `place`, a JSON pointer, of a larger one: its references are led there, by names as they are,
/// since the grammar's library decodes none.
pub(super) fn moved_to(place: &str, schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(key, value)| moved_field(place, key, value)).collect())
        }
        Value::Array(items) => items.iter().map(|item| moved_to(place, item)).collect(),
        other => other.clone(),
    }
}

fn moved_field(place: &str, key: &str, value: &Value) -> (String, Value) {
    let target = value.as_str().filter(|_| key == "$ref").and_then(|target| target.strip_prefix('#'));
    let value = target.map_or_else(|| moved_to(place, value), |target| format!("#{place}{}", decoded(target)).into());
    (key.to_owned(), value)
}

/// Adds bounds to `schema` and to the schemas in it.
fn bound(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(fields) = schema else { return };
    if !fields.keys().any(|key| ASSERTIONS.contains(&key.as_str())) {
        fields.insert("type".to_owned(), json!(["string", "integer", "boolean", "null"]));
    }
    bound_inner(fields);
    if fields.contains_key("const") || fields.contains_key("enum") {
        return;
    }
    for (name, bound) in BOUNDS {
        if has_type(fields, name) {
            bound(fields);
        }
    }
}

/// Adds bounds to the schemas in `fields`; what stands under other keys is data, in which `type` means nothing.
fn bound_inner(fields: &mut Map<String, Value>) {
    let composed = is_composed(fields);
    for (key, value) in fields.iter_mut() {
        match (key.as_str(), value) {
            ("properties" | "$defs" | "definitions" | "patternProperties", Value::Object(named)) => {
                named.values_mut().for_each(bound);
            }
            ("anyOf" | "oneOf", Value::Array(schemas)) if !composed => schemas.iter_mut().for_each(bound),
            ("prefixItems", Value::Array(schemas)) => schemas.iter_mut().for_each(bound),
            ("items" | "additionalProperties", value) => bound(value),
            _ => {}
        }
    }
}

/// Whether an object's properties come from several schemas at once, so that none of them may be closed.
fn is_composed(fields: &Map<String, Value>) -> bool {
    let others = ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|key| fields.contains_key(*key));
    others && fields.contains_key("properties")
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

fn default(fields: &mut Map<String, Value>, key: &str, value: impl Into<Value>) {
    fields.entry(key).or_insert_with(|| value.into());
}

/// Bounds a string's length, whatever its pattern or format: these go on forever too.
fn bound_string(fields: &mut Map<String, Value>) {
    let least = count(fields, "minLength");
    if fields.contains_key("format") {
        return default(fields, "maxLength", LONGEST_FORMATTED.max(least));
    }
    default(fields, "maxLength", LONGEST.max(least));
    // Most words are known to the model with the space before them, and it would write that too.
    default(fields, "pattern", r"^(\S[\s\S]*)?$");
}

fn bound_array(fields: &mut Map<String, Value>) {
    default(fields, "items", json!({ "type": "string", "maxLength": LONGEST }));
    default(fields, "maxItems", MOST.max(count(fields, "minItems")));
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
fn bound_object(fields: &mut Map<String, Value>) {
    if is_composed(fields) {
        return;
    }
    let named = fields.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
    if named {
        default(fields, "additionalProperties", false);
    } else if fields.contains_key("additionalProperties") {
        default(fields, "maxProperties", MOST.max(count(fields, "minProperties")));
    } else {
        // An object of whatever: nothing would be no worse an answer, and a small model writes much.
        default(fields, "additionalProperties", json!({ "type": "string", "maxLength": LONGEST }));
        default(fields, "maxProperties", MOST.max(count(fields, "minProperties")));
    }
}

/// Returns `schema` in the fewest words, such as `{"name": string, "age": integer}`: each word of a prompt takes time.
pub(super) fn sketch(schema: &Value) -> String {
    part(schema, schema, DEPTH)
}

fn part(root: &Value, schema: &Value, depth: usize) -> String {
    if depth == 0 {
        return "...".to_owned();
    }
    let inner = |schema: &Value| part(root, schema, depth - 1);
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return pointed(root, target).map_or_else(|| "any".to_owned(), inner);
    }
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    if let Some(alternatives) = alternatives {
        return alternatives.iter().map(inner).collect::<Vec<_>>().join(" | ");
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    typed(schema, inner)
}

fn typed(schema: &Value, inner: impl Fn(&Value) -> String) -> String {
    match schema.get("type") {
        Some(Value::String(kind)) if kind == "object" => object(schema, inner),
        Some(Value::String(kind)) if kind == "array" => {
            format!("[{}]", schema.get("items").map_or_else(|| "any".to_owned(), inner))
        }
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | "),
        _ => "any".to_owned(),
    }
}

fn object(schema: &Value, inner: impl Fn(&Value) -> String) -> String {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return "{}".to_owned() };
    let fields: Vec<_> = properties.iter().map(|(name, value)| format!("\"{name}\": {}", inner(value))).collect();
    format!("{{{}}}", fields.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{bounded, moved_to, sketch};

    #[test]
    fn what_has_no_bound_gets_one() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string"}, "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            "age": {"type": "integer", "format": "uint8", "minimum": 0},
        }});
        let expected = json!({"type": "object", "additionalProperties": false, "properties": {
            "name": {"type": "string", "maxLength": 200, "pattern": r"^(\S[\s\S]*)?$"},
            "tags": {"type": "array", "maxItems": 8, "items": {"type": ["string", "null"], "maxLength": 200, "pattern": r"^(\S[\s\S]*)?$"}},
            "age": {"type": "integer", "minimum": 0, "maximum": 255},
        }});
        assert_eq!(bounded(&schema), expected);
    }

    #[test]
    fn a_bound_that_is_there_stays() {
        let schema = json!({"type": "string", "maxLength": 5, "pattern": "^a"});
        assert_eq!(bounded(&schema), schema);
        let far = json!({"type": "integer", "minimum": 5_000_000_000_i64});
        assert_eq!(bounded(&far), far);
    }

    #[test]
    fn a_property_called_type_is_no_type() {
        let schema =
            json!({"type": "object", "additionalProperties": false, "properties": {"type": {"const": "string"}}});
        assert_eq!(bounded(&schema), schema);
    }

    #[test]
    fn references_are_led_to_where_the_schema_is_put() {
        let schema = json!({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#"}}}});
        let expected = json!({"properties": {"a": {"$ref": "#/$defs/t/$defs/A"}}, "$defs": {"A": {"items": {"$ref": "#/$defs/t"}}}});
        assert_eq!(moved_to("/$defs/t", &schema), expected);
    }

    #[test]
    fn names_in_references_are_as_the_grammars_library_looks_them_up() {
        let schema =
            json!({"properties": {"a": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}}, "$defs": {"Größe": {"const": 1}}});
        assert_eq!(bounded(&schema)["properties"]["a"]["$ref"], "#/$defs/Größe");
        assert_eq!(moved_to("/$defs/t", &schema)["properties"]["a"]["$ref"], "#/$defs/t/$defs/Größe");
        assert_eq!(
            sketch(&json!({"type": "array", "items": schema["properties"]["a"], "$defs": schema["$defs"]})),
            "[1]"
        );
    }

    #[test]
    fn a_sketch_is_short_and_ends() {
        let schema = json!({"type": "object", "properties": {
            "name": {"type": "string"}, "mood": {"enum": ["good", "bad"]}, "nick": {"type": ["string", "null"]},
            "children": {"type": "array", "items": {"$ref": "#/$defs/Child"}},
        }, "$defs": {"Child": {"type": "object", "properties": {"age": {"type": "integer"}}}}});
        let expected =
            r#"{"name": string, "mood": "good" | "bad", "nick": string | null, "children": [{"age": integer}]}"#;
        assert_eq!(sketch(&schema), expected);
        assert!(sketch(&json!({"type": "array", "items": {"$ref": "#"}})).ends_with("...]]]]"));
    }
}
