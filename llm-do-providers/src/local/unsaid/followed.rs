//! What the library's grammars make of the schemas of many kinds of values, held against JSON Schema.

use std::sync::LazyLock;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use llm_do_corpus::all;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};
use toktrie::ApproximateTokEnv;

use crate::local::schema::moved_to;

/// Values of every type of the corpus.
static VALUES: LazyLock<Vec<(&str, Value)>> = LazyLock::new(|| {
    let mut runner = TestRunner::deterministic();
    let values = all().into_iter().flat_map(|case| {
        let values = (0..2).map(|_| (case.name, case.values.new_tree(&mut runner).expect("a value").current()));
        values.collect::<Vec<_>>()
    });
    values.collect()
});

/// What the grammar of a schema takes, a byte at a time.
struct Grammar(Matcher);

impl Grammar {
    fn new(schema: &Value) -> Self {
        let mut schema = schema.clone();
        schema["x-guidance"] = json!({"whitespace_flexible": false, "lenient": true});
        let mut factory = ParserFactory::new_simple(&ApproximateTokEnv::single_byte_env()).expect("bytes are tokens");
        factory.quiet();
        Self(Matcher::new(factory.create_parser(TopLevelGrammar::from_json_schema(schema))))
    }

    fn takes(&mut self, value: &Value) -> bool {
        let bytes: Vec<u32> = value.to_string().bytes().map(u32::from).collect();
        let taken = self.0.try_consume_tokens(&bytes).expect("the grammar is sound");
        let is_whole = taken == bytes.len() && self.0.is_accepting().expect("the grammar is sound");
        self.0.reset().expect("the grammar is sound");
        is_whole
    }
}

/// The types whose values serde writes in ways that no grammar takes: with their fields in another order than that of the
/// schema, or as more of a format than the library knows of it.
const REFUSED: [&str; 6] = ["a_map_by_enum", "an_ipv6", "a_url", "a_jiff_duration", "tagged", "twice_tagged"];

#[test]
fn a_grammar_takes_what_its_schema_does_and_no_more_but_what_is_let_pass() {
    let mut refused = Vec::new();
    for case in all() {
        let mut grammar = Grammar::new(&moved_to("", &case.schema));
        let validator = jsonschema::draft202012::new(&case.schema).expect("a schema");
        let warnings = grammar.0.grammar_warnings();
        for (name, value) in VALUES.iter() {
            let (taken, valid) = (grammar.takes(value), validator.is_valid(value));
            assert!(valid || !taken || !warnings.is_empty(), "`{}` takes {value}\n{:#}", case.name, case.schema);
            if *name == case.name && !taken && !refused.contains(name) {
                refused.push(name);
            }
        }
    }
    assert_eq!(refused, REFUSED);
}
