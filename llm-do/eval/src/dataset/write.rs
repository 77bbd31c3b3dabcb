//! A dataset as JSON, in the structure of its file.

use serde_json::{Map, Value, json};

use super::{Arguments, Case, Dataset, EvaluatorSpec};

pub(super) fn value(dataset: &Dataset) -> Value {
    let mut map = Map::new();
    if let Some(name) = &dataset.name {
        map.insert("name".to_owned(), json!(name));
    }
    map.insert("cases".to_owned(), dataset.cases.iter().map(case).collect());
    add_evaluators(&mut map, &dataset.evaluators);
    Value::Object(map)
}

fn case(case: &Case) -> Value {
    let mut map = Map::new();
    if let Some(name) = &case.name {
        map.insert("name".to_owned(), json!(name));
    }
    map.insert("inputs".to_owned(), case.inputs.clone());
    for (key, value) in [("metadata", &case.metadata), ("expected_output", &case.expected_output)] {
        map.extend(value.clone().map(|value| (key.to_owned(), value)));
    }
    add_evaluators(&mut map, &case.evaluators);
    Value::Object(map)
}

fn add_evaluators(map: &mut Map<String, Value>, specs: &[EvaluatorSpec]) {
    if !specs.is_empty() {
        map.insert("evaluators".to_owned(), specs.iter().map(evaluator).collect());
    }
}

/// Returns the shortest form that parses as the same evaluator.
pub(super) fn evaluator(spec: &EvaluatorSpec) -> Value {
    match &spec.arguments {
        Arguments::None => json!(spec.name),
        // An object would be parsed as named arguments.
        Arguments::One(value @ Value::Object(_)) => json!({ "name": spec.name, "arguments": [value] }),
        Arguments::One(value) => json!({ &spec.name: value }),
        Arguments::Named(values) => json!({ &spec.name: values }),
    }
}
