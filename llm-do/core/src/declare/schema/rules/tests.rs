//! Rules and the validator of any schema report the same faults, in the same words; for Rust types, in the same order too.

use llm_do_corpus::{Case, all};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};

use super::Rules;
use crate::declare::schema::check::bounded;
use crate::declare::schema::foreign::Validator;

const NAMES: [&str; 6] = ["a", "b", "c", "7", "-7", "x/y~z"];

/// Tools of the corpus with a keyword that rules do not cover.
const UNCOVERED: [&str; 2] = ["patterns: `pattern`", "with: `pattern`"];

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(cases) })
}

/// The rules and the validator of one schema.
struct Both {
    schema: Value,
    rules: Rules,
    validator: Validator,
}

impl Both {
    fn of(schema: &Value) -> Self {
        let schema = bounded(schema);
        let rules = Rules::of(&schema).expect("rules cover the schema");
        let validator = Validator::of(schema.clone(), false).expect("a valid schema");
        Self { schema, rules, validator }
    }

    /// Compares the faults that both report for a value, in any order.
    fn compare(&self, value: &Value) -> Result<(), TestCaseError> {
        let sorted = |(mut faults, _): (Vec<String>, usize)| {
            faults.sort_unstable();
            faults
        };
        let faults = sorted(self.rules.faults(value, usize::MAX, &|| true));
        let expected = sorted(self.validator.faults(value, usize::MAX, &|| true));
        prop_assert_eq!(faults, expected, "{} by {}", value, self.schema);
        prop_assert_eq!(self.rules.hold(value), self.validator.holds(value), "{} by {}", value, self.schema);
        Ok(())
    }

    /// Compares the lists of faults, with their order and their limit.
    fn compare_lists(&self, value: &Value) -> Result<(), TestCaseError> {
        let (faults, expected) = (self.rules.faults(value, 4, &|| true), self.validator.faults(value, 4, &|| true));
        prop_assert_eq!(faults, expected, "{} by {}", value, self.schema);
        Ok(())
    }
}

fn number() -> impl Strategy<Value = Value> {
    let written = select(vec!["0", "-0.0", "1.0", "2.5", "1e300", "-1e300", "9007199254740993", "9007199254740992.0"]);
    let large = select(vec![json!(u64::MAX), json!(i64::MIN), json!(i64::MAX), json!(f32::MAX), json!(256)]);
    prop_oneof![
        (-4..5_i64).prop_map(Value::from),
        written.prop_map(|text| serde_json::from_str(text).expect("a number")),
        large
    ]
}

fn text() -> impl Strategy<Value = Value> {
    let texts = [
        "",
        "a",
        "é",
        "ab",
        "2024-02-29",
        "2023-02-29",
        "2024-2-29",
        "2024-02-29T12:00:00Z",
        "2024-02-29t12:00:00.5+01:30",
        "2024-12-31T23:59:60Z",
        "2024-12-31T12:59:60Z",
        "2024-02-29T12:00:00",
        "2024-02-29T12:00:00+24:00",
        "12:00:00Z",
        "12:00:00.Z",
        "12:00:60-11:59",
        "23:59:60+00:00",
        "00:29:60+00:30",
        "23:29:60-00:30",
        "+1:00:00Z",
        "::1",
        "127.0.0.1",
        "https://example.org",
        "67e55044-10b1-426f-9247-bb680e5fe0c8",
        "67E55044-10B1-426F-9247-BB680E5FE0C8",
        "67e5504410b1426f9247bb680e5fe0c8",
        "67e55044-10b1-426f-9247-bb680e5fe0c8-",
        "67e55044-10b1426f--9247-bb680e5fe0c8",
    ];
    select(texts.to_vec()).prop_map(Value::from)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Null), 1 => any::<bool>().prop_map(Value::from), 3 => number(), 3 => text()]
}

fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 24, 4, |inner| {
        let object = btree_map(select(&NAMES[..]), inner.clone(), 0..5);
        let object = object.prop_map(|fields| fields.into_iter().collect::<Vec<_>>()).prop_shuffle();
        let object = object.prop_map(|fields| fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        prop_oneof![
            3 => object.prop_map(|fields| Value::Object(fields.collect())),
            2 => vec(inner, 0..4).prop_map(Value::from),
        ]
    })
}

