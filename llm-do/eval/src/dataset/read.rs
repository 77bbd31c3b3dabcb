//! Reads a dataset from YAML, and reports all faults with their lines.

use std::collections::HashSet;

use llm_do_core::declare::worker_file::json;
use llm_do_worker_file::{Content, Fault, Key, Node, Place, Reader, read_yaml, unknown_key};
use serde_json::Value;

use super::{Arguments, Case, Dataset, EvaluatorSpec};
use crate::evaluator::builtin;

/// The reference to the documentation of the format.
const DOCUMENTATION: &str = "see the documentation of `llm_do::eval`";
const KEYS: [&str; 5] = ["$schema", "name", "cases", "evaluators", "report_evaluators"];
const CASE_KEYS: [&str; 5] = ["name", "inputs", "metadata", "expected_output", "evaluators"];

/// Reads the text of a dataset.
pub(super) fn read(text: &str) -> Result<Dataset, Vec<Fault>> {
    let mut reading = DatasetReader::default();
    if let Some(root) = read_yaml(text.trim_start_matches('\u{feff}'), 1, &mut reading.faults) {
        reading.root(root);
    }
    reading.faults.sort_by_key(|fault| fault.place);
    if reading.faults.is_empty() { Ok(reading.dataset) } else { Err(reading.faults) }
}

#[derive(Default)]
struct DatasetReader {
    dataset: Dataset,
    names: HashSet<String>,
    faults: Vec<Fault>,
}

impl DatasetReader {
    fn fault(&mut self, place: Place, message: impl Into<String>) {
        self.faults.push(Fault::new(place, message));
    }

    fn reader<'a>(&'a mut self, key: &'a str) -> Reader<'a> {
        Reader { key, faults: &mut self.faults }
    }

    fn root(&mut self, root: Node) {
        let place = root.place;
        let Content::Map(entries) = root.content else {
            return self.fault(place, format!("expected a map with `cases`, found {}", root.content.kind()));
        };
        if !entries.iter().any(|(key, _)| key.name == "cases") {
            self.fault(place, "missing `cases`: add a list, such as `cases: [{inputs: {..}}]`");
        }
        for (key, node) in entries {
            match key.name.as_str() {
                "$schema" => {}
                "name" => self.dataset.name = self.optional_name(node),
                "cases" => self.cases(node),
                "evaluators" => self.dataset.evaluators = self.evaluators(node),
                "report_evaluators" => self.report_evaluators(&node),
                _ => self.faults.push(unknown_key(&key, "", &KEYS, DOCUMENTATION)),
            }
        }
    }

    fn optional_name(&mut self, node: Node) -> Option<String> {
        if node.content == Content::Null {
            return None;
        }
        self.reader("name").string(node).map(|name| name.value)
    }

    fn report_evaluators(&mut self, node: &Node) {
        let is_empty = match &node.content {
            Content::Null => true,
            Content::List(items) => items.is_empty(),
            _ => false,
        };
        if !is_empty {
            self.fault(node.place, "`report_evaluators` are not supported: remove the key");
        }
    }

    fn cases(&mut self, node: Node) {
        let place = node.place;
        match node.content {
            Content::List(items) if items.is_empty() => self.fault(place, "`cases` is an empty list: add a case"),
            Content::List(items) => items.into_iter().for_each(|item| self.case(item)),
            _ => drop(self.reader("cases").wrong::<()>("a list", &node)),
        }
    }

    fn case(&mut self, node: Node) {
        let place = node.place;
        let Some(entries) = self.reader("cases").map(node) else { return };
        if !entries.iter().any(|(key, _)| key.name == "inputs") {
            self.fault(place, "missing `inputs` of a case: add the arguments, such as `inputs: {text: Hello}`");
        }
        let mut case = Case::default();
        for (key, node) in entries {
            self.case_key(&key, node, &mut case);
        }
        self.dataset.cases.push(case);
    }

    fn case_key(&mut self, key: &Key, node: Node, case: &mut Case) {
        match key.name.as_str() {
            "name" => {
                let place = node.place;
                case.name = self.optional_name(node);
                if let Some(name) = case.name.clone().filter(|name| !self.names.insert(name.clone())) {
                    self.fault(place, format!("two cases are named `{name}`: rename one of the two"));
                }
            }
            "inputs" => case.inputs = json(node),
            "metadata" => case.metadata = present(node),
            "expected_output" => case.expected_output = present(node),
            "evaluators" => case.evaluators = self.evaluators(node),
            _ => self.faults.push(unknown_key(key, " in a case", &CASE_KEYS, DOCUMENTATION)),
        }
    }

    fn evaluators(&mut self, node: Node) -> Vec<EvaluatorSpec> {
        match node.content {
            Content::List(items) => items.into_iter().filter_map(|item| self.evaluator(item)).collect(),
            Content::Null => Vec::new(),
            _ => self.reader("evaluators").wrong("a list", &node).unwrap_or_default(),
        }
    }

    /// Reads one of the four forms: `NAME`, `NAME: VALUE`, `NAME: {..}` and `{name: NAME, arguments: ..}`.
    fn evaluator(&mut self, node: Node) -> Option<EvaluatorSpec> {
        let place = node.place;
        let (name, arguments) = match node.content {
            Content::String(name) => (name, Arguments::None),
            Content::Map(entries) => self.evaluator_map(place, entries)?,
            Content::Invalid => return None,
            other => {
                self.fault(
                    place,
                    format!("expected the name of an evaluator, or a map from it, found {}", other.kind()),
                );
                return None;
            }
        };
        let spec = EvaluatorSpec { name, arguments, place: Some(format!("line {}", place.line)) };
        if let Some(message) = builtin::fault(&spec) {
            self.fault(place, format!("`{}`: {message}", spec.name));
        }
        Some(spec)
    }

    fn evaluator_map(&mut self, place: Place, mut entries: Vec<(Key, Node)>) -> Option<(String, Arguments)> {
        if entries.iter().any(|(key, _)| key.name == "name") && entries.iter().any(|(key, _)| key.name == "arguments") {
            return self.long_form(entries);
        }
        let Some((key, node)) = entries.pop().filter(|_| entries.is_empty()) else {
            self.fault(place, "expected one evaluator in each item: begin each with `- `");
            return None;
        };
        let arguments = match json(node) {
            Value::Object(values) => Arguments::Named(values),
            value => Arguments::One(value),
        };
        Some((key.name, arguments))
    }

    fn long_form(&mut self, entries: Vec<(Key, Node)>) -> Option<(String, Arguments)> {
        let (mut name, mut arguments) = (None, Arguments::None);
        for (key, node) in entries {
            match key.name.as_str() {
                "name" => name = self.reader("name").string(node).map(|name| name.value),
                "arguments" => {
                    let place = node.place;
                    arguments = match json(node) {
                        Value::Null => Arguments::None,
                        Value::Object(values) => Arguments::Named(values),
                        Value::Array(mut values) if values.len() == 1 => Arguments::One(values.remove(0)),
                        _ => {
                            self.fault(place, "`arguments`: expected a map, a list of one value, or `null`");
                            return None;
                        }
                    };
                }
                _ => self.faults.push(unknown_key(&key, " of an evaluator", &["name", "arguments"], DOCUMENTATION)),
            }
        }
        Some((name?, arguments))
    }
}

/// Returns a value; `null` counts as absent.
fn present(node: Node) -> Option<Value> {
    Some(json(node)).filter(|value| !value.is_null())
}
