//! `journal`: prints a journal as a tree of calls, or settles the outcome of a call.

mod unknown;

use std::collections::HashMap;

use llm_do_core::base::printable::printable_line;
use llm_do_core::observe::event::Outcome;
use llm_do_core::observe::journal::{Record, StepKind, called};
use llm_do_core::plane::dispatch::recorded_outcome;
use llm_do_providers::ResponsePart;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(feature = "serve")]
pub(super) use self::unknown::describe;
use super::args::JournalOptions;
use super::recorded::{Records, RunInfo};
use super::{CommandError, NO_OUTCOME, print, print_json, recorded};

/// The maximum number of shown characters of a value.
const MAX_VALUE_CHARS: usize = 80;

/// The width of a time in columns: `2026-01-31T12:00:00Z`.
const TIME_WIDTH: usize = 20;

pub(super) fn journal(options: &JournalOptions) -> Result<(), CommandError> {
    let JournalOptions { file, json, unknown, settle, runs, outcome } = options;
    match (settle, outcome.settlement()) {
        (Some(step), Some(settlement)) => unknown::settle(file, step, &settlement),
        (Some(_), None) => Err(CommandError::Usage(NO_OUTCOME.to_owned())),
        (None, Some(_)) => {
            Err(CommandError::Usage("an outcome needs `--settle STEP`, the call that it is of".to_owned()))
        }
        (None, None) if *unknown => unknown::list(file, runs, *json),
        (None, None) => list(options),
    }
}

/// Prints the records of a journal, including those before an invalid line.
fn list(options: &JournalOptions) -> Result<(), CommandError> {
    let mut is_empty = true;
    let source = std::slice::from_ref(&options.file);
    recorded::for_each(source, &options.runs, &mut |run: &RunInfo, records: &mut Records<'_>| {
        let run = run.id.as_deref();
        if options.json { print_lines(run, records, &mut is_empty) } else { print_tree(run, records, &mut is_empty) }
    })?;
    if is_empty && !options.json { print("the journal is empty") } else { Ok(()) }
}

/// Prints each record as it is read.
fn print_lines(run: Option<&str>, records: &mut Records<'_>, is_empty: &mut bool) -> Result<(), CommandError> {
    for record in records {
        *is_empty = false;
        print_json(&json(run, &record?))?;
    }
    Ok(())
}

/// Prints the calls of a run as a tree, below its id.
fn print_tree(run: Option<&str>, records: &mut Records<'_>, is_empty: &mut bool) -> Result<(), CommandError> {
    let (mut all, mut fault) = (Vec::new(), Ok(()));
    for record in records {
        match record {
            Ok(record) => all.push(record),
            Err(error) => fault = Err(error),
        }
    }
    if !all.is_empty() {
        *is_empty = false;
        run.map_or(Ok(()), |run| print(&format!("run {}", printable_line(run))))?;
    }
    CallTree::new(&all).lines().iter().try_for_each(|line| print(line))?;
    fault
}

fn json(run: Option<&str>, record: &Record) -> String {
    #[derive(Serialize)]
    struct InRun<'a> {
        #[serde(rename = "run", skip_serializing_if = "Option::is_none")]
        id: Option<&'a str>,
        depth: usize,
        #[serde(flatten)]
        record: &'a Record,
    }
    // The record was parsed from JSON, so it can be serialized again.
    serde_json::to_string(&InRun { id: run, depth: depth(&record.parent), record }).unwrap_or_default()
}

/// Returns the nesting depth of a call with this parent.
fn depth(parent: &str) -> usize {
    parent.split('/').filter(|part| !part.is_empty()).count()
}

/// The calls of a journal by key; root calls are children of the empty key.
#[derive(Default)]
struct CallTree<'a>(HashMap<&'a str, CallNode<'a>>);

/// The records of a call and its nested calls.
#[derive(Default)]
struct CallNode<'a> {
    /// The record of the call and of its steps, such as its approval, in the order of the journal.
    records: Vec<&'a Record>,
    /// The keys of the nested calls, in the order of their first records.
    children: Vec<&'a str>,
}

impl<'a> CallTree<'a> {
    fn new(records: &'a [Record]) -> Self {
        let mut tree = Self::default();
        for record in records {
            let key = record.call();
            tree.link(key);
            tree.0.entry(key).or_default().records.push(record);
        }
        tree
    }

    /// Adds a call to its parent, which has no record if it did not finish.
    fn link(&mut self, key: &'a str) {
        if key.is_empty() || self.0.contains_key(key) {
            return;
        }
        self.0.insert(key, CallNode::default());
        let parent = key.rsplit_once('/').map_or("", |(parent, _)| parent);
        self.link(parent);
        self.0.entry(parent).or_default().children.push(key);
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.add_children("", &mut lines);
        lines
    }

    fn add_children(&self, key: &str, lines: &mut Vec<String>) {
        let Some(call) = self.0.get(key) else { return };
        let mut children = call.children.clone();
        children.sort_by_key(|key| self.0.get(key).and_then(CallNode::place).unwrap_or(u32::MAX));
        for key in children {
            self.add(key, lines);
        }
    }

