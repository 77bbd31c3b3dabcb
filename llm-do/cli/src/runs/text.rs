//! Runs as text, for people.

use std::fmt;

use jiff::Timestamp;
use llm_do_core::base::printable::{printable, printable_line};
use llm_do_core::base::usage::Cost;
use llm_do_core::observe::event::MadeEffect;
use llm_do_core::observe::journal::UnknownCall;
use llm_do_providers::{Money, Unpriced};
use serde::Deserialize;
use serde_json::Value;

use super::CommandError;
use crate::journal::describe;

/// The maximum number of characters of a result or an error in a list.
const MAX_OUTCOME: usize = 60;
/// The width of the names of fields.
const LABEL: usize = 10;

/// The list of runs of a service.
#[derive(Debug, Deserialize)]
pub(super) struct List {
    runs: Vec<Run>,
    next: Option<String>,
}

/// A run as returned by a service.
#[derive(Debug, Deserialize)]
pub(super) struct Run {
    id: String,
    entry: String,
    arguments: Value,
    state: String,
    result: Option<Value>,
    error: Option<String>,
    is_cancelled: bool,
    tenant: String,
    client: String,
    source: Source,
    chat: Option<String>,
    created: Timestamp,
    started: Option<Timestamp>,
    finished: Option<Timestamp>,
    wakes: Option<Timestamp>,
    attempts: u64,
    worked_ms: u64,
    usage: Used,
    #[serde(default)]
    waits: Vec<Wait>,
    #[serde(default)]
    effects: Vec<MadeEffect>,
    #[serde(default)]
    more_effects: u64,
    #[serde(default)]
    unknown: Vec<UnknownCall>,
}

/// The origin of a run.
#[derive(Debug, Deserialize)]
struct Source {
    kind: String,
    name: Option<String>,
}

/// The usage of a run.
#[derive(Debug, Deserialize)]
struct Used {
    tool_calls: u64,
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    cost: Money,
    unpriced_requests: u64,
    #[serde(default)]
    unpriced: Unpriced,
}

/// A question of a run to a person.
#[derive(Debug, Deserialize)]
struct Wait {
    id: String,
    kind: String,
    request: Value,
    created: Timestamp,
    answer: Option<Value>,
    answered_by: Option<String>,
    answered: Option<Timestamp>,
    is_withdrawn: bool,
}

fn unexpected(error: &serde_json::Error) -> CommandError {
    CommandError::Error(format!("unexpected answer of the service: {error}"))
}

impl List {
    /// Parses the response to `GET /runs`.
    pub(super) fn read(answer: &Value) -> Result<Self, CommandError> {
        Self::deserialize(answer).map_err(|error| unexpected(&error))
    }

    /// Returns the id before which the next page begins.
    pub(super) fn next(&self) -> Option<String> {
        self.next.as_deref().map(printable_line)
    }
}

impl Run {
    /// Parses the response to `GET /runs/ID`.
    pub(super) fn read(answer: &Value) -> Result<Self, CommandError> {
        Self::deserialize(answer).map_err(|error| unexpected(&error))
    }

    fn row(&self) -> [String; 7] {
        let outcome = match (&*self.state, &self.error) {
            ("succeeded", _) => self.result.as_ref().unwrap_or(&Value::Null).to_string(),
            (_, error) => error.clone().unwrap_or_default(),
        };
        let state = if self.is_cancelling() { format!("{} (cancelling)", self.state) } else { self.state.clone() };
        [
            printable_line(&self.id),
            printable_line(&state),
            printable_line(&self.entry),
            seconds(self.created),
            format!("{:.1} s", self.worked()),
            self.usage.cost().to_string(),
            cut(&outcome),
        ]
    }

    fn is_cancelling(&self) -> bool {
        self.is_cancelled && self.finished.is_none()
    }

    #[expect(clippy::cast_precision_loss, reason = "exact to a tenth of a second for thousands of years")]
    fn worked(&self) -> f64 {
        self.worked_ms as f64 / 1_000.0
    }

