//! Which parts of a schema are enforced, which are described, and which are refused.

use serde_json::{Map, Value, json};

use super::translate;

fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "required": ["p"]})
}

fn of_property(schema: &Value) -> Result<Value, String> {
    let enforced = translate(&object(&json!({"p": schema})));
    enforced.map(|schema| schema["properties"]["p"].clone()).map_err(|fault| fault.to_string())
}

#[test]
fn objects_are_closed_at_every_depth_and_optional_properties_stay_so() {
    let inner = json!({"type": "object", "properties": {"a": {"type": "null"}}});
    let mut closed = inner.clone();
    closed["additionalProperties"] = json!(false);
    assert_eq!(of_property(&inner), Ok(closed.clone()));
    let list = json!({"type": "array", "items": {"anyOf": [inner, {"type": "null"}]}});
    assert_eq!(of_property(&list).unwrap()["items"]["anyOf"][0], closed);
}

#[test]
fn bounds_are_described_and_formats_kept() {
    let described = json!({"type": "string", "description": "A name.\n\nMust also follow: {\"maxLength\":9}"});
    assert_eq!(of_property(&json!({"type": "string", "description": "A name.", "maxLength": 9})), Ok(described));
    let kept = json!({"type": "array", "items": {"type": "string", "format": "date"}, "minItems": 1});
    assert_eq!(of_property(&kept), Ok(kept.clone()));
    let text = "Default: 1.\n\nMust also follow: {\"format\":\"uint8\"}";
    let described = json!({"type": "integer", "description": text});
    assert_eq!(of_property(&json!({"type": "integer", "format": "uint8", "default": 1, "title": "N"})), Ok(described));
}

#[test]
fn a_tuple_is_a_list_of_what_may_stand_in_it() {
    let pair = |second: &str| {
        let places = json!([{"type": "integer"}, {"type": second}]);
        of_property(&json!({"type": "array", "prefixItems": places, "minItems": 2, "maxItems": 2})).unwrap()
    };
    assert_eq!(pair("integer")["items"], json!({"type": "integer"}));
    assert_eq!(pair("integer")["description"], "Must follow: {\"minItems\":2,\"maxItems\":2}");
    assert_eq!(pair("string")["items"], json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}));
    let described = pair("string")["description"].clone();
    assert!(
        described.as_str().unwrap().contains("\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}]"),
        "{described}"
    );
}

#[test]
fn a_description_beside_a_reference_goes_into_a_definition() {
    let to = |description: &str| json!({"$ref": "#/$defs/Point", "description": description, "default": null});
    let schema = json!({
        "type": "object", "required": ["a", "b", "c", "d"],
        "properties": {"a": to("From."), "b": to("To."), "c": {"$ref": "#/$defs/Point"}, "d": to("To.")},
        "$defs": {
            "Point": {"type": "object", "properties": {"x": {"type": "null"}}, "required": ["x"], "description": "A point."},
            "Other": {"type": "object"},
        }
    });
    let enforced = translate(&schema).unwrap();
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let properties = json!({"a": reference("Point"), "b": reference("Point-2"), "c": reference("Point-3"), "d": reference("Point-2")});
    assert_eq!(enforced["properties"], properties);
    let point = |description: &str| {
        json!({
            "type": "object", "properties": {"x": {"type": "null"}}, "required": ["x"], "additionalProperties": false,
            "description": format!("{description}A point."),
        })
    };
    let definitions = json!({
        "Point": point("From. Default: null. "), "Point-2": point("To. Default: null. "), "Point-3": point("")
    });
    assert_eq!(enforced["$defs"], definitions);
}

#[test]
fn a_definition_may_have_any_name() {
    let mut schema = object(&json!({"p": {"$ref": "#/$defs/Gr%C3%B6%C3%9Fe"}}));
    schema["$defs"] = json!({"Größe": {"type": "integer"}});
    let enforced = translate(&schema).unwrap();
    assert_eq!(enforced["properties"]["p"], json!({"$ref": "#/$defs/Gre"}));
    assert_eq!(enforced["$defs"], json!({"Gre": {"type": "integer"}}));
}

