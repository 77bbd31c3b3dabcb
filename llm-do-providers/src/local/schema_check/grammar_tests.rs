//! Compares the grammars of llguidance with JSON Schema validation over many schemas and values.

use std::sync::LazyLock;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use llm_do_corpus::all;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use toktrie::ApproximateTokEnv;

use crate::local::schema::{bounded, decode_references};

/// Values of every type of the corpus.
static VALUES: LazyLock<Vec<(&str, Value)>> = LazyLock::new(|| {
    let mut runner = TestRunner::deterministic();
    let values = all().into_iter().flat_map(|case| {
        let values = (0..2).map(|_| (case.name, case.values.new_tree(&mut runner).expect("a value").current()));
        values.collect::<Vec<_>>()
    });
    values.collect()
});

/// The grammar of a schema, with one token per byte.
struct Grammar(Matcher);

impl Grammar {
    fn new(schema: &Value) -> Self {
        let mut schema = schema.clone();
        schema["x-guidance"] = json!({"whitespace_flexible": false, "lenient": true});
        let mut factory = ParserFactory::new_simple(&ApproximateTokEnv::single_byte_env()).expect("bytes are tokens");
        factory.quiet();
        Self(Matcher::new(factory.create_parser(TopLevelGrammar::from_json_schema(schema))))
    }

    fn accepts(&mut self, value: &Value) -> bool {
        let bytes: Vec<u32> = value.to_string().bytes().map(u32::from).collect();
        let accepted = self.0.try_consume_tokens(&bytes).expect("the grammar is valid");
        let is_whole = accepted == bytes.len() && self.0.is_accepting().expect("the grammar is valid");
        self.0.reset().expect("the grammar is valid");
        is_whole
    }
}

/// The types whose values serde writes in forms that the grammar rejects: with fields in another order than the
/// schema, or with more of a format than llguidance supports.
const REJECTED: [&str; 6] = ["a_map_by_enum", "an_ipv6", "a_url", "a_jiff_duration", "tagged", "twice_tagged"];

#[test]
fn a_grammar_accepts_what_its_schema_accepts_except_for_ignored_keywords() {
    let mut rejected = Vec::new();
    for case in all() {
        let mut grammar = Grammar::new(&decode_references(&case.schema));
        let validator = jsonschema::draft202012::new(&case.schema).expect("a schema");
        let warnings = grammar.0.grammar_warnings();
        for (name, value) in VALUES.iter() {
            let (accepted, valid) = (grammar.accepts(value), validator.is_valid(value));
            assert!(valid || !accepted || !warnings.is_empty(), "`{}` accepts {value}\n{:#}", case.name, case.schema);
            if *name == case.name && !accepted && !rejected.contains(name) {
                rejected.push(name);
            }
        }
    }
    assert_eq!(rejected, REJECTED);
}

/// Returns whether a value is within the default limits.
fn is_within_limits(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => number.is_f64() || number.as_i64().is_some_and(|number| number.abs() <= 2_000_000_000),
        Value::String(text) => {
            text.len() <= 60 && !text.starts_with(char::is_whitespace) && !text.contains(char::is_control)
        }
        Value::Array(items) => items.len() <= 8 && items.iter().all(is_within_limits),
        Value::Object(fields) => fields.len() <= 8 && fields.values().all(is_within_limits),
    }
}

/// The types without a random value within the limits: few 64-bit integers fit 32 bits, and few lists have at most 8
/// items.
const WITHOUT_LIMITED: [&str; 10] = [
    "a_u64",
    "a_u128",
    "a_usize",
    "an_i64",
    "an_i128",
    "an_isize",
    "a_non_zero_u64",
    "a_map_of_lists",
    "a_duration",
    "defaults",
];

