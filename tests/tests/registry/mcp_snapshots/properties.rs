//! Properties of comparisons, with the crate jsonschema as the judge of what a schema accepts.

use llm_do::mcp::{Changes, Snapshot};
use llm_do::{Value, json};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select, subsequence};
use proptest::test_runner::RngSeed;
use serde_json::Map;

fn bounds(name: &'static str, low: &'static str, high: &'static str) -> impl Strategy<Value = Value> {
    (option::of(0..4_i64), option::of(2..6_i64)).prop_map(move |(min, max)| {
        let mut schema = json!({ "type": name });
        if let Some(min) = min {
            schema[low] = min.into();
        }
        if let Some(max) = max {
            schema[high] = max.into();
        }
        schema
    })
}

fn leaf() -> impl Strategy<Value = Value> {
    let texts = subsequence(vec!["a", "bb", "ccc"], 1..=3);
    prop_oneof![
        Just(json!({ "type": "boolean" })),
        Just(json!({ "type": ["string", "null"] })),
        texts.prop_map(|texts| json!({ "enum": texts })),
        Just(json!({ "type": "string", "pattern": "^b" })),
        bounds("string", "minLength", "maxLength"),
        bounds("integer", "minimum", "exclusiveMaximum"),
        bounds("number", "exclusiveMinimum", "maximum"),
        select(vec![1, 2, 4]).prop_map(|of| json!({ "type": "integer", "multipleOf": of })),
        Just(json!({ "$ref": "#/$defs/Shared" })),
    ]
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    btree_map(select(vec!["p", "q", "r"]), (inner, any::<bool>()), 1..=3).prop_map(|fields| {
        let required: Vec<_> =
            fields.iter().filter(|(_, (_, is_required))| *is_required).map(|(name, _)| *name).collect();
        let properties: Map<_, _> = fields.into_iter().map(|(name, (schema, _))| (name.to_owned(), schema)).collect();
        json!({ "type": "object", "properties": properties, "required": required })
    })
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 16, 3, |inner| {
        prop_oneof![
            object(inner.clone()),
            (inner.clone(), option::of(0..3)).prop_map(|(items, max)| match max {
                Some(max) => json!({ "type": "array", "items": items, "maxItems": max }),
                None => json!({ "type": "array", "items": items }),
            }),
            inner.clone().prop_map(|values| json!({ "type": "object", "additionalProperties": values })),
            vec(inner.clone(), 1..=3).prop_map(|parts| json!({ "anyOf": parts })),
            vec(inner.clone(), 1..=2).prop_map(|parts| json!({ "oneOf": parts })),
            vec(inner, 1..=2).prop_map(|parts| json!({ "allOf": parts })),
        ]
    })
}

/// The arguments of a tool, with a definition.
fn arguments() -> impl Strategy<Value = Value> {
    (object(schema()), object(leaf().boxed()).prop_filter("no reference to itself", |shared| !has_reference(shared)))
        .prop_map(|(mut arguments, shared)| {
            arguments["$defs"] = json!({ "Shared": shared });
            arguments
        })
}

fn has_reference(value: &Value) -> bool {
    value.to_string().contains("$ref")
}

/// Replaces some parts of a schema by other schemas, so that the pair is similar.
fn changed(schema: &Value, replacements: &[(Index, Value)]) -> Value {
    let mut schema = schema.clone();
    for (index, replacement) in replacements {
        let mut places = Vec::new();
        collect(&schema, "", &mut places);
        if !places.is_empty() {
            let place = &places[index.index(places.len())];
            *schema.pointer_mut(place).expect("a place") = replacement.clone();
        }
    }
    schema
}

fn collect(value: &Value, at: &str, places: &mut Vec<String>) {
    let parent = at.rsplit('/').nth(1).unwrap_or_default();
    let last = at.rsplit('/').next().unwrap_or_default();
    let is_schema = matches!(parent, "properties" | "anyOf" | "oneOf" | "allOf")
        || matches!(last, "items" | "additionalProperties");
    if is_schema {
        places.push(at.to_owned());
    }
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| collect(value, &format!("{at}/{name}"), places));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| collect(value, &format!("{at}/{index}"), places));
        }
        _ => {}
    }
}

/// Values for the schema `of`, as a typed call sends them: objects with the declared fields only.
fn value(root: &Value, of: &Value, seed: &mut dyn Iterator<Item = usize>) -> Value {
    let mut pick = |count: usize| seed.next().unwrap_or_default() % count.max(1);
    if of.get("$ref").is_some() {
        return value(root, &root["$defs"]["Shared"], seed);
    }
    for keyword in ["anyOf", "oneOf", "allOf"] {
        if let Some(parts) = of.get(keyword).and_then(Value::as_array) {
            return value(root, &parts[pick(parts.len())], seed);
        }
    }
    if let Some(values) = of.get("enum").and_then(Value::as_array) {
        return values[pick(values.len())].clone();
    }
    let texts = ["", "a", "bb", "ccc", "bbbb", "ddddddd"];
    match of.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(pick(2) == 0),
        Some("integer") => json!(pick(9)),
        Some("number") => json!([0.5, 1.0, 2.5, 3.0, 5.5, 6.0][pick(6)]),
        Some("string") => json!(texts[pick(6)]),
        Some("array") => (0..pick(4)).map(|_| value(root, &of["items"], seed)).collect(),
        Some("object") if of.get("properties").is_none() => {
            let keys = &["p", "z"][..pick(3)];
            keys.iter()
                .map(|key| ((*key).to_owned(), value(root, &of["additionalProperties"], seed)))
                .collect::<Map<_, _>>()
                .into()
        }
        Some("object") => fields(root, of, seed),
        _ => [json!(null), json!(texts[pick(6)])][pick(2)].clone(),
    }
}

fn fields(root: &Value, of: &Value, seed: &mut dyn Iterator<Item = usize>) -> Value {
    let properties = of["properties"].as_object().expect("properties");
    let mut fields = Map::new();
    for (name, schema) in properties {
        let is_required = of["required"].as_array().is_some_and(|names| names.iter().any(|known| known == name));
        if is_required || !seed.next().unwrap_or_default().is_multiple_of(3) {
            fields.insert(name.clone(), value(root, schema, seed));
        }
    }
    fields.into()
}

fn snapshot(schema: &Value) -> Snapshot {
    Snapshot::new("s", [json!({ "name": "t", "inputSchema": schema })]).expect("a valid schema")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    #[test]
    fn a_schema_does_not_differ_from_itself(schema in arguments()) {
        prop_assert_eq!(Changes::between(&snapshot(&schema), &snapshot(&schema)), Changes::default());
    }

    #[test]
    fn every_value_that_is_not_valid_any_longer_implies_an_error(
        old in arguments(),
        other in arguments(),
        replacements in vec((any::<Index>(), schema()), 1..=2),
        is_similar in prop::bool::weighted(0.8),
        seeds in vec(vec(0..1_000_usize, 40), 12),
    ) {
        let new = if is_similar { changed(&old, &replacements) } else { other };
        let changes = Changes::between(&snapshot(&old), &snapshot(&new));
        if !changes.errors().is_empty() {
            return Ok(());
        }
        let [before, after] = [&old, &new].map(|schema| jsonschema::validator_for(schema).expect("a valid schema"));
        for seed in seeds {
            let value = value(&old, &old, &mut seed.into_iter());
            prop_assert!(!before.is_valid(&value) || after.is_valid(&value), "{}\nold: {}\nnew: {}", value, old, new);
        }
    }
}