    /// Returns the fields, with their names.
    fn fields(&self) -> Vec<(&'static str, String)> {
        let Self { id, entry, state, client, tenant, chat, attempts, .. } = self;
        let time = |time: Option<Timestamp>| time.map(seconds);
        let started_by = match &self.source {
            Source { kind, name: Some(name) } => format!("{kind} `{name}`, tenant `{tenant}`"),
            Source { kind, name: None } => format!("{kind} `{client}`, tenant `{tenant}`"),
        };
        let cancelling = if self.is_cancelling() { ", a request to cancel it was accepted" } else { "" };
        let fields = [
            ("run", Some(id.clone())),
            ("state", Some(format!("{state}{cancelling}"))),
            ("entry", Some(entry.clone())),
            ("arguments", Some(self.arguments.to_string())),
            ("started by", Some(started_by)),
            ("chat", chat.clone()),
            ("created", Some(seconds(self.created))),
            ("started", time(self.started)),
            ("finished", time(self.finished)),
            ("wakes", time(self.wakes)),
            ("attempts", Some(attempts.to_string())),
            ("worked", Some(format!("{:.1} s", self.worked()))),
            ("used", Some(self.usage.to_string())),
            ("result", (state == "succeeded").then(|| shown(self.result.as_ref().unwrap_or(&Value::Null)))),
            ("error", self.error.clone()),
        ];
        let fields = fields.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let fields = fields.chain(self.effects.iter().map(|effect| ("effect", effect.to_string())));
        let fields = fields.chain(self.unknown.iter().map(|call| ("unknown", describe(call))));
        let more = (self.more_effects > 0).then(|| ("effects", format!("and {} more", self.more_effects)));
        fields.chain(more).chain(self.waits.iter().map(|wait| (wait.label(), wait.to_string()))).collect()
    }
}

impl Used {
    fn cost(&self) -> Cost {
        Cost::new(self.cost, self.unpriced_requests, self.unpriced)
    }
}

impl Wait {
    fn label(&self) -> &'static str {
        if self.answer.is_some() || self.is_withdrawn { "asked" } else { "waits for" }
    }

    /// Returns what is known of where a call came from that needs approval, a line each.
    fn context(&self) -> Vec<String> {
        let context = &self.request["context"];
        let review = context["review"].as_str().map(|review| format!("the reviewer did not decide: {review}"));
        let line = context["line"].as_str().map(str::to_owned);
        line.into_iter().chain(review).map(|text| printable_line(&text)).collect()
    }

    /// Describes the question, by its kind.
    fn asks(&self) -> String {
        match self.request["prompt"].as_str().or(self.request["summary"].as_str()) {
            Some(text) => printable_line(text),
            None => cut(&self.request.to_string()),
        }
    }
}

impl fmt::Display for List {
    /// Aligned columns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.runs.is_empty() {
            return f.write_str("no runs");
        }
        let header = ["run", "state", "entry", "created", "worked", "cost", "outcome"].map(str::to_owned);
        let rows: Vec<_> = std::iter::once(header).chain(self.runs.iter().map(Run::row)).collect();
        let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let widths: Vec<_> = (0..7).map(width).collect();
        let line = |row: &[String; 7]| {
            let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            cells.join("  ").trim_end().to_owned()
        };
        f.write_str(&rows.iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

impl fmt::Display for Run {
    /// A field on each line; further lines of a value are indented.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |(name, value): &(&str, String)| {
            let indent = format!("\n{:LABEL$}  ", "");
            format!("{name:LABEL$}  {}", printable(value.trim_end()).replace('\n', &indent))
        };
        f.write_str(&self.fields().iter().map(line).collect::<Vec<_>>().join("\n"))
    }
}

impl fmt::Display for Used {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool_calls, requests, input_tokens, output_tokens, .. } = self;
        let cost = self.cost();
        write!(
            f,
            "{cost}, {requests} requests, {input_tokens} input tokens, {output_tokens} output tokens, {tool_calls} tool calls"
        )
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, kind, .. } = self;
        write!(f, "{kind} {id}, since {}: {}", seconds(self.created), self.asks())?;
        match (&self.answer, &self.answered_by) {
            (Some(answer), by) => {
                let by = by.as_deref().unwrap_or("an unknown client");
                let at = self.answered.map(|time| format!(" at {}", seconds(time))).unwrap_or_default();
                write!(f, "\nanswered by `{by}`{at}: {}", cut(&answer.to_string()))
            }
            (None, _) if self.is_withdrawn => f.write_str("\nwithdrawn"),
            (None, _) => self.context().iter().try_for_each(|line| write!(f, "\n{line}")),
        }
    }
}

/// Returns a time to the second, in UTC.
fn seconds(time: Timestamp) -> String {
    format!("{time:.0}")
}

/// Returns a value in the form in which `run` prints a result.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => format!("{value:#}"),
    }
}

/// Returns the start of a text on one line.
fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_OUTCOME) {
        Some((end, _)) => format!("{}…", printable_line(&text[..end])),
        None => printable_line(text),
    }
}