#[test]
fn a_bounded_grammar_accepts_exactly_the_valid_values_within_the_limits() {
    let (mut runner, mut rejected, mut without_limited) = (TestRunner::deterministic(), Vec::new(), Vec::new());
    for case in all() {
        let mut grammar = Grammar::new(&bounded(&case.schema));
        let mut any = || case.values.new_tree(&mut runner).expect("a value").current();
        let limited: Vec<_> = (0..60).map(|_| any()).filter(is_within_limits).take(8).collect();
        if limited.is_empty() {
            without_limited.push(case.name);
        }
        if !limited.iter().all(|value| grammar.accepts(value)) {
            rejected.push(case.name);
        }
        let validator = jsonschema::draft202012::new(&case.schema).expect("a schema");
        let warnings = grammar.0.grammar_warnings();
        for (_, value) in VALUES.iter().filter(|(_, value)| !validator.is_valid(value)) {
            assert!(
                !grammar.accepts(value) || !warnings.is_empty(),
                "`{}` accepts {value}\n{:#}",
                case.name,
                case.schema
            );
        }
    }
    // Bounding inlines the reference after the tag, which is the field order of serde.
    let still_rejected: Vec<_> = REJECTED.into_iter().filter(|name| !name.ends_with("tagged")).collect();
    assert_eq!((rejected, without_limited), (still_rejected, WITHOUT_LIMITED.to_vec()));
}

/// Asserts that the grammar of `schema` accepts all of `values` and rejects all of `invalid`.
#[track_caller]
fn assert_bounded(schema: &Value, values: &[Value], invalid: &[Value]) {
    let mut grammar = Grammar::new(&bounded(schema));
    let mut wrong = |value: &&Value, wanted| grammar.accepts(value) != wanted;
    let rejected: Vec<_> = values.iter().filter(|value| wrong(value, true)).collect();
    let accepted: Vec<_> = invalid.iter().filter(|value| wrong(value, false)).collect();
    assert!(
        rejected.is_empty() && accepted.is_empty(),
        "rejects {rejected:?}, accepts {accepted:?}\n{:#}",
        bounded(schema)
    );
}

#[test]
fn a_tagged_variant_with_a_reference_has_its_tag_and_fields_only() {
    let schema = json!({
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "wait"}}, "required": ["kind"]},
            {"$ref": "#/$defs/Point", "type": "object", "properties": {"kind": {"const": "jump"}}, "required": ["kind"]},
        ],
        "$defs": {"Point": {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}},
    });
    let values = [json!({"kind": "jump", "x": 1}), json!({"kind": "wait"})];
    let invalid = [json!({"kind": "jump"}), json!({"kind": "jump", "x": 1, "y": 2}), json!({"kind": "wait", "x": 1})];
    assert_bounded(&schema, &values, &invalid);
    let mut alone = json!({"$ref": "#/$defs/Point"});
    alone["$defs"] = schema["$defs"].clone();
    assert_bounded(&alone, &[json!({"x": 1})], &[json!({"kind": "jump", "x": 1})]);
}

#[test]
fn an_object_with_several_schemas_has_the_properties_of_all_of_them() {
    let schema = json!({
        "allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}],
        "$defs": {
            "A": {"type": "object", "properties": {"a": {"type": "boolean"}}, "required": ["a"]},
            "B": {"type": "object", "properties": {"b": {"type": "boolean"}}, "required": ["b"]},
        },
    });
    let invalid = [json!({"a": true}), json!({"b": true}), json!({"a": true, "b": true, "c": true})];
    assert_bounded(&schema, &[json!({"a": true, "b": false})], &invalid);
    let flattened = json!({
        "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
        "oneOf": [
            {"type": "object", "properties": {"left": {"type": "boolean"}}, "required": ["left"]},
            {"type": "object", "properties": {"right": {"type": "boolean"}}, "required": ["right"]},
        ],
    });
    let values = [json!({"name": "a", "left": true}), json!({"name": "a", "right": true})];
    let invalid = [json!({"name": "a"}), json!({"name": "a", "left": true, "more": 1})];
    assert_bounded(&flattened, &values, &invalid);
}

