//! `journal`: what a journal holds, as the tree of calls that it is.

use std::collections::HashMap;

use llm_do_providers::ResponsePart;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::args::JournalOptions;
use super::run::print_safely;
use super::{Failure, print};
use crate::base::printable::printable_line;
use crate::observe::event::Outcome;
use crate::observe::journal::{FileJournal, Record, StepKind, called};
use crate::plane::dispatch::recorded_outcome;

/// How many characters of a value are shown.
const WIDTH: usize = 80;

/// How many columns a time takes: `2026-01-31T12:00:00Z`.
const TIME: usize = 20;

/// Prints the records of a journal; those before a line that is no record, too.
pub(super) fn list(options: &JournalOptions) -> Result<(), Failure> {
    let (mut records, mut fault) = (Vec::new(), Ok(()));
    for record in FileJournal::read(&options.file).map_err(Failure::error)? {
        match record {
            Ok(record) => records.push(record),
            Err(error) => fault = Err(Failure::error(error)),
        }
    }
    if options.json {
        records.iter().try_for_each(|record| print_safely(&json(record)))?;
    } else if records.is_empty() {
        print("nothing is recorded")?;
    } else {
        Tree::of(&records).lines().iter().try_for_each(|line| print(line))?;
    }
    fault
}

fn json(record: &Record) -> String {
    #[derive(Serialize)]
    struct Placed<'a> {
        depth: usize,
        #[serde(flatten)]
        record: &'a Record,
    }
    // A record is read from JSON, so it can be written as such.
    serde_json::to_string(&Placed { depth: depth(&record.parent), record }).unwrap_or_default()
}

/// Returns how many calls a call of this parent is inside of.
fn depth(parent: &str) -> usize {
    parent.split('/').filter(|part| !part.is_empty()).count()
}

/// The calls of a journal, each by its key; all are inside the empty key.
#[derive(Default)]
struct Tree<'a>(HashMap<&'a str, Call<'a>>);

/// What is recorded of a call.
#[derive(Default)]
struct Call<'a> {
    /// Its own record, and those of its parts, such as its approval, in the order in which they happened.
    parts: Vec<&'a Record>,
    /// The keys of the calls inside it, in the order in which the first thing of each was recorded.
    inside: Vec<&'a str>,
}

impl<'a> Tree<'a> {
    fn of(records: &'a [Record]) -> Self {
        let mut tree = Self::default();
        for record in records {
            let key = record.call();
            tree.link(key);
            tree.0.entry(key).or_default().parts.push(record);
        }
        tree
    }

    /// Puts a call below its parent, which may not have ended and so have no record of its own.
    fn link(&mut self, key: &'a str) {
        if key.is_empty() || self.0.contains_key(key) {
            return;
        }
        self.0.insert(key, Call::default());
        let parent = key.rsplit_once('/').map_or("", |(parent, _)| parent);
        self.link(parent);
        self.0.entry(parent).or_default().inside.push(key);
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        self.add_inside("", &mut lines);
        lines
    }

    fn add_inside(&self, key: &str, lines: &mut Vec<String>) {
        let Some(call) = self.0.get(key) else { return };
        let mut inside = call.inside.clone();
        inside.sort_by_key(|key| self.0.get(key).and_then(Call::place).unwrap_or(u32::MAX));
        for key in inside {
            self.add(key, lines);
        }
    }

    /// Adds the lines of a call: what comes before it, itself, what happened in it, and what a run came to.
    fn add(&self, key: &str, lines: &mut Vec<String>) {
        let Some(call) = self.0.get(key) else { return };
        let is_end = |record: &&&Record| record.kind == StepKind::Result;
        lines.extend(call.parts.iter().filter(|record| !is_end(record)).map(|record| line(record)));
        if !call.parts.iter().any(|record| *record.key == *key) && !call.inside.is_empty() {
            let indent = "  ".repeat(depth(key).saturating_sub(1));
            lines.push(format!("{:TIME$}  {indent}call {} (not ended)", "", printable_line(&called(key))));
        }
        self.add_inside(key, lines);
        lines.extend(call.parts.iter().filter(is_end).map(|record| line(record)));
    }
}

impl Call<'_> {
    fn place(&self) -> Option<u32> {
        self.parts.first().map(|record| record.place)
    }
}

fn line(record: &Record) -> String {
    let time = record.time.to_string();
    let seconds = time.split_once('.').map_or(time.clone(), |(seconds, _)| format!("{seconds}Z"));
    let (indent, kind) = ("  ".repeat(depth(&record.parent)), record.kind.as_str());
    let (name, input, came) = (printable_line(&record.name), short(&record.input), came(record));
    let overlapped = if record.overlapped { " (overlapped)" } else { "" };
    match record.kind {
        StepKind::Result => format!("{seconds:TIME$}  {indent}{kind} {name} → {came}{overlapped}"),
        StepKind::Run => format!("{seconds:TIME$}  {indent}{kind} {name} {input} (run {came}){overlapped}"),
        _ => format!("{seconds:TIME$}  {indent}{kind} {name} {input} → {came}{overlapped}"),
    }
}

/// Says what an effect came to.
fn came(record: &Record) -> String {
    match record.kind {
        StepKind::Call | StepKind::Tool | StepKind::Result => {
            match recorded_outcome(&record.name, record.value.clone()) {
                Some(Outcome::Result(value)) => short(&value),
                Some(Outcome::Error(error)) => format!("error: {}", cut(&error)),
                None => "error: its model failed".to_owned(),
            }
        }
        StepKind::Run => cut(record.value.as_str().unwrap_or_default()),
        StepKind::Approval => decided(&record.value),
        StepKind::Model => answered(&record.value),
        _ => short(&record.value),
    }
}

/// Says what was decided of a call, and by whom: `denied by approver: "not today"`.
fn decided(value: &Value) -> String {
    let (verdict, more) = match &value["verdict"] {
        Value::Object(verdict) => match verdict.iter().next() {
            Some((verdict, more)) => (verdict.as_str(), more),
            None => return short(value),
        },
        _ => return short(value),
    };
    let more = if more.is_null() { String::new() } else { format!(": {}", short(more)) };
    format!("{} by {}{more}", printable_line(verdict), printable_line(value["by"].as_str().unwrap_or("unknown")))
}

/// Says what a model answered: its texts and its calls.
fn answered(value: &Value) -> String {
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

/// Writes the beginning of a text on one line.
fn cut(text: &str) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", printable_line(&text[..end])),
        None => printable_line(text),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{answered, decided};

    #[test]
    fn a_decision_is_told_in_words() {
        let told = |verdict, by| decided(&json!({ "verdict": verdict, "by": by }));
        assert_eq!(told(json!({ "approved": null }), "approver"), "approved by approver");
        assert_eq!(told(json!({ "approved": { "a": 1 } }), "memory"), r#"approved by memory: {"a":1}"#);
        assert_eq!(told(json!({ "denied": "not\u{202e}" }), "approver"), r#"denied by approver: "not\u{202e}""#);
        assert_eq!(decided(&json!({ "of": "another version" })), r#"{"of":"another version"}"#);
    }

    #[test]
    fn an_answer_is_told_by_its_texts_and_calls() {
        let parts = json!([{ "type": "text", "text": "a\nb" }]);
        assert_eq!(answered(&json!({ "parts": parts })), r#""a\nb""#);
        assert_eq!(answered(&json!([])), "[]");
    }
}