    /// Adds the lines of a call, of its nested calls, and, for a run, of its result.
    fn add(&self, key: &str, lines: &mut Vec<String>) {
        let Some(call) = self.0.get(key) else { return };
        let is_result = |record: &&&Record| record.kind == StepKind::Result;
        lines.extend(call.records.iter().filter(|record| !is_result(record)).map(|record| line(record)));
        if !call.records.iter().any(|record| *record.key == *key) && !call.children.is_empty() {
            let indent = "  ".repeat(depth(key).saturating_sub(1));
            lines.push(format!("{:TIME_WIDTH$}  {indent}call {} (not finished)", "", printable_line(&called(key))));
        }
        self.add_children(key, lines);
        lines.extend(call.records.iter().filter(is_result).map(|record| line(record)));
    }
}

impl CallNode<'_> {
    fn place(&self) -> Option<u32> {
        self.records.first().map(|record| record.place)
    }
}

fn line(record: &Record) -> String {
    let time = record.time.to_string();
    let seconds = time.split_once('.').map_or(time.clone(), |(seconds, _)| format!("{seconds}Z"));
    let (indent, kind) = ("  ".repeat(depth(&record.parent)), record.kind.as_str());
    let (name, input, outcome) = (printable_line(&record.name), short(&record.input), outcome(record));
    let overlapped = if record.overlapped { " (overlapped)" } else { "" };
    match record.kind {
        StepKind::Result => format!("{seconds:TIME_WIDTH$}  {indent}{kind} {name} → {outcome}{overlapped}"),
        StepKind::Run => format!("{seconds:TIME_WIDTH$}  {indent}{kind} {name} {input} (run {outcome}){overlapped}"),
        _ => format!("{seconds:TIME_WIDTH$}  {indent}{kind} {name} {input} → {outcome}{overlapped}"),
    }
}

/// Describes the outcome of an effect.
fn outcome(record: &Record) -> String {
    match record.kind {
        StepKind::Call | StepKind::Tool | StepKind::Result => {
            match recorded_outcome(&record.name, record.value.clone()).as_ref().map(Outcome::as_result) {
                Some(Ok(value)) => short(&value.value()),
                Some(Err(error)) => format!("error: {}", cut(error)),
                None => "error: the model failed".to_owned(),
            }
        }
        StepKind::Run => cut(record.value.as_str().unwrap_or_default()),
        StepKind::Approval => describe_decision(&record.value),
        StepKind::Model => describe_answer(&record.value),
        _ => short(&record.value),
    }
}

/// Describes an approval decision and who made it: `denied by approver: "not today"`.
fn describe_decision(value: &Value) -> String {
    let (verdict, detail) = match &value["verdict"] {
        Value::Object(verdict) => match verdict.iter().next() {
            Some((verdict, detail)) => (verdict.as_str(), detail),
            None => return short(value),
        },
        _ => return short(value),
    };
    let detail = if detail.is_null() { String::new() } else { format!(": {}", short(detail)) };
    format!("{} by {}{detail}", printable_line(verdict), printable_line(value["by"].as_str().unwrap_or("unknown")))
}

/// Describes a model's answer: its texts and tool calls.
fn describe_answer(value: &Value) -> String {
    let Ok(parts) = Vec::<ResponsePart>::deserialize(&value["parts"]) else { return short(value) };
    let words = parts.iter().filter_map(|part| match part {
        ResponsePart::Text { text } => Some(Value::from(text.as_str()).to_string()),
        ResponsePart::ToolCall(call) => Some(format!("{} {}", call.name, call.arguments)),
        _ => None,
    });
    cut(&words.collect::<Vec<_>>().join(", "))
}

fn short(value: &Value) -> String {
    cut(&value.to_string())
}

/// Returns the start of a text on one line.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_VALUE_CHARS) {
        Some((end, _)) => format!("{}…", printable_line(&text[..end])),
        None => printable_line(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{describe_answer, describe_decision};

    #[test]
    fn a_decision_is_described_in_words() {
        let described = |verdict, by| describe_decision(&json!({ "verdict": verdict, "by": by }));
        assert_eq!(described(json!({ "approved": null }), "approver"), "approved by approver");
        assert_eq!(described(json!({ "approved": { "a": 1 } }), "memory"), r#"approved by memory: {"a":1}"#);
        assert_eq!(described(json!({ "denied": "not\u{202e}" }), "approver"), r#"denied by approver: "not\u{202e}""#);
        assert_eq!(describe_decision(&json!({ "of": "another version" })), r#"{"of":"another version"}"#);
    }

    #[test]
    fn an_answer_is_described_by_its_texts_and_calls() {
        let parts = json!([{ "type": "text", "text": "a\nb" }]);
        assert_eq!(describe_answer(&json!({ "parts": parts })), r#""a\nb""#);
        assert_eq!(describe_answer(&json!([])), "[]");
    }
}