#[test]
fn multiplying_and_recursive_references_are_bounded_quickly() {
    let definition = |index: usize| {
        let next = json!({"$ref": format!("#/$defs/{}", index + 1), "minProperties": 1});
        json!({"type": "object", "properties": {"a": next, "b": next}})
    };
    let mut definitions: serde_json::Map<_, _> = (0..40).map(|index| (index.to_string(), definition(index))).collect();
    definitions.insert("40".into(), json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/0"}}}));
    bounded(&json!({"$ref": "#/$defs/0", "minProperties": 1, "$defs": definitions}));
    bounded(&json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}], "type": "object", "properties": {"a": {}}}));
}

#[test]
fn a_value_of_any_type_may_be_an_array_an_object_or_a_number() {
    let values = [json!(null), json!("text"), json!(0.5), json!([1, "a", [true]]), json!({"a": {"b": 1.5}, "c": []})];
    assert_bounded(&json!({}), &values, &[json!([[[[]]]]), json!([1, 2, 3, 4, 5])]);
    let schema = json!({"type": "object", "properties": {"anything": true}, "required": ["anything"]});
    assert_bounded(&schema, &values.map(|value| json!({ "anything": value })), &[json!({})]);
    assert_bounded(&json!({"type": "array"}), &[json!([1.5, [1], {"a": 1}])], &[json!("a")]);
    assert_bounded(&json!({"type": "object"}), &[json!({"a": 1, "b": ["c"]})], &[json!("a")]);
}

#[test]
fn a_schema_without_a_type_gets_the_types_of_its_keywords() {
    let pair = json!({"prefixItems": [{"type": "string"}, {"type": "boolean"}], "minItems": 2});
    assert_bounded(&pair, &[json!(["a", true])], &[json!(["a"]), json!(["a", true, 1]), json!("a"), json!({})]);
    let map = json!({"additionalProperties": {"type": "boolean"}});
    assert_bounded(&map, &[json!({}), json!({"a": true})], &[json!({"a": 1}), json!(1)]);
    let both = json!({"maxLength": 2, "minimum": 3});
    assert_bounded(&both, &[json!("ab"), json!(3.5)], &[json!("abc"), json!(2), json!([])]);
}

#[test]
fn an_alternative_may_only_require_properties() {
    let alternatives = json!([{"required": ["a"]}, {"required": ["b"]}]);
    let named = json!({
        "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "anyOf": alternatives,
    });
    assert_bounded(&named, &[json!({"a": 1}), json!({"b": 1}), json!({"a": 1, "b": 2})], &[json!({}), json!({"c": 1})]);
    let unnamed = json!({"type": "object", "anyOf": alternatives});
    assert_bounded(&unnamed, &[json!({"a": 1}), json!({"b": "x", "c": [1]})], &[json!({}), json!({"c": 1})]);
    let many = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    let nine: Value = many.iter().map(|name| ((*name).to_owned(), json!(1))).collect::<serde_json::Map<_, _>>().into();
    assert_bounded(&json!({"type": "object", "required": many}), &[nine], &[json!({"a": 1})]);
    let required = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]});
    assert_bounded(&required, &[json!({"a": 1, "b": [1]}), json!({"b": "x"})], &[json!({"a": 1})]);
}

#[test]
fn listed_values_are_not_limited_by_a_sibling_type() {
    let long = "x".repeat(300);
    let schema = json!({"type": "string", "oneOf": [{"const": " a"}, {"const": long}]});
    assert_bounded(&schema, &[json!(" a"), json!(long)], &[json!("b")]);
}

#[test]
fn a_uri_may_be_as_long_as_any_string_and_a_string_may_be_white_space() {
    let address = json!(format!("https://example.org/{}", "x".repeat(100)));
    assert_bounded(&json!({"type": "string", "format": "uri"}), &[address], &[]);
    let spaces = ["", " ", "\n", "\r\n", "\t", "    "].map(Value::from);
    assert_bounded(&json!({"type": "string"}), &spaces, &[json!(" a"), json!("\nab"), json!("     ")]);
}
