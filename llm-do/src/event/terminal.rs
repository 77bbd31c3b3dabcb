//! Events for a person at a terminal.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use llm_do_providers::{ResponsePart, Usage};
use serde_json::Value;

use super::{Delta, Event, EventKind, EventSink, Judge, Outcome};

/// The longest line shown of a value, in characters.
const WIDTH: usize = 160;

/// How much a [`Terminal`] shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verbosity {
    /// Only what calls say of their progress.
    #[default]
    Quiet,
    /// Also each call, its result and each request to a model, a line each.
    Calls,
    /// Also what models write, as they write it.
    Stream,
}

/// Writes events for a person: nested calls indented by depth of call, long values cut.
pub struct Terminal<W: Write + Send>(Mutex<State<W>>);

struct State<W> {
    writer: W,
    verbosity: Verbosity,
    /// Whether the last line is a model's and not ended yet.
    in_line: bool,
}

impl Terminal<io::Stderr> {
    /// Writes to standard error.
    #[must_use]
    pub fn stderr(verbosity: Verbosity) -> Self {
        Self::new(io::stderr(), verbosity)
    }
}

impl<W: Write + Send> Terminal<W> {
    /// Writes to `writer`.
    pub fn new(writer: W, verbosity: Verbosity) -> Self {
        Self(Mutex::new(State { writer, verbosity, in_line: false }))
    }
}

impl<W: Write + Send> EventSink for Terminal<W> {
    fn emit(&self, event: &Event) {
        // A terminal that went away does not stop the run.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).show(event);
    }
}

impl<W: Write> State<W> {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Progress { text } => self.line(text),
            EventKind::ModelDelta { delta } if self.verbosity >= Verbosity::Stream => self.stream(delta),
            kind if self.verbosity >= Verbosity::Calls => match describe(event, kind) {
                Some(text) => {
                    // A name that a model made up may hold line breaks.
                    let text = text.replace('\n', " ");
                    self.line(&format!("{:indent$}{text}", "", indent = 2 * event.depth as usize))
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        let start = if std::mem::take(&mut self.in_line) { "\n" } else { "" };
        self.writer.write_all(format!("{start}{}\n", printable(text)).as_bytes())?;
        self.writer.flush()
    }

    fn stream(&mut self, delta: &Delta) -> io::Result<()> {
        let (Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text)) = delta;
        self.in_line = !text.ends_with('\n') && (self.in_line || !text.is_empty());
        self.writer.write_all(printable(text).as_bytes())?;
        self.writer.flush()
    }
}

/// Replaces characters that steer a terminal or turn the direction of text: a model may have written them.
pub(crate) fn printable(text: &str) -> String {
    let steers = |c: char| match c {
        '\n' | '\t' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        c => c.is_control(),
    };
    text.chars().map(|c| if steers(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Says in a line what happened, if it is worth one.
fn describe(event: &Event, kind: &EventKind) -> Option<String> {
    let name = &event.name;
    match kind {
        EventKind::CallStarted { what, arguments, .. } => {
            Some(format!("→ {} {name} {}", what.as_str(), brief(arguments)))
        }
        EventKind::CallFinished { outcome: Outcome::Result(value), elapsed_ms, note, .. } => {
            let note = note.as_deref().map(|note| format!("; {}", cut(note))).unwrap_or_default();
            Some(format!("← {name} {} ({elapsed_ms} ms{note})", brief(value)))
        }
        EventKind::CallFinished { outcome: Outcome::Error(error), elapsed_ms, .. } => {
            Some(format!("✗ {name} {} ({elapsed_ms} ms)", cut(error)))
        }
        EventKind::CallRefused { error, .. } => Some(format!("✗ {name} {}", cut(error))),
        EventKind::ApprovalDecided { approved, by, reason, .. } if *by != Judge::Policy || !approved => Some(format!(
            "{} {name} {}",
            if *approved { "approved" } else { "denied" },
            reason.as_deref().unwrap_or("")
        )),
        EventKind::ModelRequest { model, turn, .. } => Some(format!("  {name} asks {model} (request {turn})")),
        EventKind::ModelWaiting { on } => Some(format!("  {name} waits: {on}")),
        EventKind::ModelResponse { parts, usage, .. } => Some(format!("  {name} {}", answer(parts, usage))),
        EventKind::ModelRetry { reason } => Some(format!("  {name} asks again: {}", cut(reason))),
        EventKind::Usage { used } if event.parent.is_none() && event.call == 0 => Some(format!("used: {used}")),
        _ => None,
    }
}

fn answer(parts: &[ResponsePart], usage: &Usage) -> String {
    let words: Vec<String> = parts.iter().filter_map(part).collect();
    format!("got {} ({} tokens in, {} out)", cut(&words.join(", ")), usage.input_tokens, usage.output_tokens)
}

fn part(part: &ResponsePart) -> Option<String> {
    match part {
        ResponsePart::Text { text } => Some(format!("{text:?}")),
        ResponsePart::ToolCall(call) => Some(format!("{} {}", call.name, call.arguments)),
        _ => None,
    }
}

fn brief(value: &Value) -> String {
    cut(&value.to_string())
}

fn cut(text: &str) -> String {
    let flat = text.replace('\n', " ");
    match flat.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

impl<W: Write + Send> fmt::Debug for Terminal<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Terminal").finish_non_exhaustive()
    }
}