#[test]
fn either_of_several_is_any_of_them() {
    let variants = json!([{"const": "a"}, {"type": "null"}]);
    assert_eq!(of_property(&json!({"oneOf": variants})), Ok(json!({"anyOf": variants})));
}

#[test]
fn an_unsupported_part_is_refused_with_its_path() {
    let cases = [
        (json!(true), "a value of any kind at `#/properties/p`"),
        (json!({"description": "any"}), "a value of any kind at `#/properties/p`"),
        (json!({"type": "array"}), "a list of values of any kind at `#/properties/p`"),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "a map at `#/properties/p/additionalProperties`",
        ),
        (json!({"type": "object"}), "an object of any kind at `#/properties/p`"),
        (
            json!({"type": "object", "properties": {}, "required": ["a"]}),
            "an object with a required property that is not declared at `#/properties/p`",
        ),
        (json!({"enum": [{"a": 1}]}), "an `enum` with objects or arrays at `#/properties/p/enum`"),
        (
            json!({"type": "string", "if": {}}),
            "a keyword that structured output does not support at `#/properties/p/if`",
        ),
        (json!({"$ref": "#/$defs/a", "minimum": 1}), "a reference with sibling keywords at `#/properties/p`"),
        (json!({"$ref": "#/$defs/a~b"}), "a reference to nothing at `#/properties/p`"),
    ];
    for (schema, described) in cases {
        assert_eq!(of_property(&schema), Err(described.to_owned()), "{schema}");
    }
}

#[test]
fn a_recursive_type_is_refused_and_a_shared_one_is_not() {
    let mut schema = object(&json!({"p": {"$ref": "#/$defs/a"}, "q": {"$ref": "#/$defs/a"}}));
    schema["$defs"] = json!({"a": {"type": "array", "items": {"$ref": "#/$defs/b"}}, "b": {"type": "null"}});
    assert_eq!(translate(&schema).unwrap()["$defs"], schema["$defs"]);
    schema["$defs"]["b"] = json!({"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]});
    let error = translate(&schema).unwrap_err().to_string();
    assert_eq!(error, "a recursive type at `#/properties/p/items/anyOf/0`");
}

#[test]
fn descriptions_of_references_are_dropped_before_the_schema_is_refused() {
    let fields = |count| (0..count).map(|place| (format!("o{place}"), json!({"type": "null"}))).collect::<Map<_, _>>();
    let of = |count: usize| {
        let description = |text: &str| json!({"$ref": "#/$defs/T", "description": text});
        let mut schema =
            object(&json!({"a": description("One."), "b": description("Two."), "c": description("Three.")}));
        schema["required"] = json!(["a", "b", "c"]);
        schema["$defs"] = json!({"T": {"type": "object", "properties": fields(count)}});
        translate(&schema).unwrap()
    };
    assert_eq!(of(8)["$defs"].as_object().map(Map::len), Some(3));
    let narrow = of(9);
    assert_eq!((narrow["$defs"].as_object().map(Map::len), narrow.to_string().contains("Two.")), (Some(1), false));
}

#[test]
fn only_so_many_properties_may_be_optional_and_values_of_several_types() {
    let many = |count: usize, schema: &Value| {
        let properties = (0..count).map(|place| (format!("p{place}"), schema.clone()));
        let properties: serde_json::Map<_, _> = properties.collect();
        let required: Vec<_> = if schema["anyOf"].is_null() { vec![] } else { properties.keys().cloned().collect() };
        translate(&json!({"type": "object", "properties": properties, "required": required}))
    };
    let (plain, union) = (json!({"type": "null"}), json!({"anyOf": [{"type": "null"}]}));
    assert!(many(24, &plain).is_ok() && many(16, &union).is_ok());
    assert_eq!(many(25, &plain).unwrap_err().to_string(), "more than 24 optional properties at `#`");
    assert_eq!(many(17, &union).unwrap_err().to_string(), "more than 16 values of several types at `#`");
}