/// Keywords for a leaf of a schema.
fn keyword() -> impl Strategy<Value = Value> {
    let limits = prop_oneof![
        3 => number(),
        1 => Just(json!(1)),
    ];
    let bound = (select(vec!["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), limits);
    let sizes = vec!["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
    let types = prop::sample::subsequence(vec!["null", "integer", "number", "string", "object"], 1..4);
    let formats = vec![
        "date",
        "date-time",
        "time",
        "duration",
        "ip",
        "ipv4",
        "ipv6",
        "uri",
        "uuid",
        "int32",
        "uint64",
        "float",
        "char",
        "partial-time",
        "partial-date-time",
        "zoned-date-time",
    ];
    prop_oneof![
        2 => types.prop_map(|types| json!({ "type": types })),
        2 => select(vec!["null", "boolean", "integer", "number", "string", "array", "object"])
            .prop_map(|name| json!({ "type": name })),
        1 => leaf().prop_map(|value| json!({ "const": value })),
        1 => vec(value(), 1..6).prop_map(|values| json!({ "enum": values })),
        2 => bound.prop_map(|(name, limit)| json!({ name: limit })),
        1 => select(vec![1, 2, 3]).prop_map(|divisor| json!({ "multipleOf": divisor })),
        2 => (select(sizes), 0..3_u32).prop_map(|(name, limit)| json!({ name: limit })),
        3 => select(formats).prop_map(|name| json!({ "type": ["string", "number"], "format": name })),
        1 => Just(json!({ "uniqueItems": true })),
        1 => vec(select(&NAMES[..]), 0..3).prop_map(|mut names| {
            names.sort_unstable();
            names.dedup();
            json!({ "required": names })
        }),
        1 => Just(json!({ "$ref": "#/$defs/D" })),
        1 => Just(json!({ "description": "It.", "default": 1 })),
    ]
}

fn merged(parts: Vec<Value>) -> Value {
    let objects = parts.into_iter().filter_map(|part| match part {
        Value::Object(keywords) => Some(keywords),
        _ => None,
    });
    Value::Object(objects.flatten().collect())
}

/// Schemas of all keywords.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![8 => vec(keyword(), 1..3).prop_map(merged), 1 => any::<bool>().prop_map(Value::from)];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let fields =
            btree_map(select(&NAMES[..]), inner.clone(), 0..4).prop_map(|fields| json!({ "properties": fields }));
        let others = prop_oneof![
            2 => Just(json!({ "additionalProperties": false })),
            1 => Just(json!({ "additionalProperties": true })),
            1 => inner.clone().prop_map(|schema| json!({ "additionalProperties": schema })),
            1 => Just(json!({ "unevaluatedProperties": false })),
            1 => inner.clone().prop_map(|schema| json!({ "unevaluatedProperties": schema })),
        ];
        let patterns = (select(vec![r"^\d+$", r"^-?\d+$"]), inner.clone())
            .prop_map(|(pattern, schema)| json!({ "patternProperties": { pattern: schema } }));
        let lists = (select(vec!["allOf", "anyOf", "oneOf", "prefixItems"]), vec(inner.clone(), 1..4))
            .prop_map(|(name, schemas)| json!({ name: schemas }));
        let one = (select(vec!["items", "not"]), inner).prop_map(|(name, schema)| json!({ name: schema }));
        let part = prop_oneof![4 => fields, 3 => others, 1 => patterns, 3 => lists, 2 => one, 2 => keyword()];
        vec(part, 1..4).prop_map(merged)
    })
}

/// Whether a part of a schema requires one field, forbids fields that it does not name, and does not name that one.
///
/// The validator (jsonschema 0.60) reports such a field as missing even if it is there, besides as forbidden.
fn requires_a_forbidden_field(schema: &Value) -> bool {
    let parts = match schema {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    let is_named = |name: &Value| name.as_str().is_some_and(|name| schema["properties"].get(name).is_some());
    let required = schema["required"].as_array().is_some_and(|names| !names.iter().all(is_named));
    (required && schema["additionalProperties"] == false) || parts.into_iter().any(requires_a_forbidden_field)
}

fn with_definition(mut schema: Value, definition: &Value) -> Value {
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$defs".to_owned(), json!({ "D": definition }));
    }
    schema
}

#[test]
fn generated_schemas_have_the_same_faults_as_by_the_validator() {
    let definition =
        vec(keyword(), 1..3).prop_map(merged).prop_filter("not cyclic", |schema| schema.get("$ref").is_none());
    let schemas = schema().prop_filter("an object", Value::is_object);
    let schemas = schemas.prop_filter("not reported twice", |schema| !requires_a_forbidden_field(schema));
    let generated = (schemas, definition, vec(value(), 8));
    let property = |(schema, definition, values): (Value, Value, Vec<Value>)| {
        let schema = with_definition(schema, &definition);
        let both = Both::of(&schema);
        values.iter().try_for_each(|value| both.compare(value))
    };
    runner(256).run(&generated, property).unwrap_or_else(|fault| panic!("{fault}"));
}

/// Replaces, removes or adds a part.
fn mutate(value: &mut Value, part: Index, new: Value) {
    let mut pointers = vec![String::new()];
    collect(value, "", &mut pointers);
    let pointer = part.get(&pointers).clone();
    match value.pointer_mut(&pointer) {
        Some(Value::Object(fields)) if new.is_boolean() => drop(fields.pop()),
        Some(Value::Object(fields)) if new.is_number() => drop(fields.insert("other".to_owned(), new)),
        Some(Value::Array(items)) if new.is_number() => items.push(items.last().cloned().unwrap_or(new)),
        Some(place) => *place = new,
        None => {}
    }
}

trait Pop {
    fn pop(&mut self) -> Option<Value>;
}

impl Pop for Map<String, Value> {
    fn pop(&mut self) -> Option<Value> {
        let last = self.keys().next_back()?.clone();
        self.remove(&last)
    }
}

fn collect(value: &Value, at: &str, pointers: &mut Vec<String>) {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.replace('~', "~0").replace('/', "~1"), field)).collect()
        }
        Value::Array(items) => items.iter().enumerate().map(|(place, item)| (place.to_string(), item)).collect(),
        _ => Vec::new(),
    };
    for (name, part) in parts {
        let pointer = format!("{at}/{name}");
        collect(part, &pointer, pointers);
        pointers.push(pointer);
    }
}

#[test]
fn rust_types_have_the_same_faults_as_by_the_validator() {
    let mut uncovered = Vec::new();
    for Case { name, schema, values } in all() {
        if let Err(keyword) = Rules::of(&bounded(&schema)) {
            uncovered.push(format!("{name}: {keyword}"));
            continue;
        }
        let both = Both::of(&schema);
        let generated = (values, vec((any::<Index>(), leaf()), 0..4));
        let property = |(mut value, mutations): (Value, Vec<(Index, Value)>)| {
            for (part, new) in mutations {
                mutate(&mut value, part, new);
            }
            both.compare(&value)?;
            both.compare_lists(&value)
        };
        runner(64).run(&generated, property).unwrap_or_else(|fault| panic!("`{name}`: {fault}"));
    }
    assert_eq!(uncovered, UNCOVERED, "only these need the feature `json-schema`");
}
