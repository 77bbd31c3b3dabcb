//! Outputs as choices: one for each part.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::case::Example;
use crate::error::LearnError;

/// The most parts of an output that differ between cases.
const MAX_PARTS: usize = 16;

/// The most values of a part.
pub(crate) const MAX_VALUES: usize = 500;

/// How often a value occurs at least, on average.
const RECURS: usize = 3;

/// A part of the outputs.
pub(crate) struct Choice {
    /// Where it is: the names of fields.
    pub(crate) path: Vec<String>,
    /// Its values; `None` where it is missing.
    pub(crate) values: Vec<Option<Value>>,
    /// The value of each case.
    pub(crate) labels: Vec<u32>,
}

/// Returns the parts of the outputs, each with its values in the order of how they are written.
pub(crate) fn choices(cases: &[Example]) -> Result<Vec<Choice>, LearnError> {
    let mut choices = Vec::new();
    let outputs: Vec<_> = cases.iter().map(|case| Some(&case.output)).collect();
    divide(&outputs, &mut Vec::new(), &mut choices)?;
    let several = choices.iter().filter(|choice| choice.values.len() > 1).count();
    if several > MAX_PARTS {
        return Err(LearnError::NotAChoice {
            path: String::new(),
            reason: format!("has {several} parts that differ; at most {MAX_PARTS} can be learned"),
        });
    }
    Ok(choices)
}

fn divide(outputs: &[Option<&Value>], path: &mut Vec<String>, choices: &mut Vec<Choice>) -> Result<(), LearnError> {
    let objects: Vec<_> = outputs.iter().flatten().filter_map(|output| output.as_object()).collect();
    if objects.len() < outputs.len() {
        choices.push(choice(outputs, path)?);
        return Ok(());
    }
    let names: BTreeSet<_> = objects.iter().flat_map(|object| object.keys()).collect();
    if names.is_empty() {
        choices.push(choice(outputs, path)?);
    }
    for name in names {
        let below: Vec<_> = objects.iter().map(|object| object.get(name)).collect();
        path.push(name.clone());
        divide(&below, path, choices)?;
        path.pop();
    }
    Ok(())
}

fn choice(outputs: &[Option<&Value>], path: &[String]) -> Result<Choice, LearnError> {
    let mut values: BTreeMap<String, Option<Value>> = BTreeMap::new();
    for output in outputs {
        if let Some(fault) = output.and_then(kind_fault) {
            return Err(not_a_choice(path, fault));
        }
        values.entry(written(*output)).or_insert_with(|| output.cloned());
        if values.len() > MAX_VALUES {
            return Err(not_a_choice(path, format!("has more than {MAX_VALUES} different values")));
        }
    }
    if values.len() > 2 && values.len() * RECURS > outputs.len() {
        let fault = format!("has {} different values in {} cases: it is not a choice", values.len(), outputs.len());
        return Err(not_a_choice(path, fault));
    }
    let names: BTreeMap<_, _> = values.keys().map(String::as_str).zip(0..).collect();
    let labels = outputs.iter().map(|output| names[written(*output).as_str()]).collect();
    Ok(Choice { path: path.to_vec(), labels, values: values.into_values().collect() })
}

fn kind_fault(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) if items.is_empty() => None,
        Value::Object(fields) if fields.is_empty() => None,
        Value::Array(_) => Some("is a list: only choices can be learned".to_owned()),
        Value::Object(_) => Some("is an object in some cases only: only choices can be learned".to_owned()),
        _ => None,
    }
}

fn written(output: Option<&Value>) -> String {
    output.map_or_else(String::new, Value::to_string)
}

fn not_a_choice(path: &[String], reason: String) -> LearnError {
    LearnError::NotAChoice { path: pointer(path), reason }
}

/// Returns a path as a JSON pointer.
pub(crate) fn pointer(path: &[String]) -> String {
    path.iter().flat_map(|name| ["/".to_owned(), name.replace('~', "~0").replace('/', "~1")]).collect()
}

/// Puts a value at its path in an output.
pub(crate) fn put(output: &mut Value, path: &[String], value: Option<Value>) {
    match path {
        [] => *output = value.unwrap_or_default(),
        [name, rest @ ..] => {
            if !output.is_object() {
                *output = Value::Object(Map::new());
            }
            let Value::Object(fields) = output else { return };
            if rest.is_empty() && value.is_none() {
                return;
            }
            put(fields.entry(name).or_insert(Value::Null), rest, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{choices, put};
    use crate::case::Example;

    fn cases(outputs: Vec<Value>) -> Vec<Example> {
        let case = |output| Example { input: Value::Null, output, is_contradicted: false };
        outputs.into_iter().map(case).collect()
    }

    #[test]
    fn an_object_is_divided_into_its_fields() {
        let output = |at: u32| match at % 2 {
            0 => json!({ "kind": "a", "more": { "urgent": true } }),
            _ => json!({ "kind": "b", "more": { "urgent": true, "note": null } }),
        };
        let cases = cases((0..12).map(output).collect());
        let choices = choices(&cases).unwrap();
        let paths: Vec<_> = choices.iter().map(|choice| choice.path.join(".")).collect();
        assert_eq!(paths, ["kind", "more.note", "more.urgent"]);
        for (at, case) in cases.iter().enumerate() {
            let mut rebuilt = Value::Null;
            for choice in &choices {
                put(&mut rebuilt, &choice.path, choice.values[choice.labels[at] as usize].clone());
            }
            assert_eq!(rebuilt, case.output);
        }
    }

    #[test]
    fn what_is_not_a_choice_is_refused() {
        let free = cases((0..30).map(|at| json!({ "name": format!("n{at}") })).collect());
        let list = cases(vec![json!([1]), json!([2])]);
        for (cases, fault) in
            [(free, "`/name` of the output has 30 different values in 30 cases"), (list, "the output is a list")]
        {
            let error = choices(&cases).err().unwrap().to_string();
            assert!(error.contains(fault), "{error}");
        }
    }
}
