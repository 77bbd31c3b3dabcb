//! What an approver is asked, in a line and in full.

mod summary;

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::base::printable::printable;
use crate::declare::argument;
use crate::declare::tool::Effect;
use crate::plane::context::Variant;
use crate::plane::registry::DisplayedArguments;

/// A call that needs approval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The tool's registered name.
    pub tool: Arc<str>,
    /// What the tool does.
    pub description: Arc<str>,
    /// What a call may change.
    pub effect: Effect,
    /// The arguments, decoded already: they follow the schema, and defaults are filled in.
    pub arguments: Value,
    /// The arguments as they were given, if `arguments` does not tell all of them: where a type drops or changes what it
    /// reads when it is written. Calls are equal only if this is, too.
    pub given: Option<Value>,
    /// Who asks: the name of the calling tool, worker or entry.
    pub caller: Arc<str>,
    /// The names of the calls that led to it, from the root to the caller.
    pub path: Vec<Arc<str>>,
    /// The ids of the calls in `path`, in the same order: those of their [events](crate::event::Event).
    pub path_ids: Vec<u64>,
    /// The id of the run.
    pub run: Arc<str>,
    /// The id of the call: that of its events.
    pub call: u64,
    /// The id of the calling call; none for a root call, about which nobody is asked.
    pub parent: Option<u64>,
    /// How the tool wants a call told in a line: a text with `{argument}` in the place of a value.
    pub template: Option<Arc<str>>,
    /// Its place among the questions that are open at once, from 1. The count begins anew when all are answered.
    pub position: usize,
    /// What was wrong with the arguments by which the approver wanted to replace those of the call.
    pub problem: Option<String>,
    pub(super) total: Total,
    /// What tells the tool from others of its name, if several may have it.
    pub(crate) variant: Option<Variant>,
    /// The same of each caller in `path`.
    pub(crate) path_variants: Vec<Option<Variant>>,
    /// Whether files are among the arguments.
    pub(super) has_files: bool,
}

impl ApprovalRequest {
    /// Returns a request as an approver may get it, for its tests: of no description, from no caller, the only one open.
    #[must_use]
    pub fn new(tool: impl Into<Arc<str>>, arguments: Value) -> Self {
        Self {
            tool: tool.into(),
            description: Arc::default(),
            effect: Effect::default(),
            arguments,
            given: None,
            caller: Arc::default(),
            path: Vec::new(),
            path_ids: Vec::new(),
            run: Arc::default(),
            call: 0,
            parent: None,
            template: None,
            position: 1,
            problem: None,
            total: Total::of(1),
            variant: None,
            path_variants: Vec::new(),
            has_files: false,
        }
    }

    /// Puts in what is shown of the arguments.
    pub(crate) fn show(&mut self, shown: DisplayedArguments) {
        let DisplayedArguments { arguments, given, has_files } = shown;
        (self.arguments, self.given, self.has_files) = (arguments, given, has_files);
    }

    /// Returns what `given` tells beyond the arguments, as events tell it: without what the types hide when they write it.
    pub(crate) fn given_in_events(&self) -> Option<Value> {
        let told = argument::masked(self.given.as_ref()?, &self.arguments);
        Some(told).filter(|told| !argument::is_told(told, &self.arguments))
    }

    /// Returns how many questions there are in its row by now; the number grows while it is open.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total.get()
    }

    /// Returns one line that says what the call would do.
    ///
    /// It is what the tool's `summary` says, or else `tool(argument="..", ..)`. A value of more than 80 characters is
    /// cut, and the line says how much of it is missing. Line breaks, hidden characters and those that could steer a
    /// terminal are written as in Rust, `\n`.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::ApprovalRequest;
    /// use llm_do::json;
    ///
    /// let mut request = ApprovalRequest::new("write", json!({ "path": "notes.txt", "text": "x".repeat(1080) }));
    /// let summary = request.summary();
    /// assert!(summary.starts_with(r#"write(path="notes.txt", text="xxx"#), "{summary}");
    /// assert!(summary.ends_with(r#"xxx"… 1,000 characters more)"#), "{summary}");
    ///
    /// request.template = Some("write to {path}".into());
    /// assert_eq!(request.summary(), "write to notes.txt");
    /// ```
    #[must_use]
    pub fn summary(&self) -> String {
        match &self.template {
            Some(template) => summary::filled(template, &self.arguments),
            None => summary::listed(&self.tool, &self.arguments),
        }
    }

    /// Returns everything there is to know of the call, in lines: nothing is cut, and a text keeps its lines.
    ///
    /// Hidden characters and those that could steer a terminal are written as in Rust, `\u{200b}`.
    #[must_use]
    pub fn details(&self) -> String {
        let mut text = format!("tool: {} ({})\n", self.tool, told(self.effect));
        for line in self.description.lines() {
            let _ = writeln!(text, "    {line}");
        }
        if !self.path.is_empty() {
            let _ = writeln!(text, "called by: {}", self.path.join(" > "));
        }
        match &self.arguments {
            Value::Object(arguments) if arguments.is_empty() => text.push_str("no arguments\n"),
            Value::Object(arguments) => {
                arguments.iter().for_each(|(name, value)| text.push_str(&argument(name, value)));
            }
            other => text.push_str(&argument("arguments", other)),
        }
        if let Some(given) = &self.given {
            text.push_str(&argument("given as", given));
        }
        printable(text.trim_end())
    }
}

/// How many questions there are in a row, shared by all of the row.
#[derive(Clone, Debug)]
pub(super) struct Total(Arc<AtomicUsize>);

impl Total {
    pub(super) fn of(questions: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(questions)))
    }

    /// Counts one more question, and returns how many there are.
    pub(super) fn add(&self) -> usize {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl PartialEq for Total {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

/// Says what a call may change.
fn told(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "changes nothing",
        Effect::Idempotent => "changes something; twice is like once",
        Effect::Destructive => "changes something for good",
        Effect::Undeclared => "may do anything",
    }
}

/// Writes an argument: a short value behind its name, a text of several lines and a nested value below it.
fn argument(name: &str, value: &Value) -> String {
    let name = summary::named(name);
    let text = match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    };
    if text.contains('\n') {
        return format!("{name}:\n    {}\n", text.replace('\n', "\n    "));
    }
    match value {
        Value::String(text) => format!("{name}: {}\n", Value::from(text.as_str())),
        _ => format!("{name}: {text}\n"),
    }
}
