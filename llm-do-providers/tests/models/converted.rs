//! What holds for the schemas of the corpus in the dialect of any provider.

use std::sync::LazyLock;

use llm_do_corpus::{Case, all, subschemas};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::Value;

/// Values of every type of the corpus.
pub(crate) static VALUES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    let mut runner = TestRunner::deterministic();
    let values = all()
        .into_iter()
        .flat_map(|case| (0..3).map(|_| case.values.new_tree(&mut runner).unwrap().current()).collect::<Vec<_>>());
    values.collect()
});

/// Checks that the values of each type match its converted schema.
pub(crate) fn serialized_values_match(converted: &[(Case, Value)]) {
    for (case, form) in converted {
        let validator = jsonschema::draft202012::new(form).unwrap();
        let mut runner = TestRunner::deterministic();
        for _ in 0..16 {
            let written = case.values.new_tree(&mut runner).unwrap().current();
            let fault = validator.validate(&written).err().map(|error| error.to_string());
            assert_eq!(fault, None, "`{}`: {written}\n{form:#}", case.name);
        }
    }
}

/// Checks that the properties of each schema keep their order.
pub(crate) fn order_is_kept(converted: &[(Case, Value)]) {
    for (case, form) in converted {
        let names = |schema: &Value| schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(form), names(&case.schema), "`{}`", case.name);
    }
}

/// Checks that each description of a schema is in the converted one.
pub(crate) fn descriptions_are_kept(converted: &[(Case, Value)]) {
    let described = |schema: &Value| {
        let descriptions = subschemas(schema).into_iter().filter_map(|part| part["description"].as_str());
        descriptions.map(str::to_owned).collect::<Vec<_>>()
    };
    for (case, form) in converted {
        let kept = described(form);
        for text in described(&case.schema) {
            assert!(kept.iter().any(|kept| kept.contains(&text)), "`{}` lacks {text:?}\n{form:#}", case.name);
        }
    }
}
