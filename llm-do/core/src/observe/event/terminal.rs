//! A sink that shows events in a terminal.

mod answers;
mod describe;
mod rows;
mod values;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

pub use self::answers::Answers;
use self::answers::Piece;
use self::describe::describe;
pub use self::rows::{BAR, Rows};
pub use self::values::with_value;
use super::queue::{CAPACITY, Queue};
use super::{Delivery, Delta, Event, EventKind, EventSink};
use crate::base::mutex::IgnorePoison;
use crate::base::printable::{printable, printable_line};

/// How much a [`Terminal`] shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verbosity {
    /// Only the progress that calls report.
    #[default]
    Quiet,
    /// Also each call, its result and each request to a model.
    Calls,
    /// Also the text of models, as it streams.
    Stream,
}

/// Shows events in a terminal, in the background: each call indented below its caller, with long values cut.
///
/// A value of one line is cut to 160 characters, a longer one to 10 lines. Texts of models and tools are shown behind
/// a bar, `│`, and their invisible and control characters are escaped, so they cannot look like a line of the
/// program. A blocked terminal does not block runs: at most 4,096 events wait for it, and a line has the number of
/// those that were dropped.
///
/// ```
/// use llm_do::prelude::*;
/// use llm_do::event::{Terminal, Verbosity};
///
/// # fn main() -> Result<()> {
/// let runtime = Runtime::builder().sink(Terminal::stderr(Verbosity::Calls)).build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Terminal {
    queue: Queue,
    verbosity: Verbosity,
}

impl Terminal {
    /// Writes to standard error.
    #[must_use]
    pub fn stderr(verbosity: Verbosity) -> Self {
        Self::new(io::stderr(), verbosity)
    }

    /// Writes to `writer`.
    pub fn new(writer: impl Write + Send + 'static, verbosity: Verbosity) -> Self {
        Self { queue: Queue::new(Arc::new(TerminalWriter::new(writer, verbosity)), CAPACITY), verbosity }
    }
}

#[async_trait]
impl EventSink for Terminal {
    fn emit(&self, event: &Arc<Event>) {
        if self.verbosity.shows(&event.kind) {
            self.queue.emit(event);
        }
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }

    async fn flush(&self) {
        self.queue.flush().await;
    }
}

impl Verbosity {
    /// Returns whether events of this kind may be shown.
    fn shows(self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Progress { .. } | EventKind::Dropped { .. } => true,
            EventKind::ModelDelta { .. } => self >= Self::Stream,
            _ => self >= Self::Calls,
        }
    }
}

/// Writes events to a terminal, in the calling thread.
#[doc(hidden)]
pub struct TerminalWriter<W: Write + Send>(Mutex<TerminalState<W>>);

struct TerminalState<W> {
    writer: W,
    verbosity: Verbosity,
    /// Returns the number of columns of the terminal, or `None` if there is no terminal.
    width: fn() -> Option<usize>,
    /// The call whose model's text is on the current row, and how many columns of the row are used.
    in_row: Option<(CallKey, usize)>,
    /// The nesting level of each call.
    levels: HashMap<CallKey, usize>,
    /// The texts of the workers that write to the user, if they are shown as they stream.
    answers: Option<answers::Answers>,
}

/// Identifies a call by its run and its id.
type CallKey = (Arc<str>, u64);

impl<W: Write + Send> TerminalWriter<W> {
    pub(crate) fn new(writer: W, verbosity: Verbosity) -> Self {
        Self::with_width(writer, verbosity, || None)
    }

    /// Breaks rows at the terminal's width, so that each starts with its prefix.
    pub fn with_width(writer: W, verbosity: Verbosity, width: fn() -> Option<usize>) -> Self {
        let (in_row, levels) = (None, HashMap::new());
        Self(Mutex::new(TerminalState { writer, verbosity, width, in_row, levels, answers: None }))
    }

    /// Shows texts of workers while they stream, at any verbosity.
    pub fn show_answers(&self, answers: Answers) {
        self.0.lock().ignore_poison().answers = Some(answers);
    }

    /// Ends an unfinished row, so that other output can follow; not if another thread is writing, since it may be blocked.
    pub fn finish_row(&self) {
        if let Ok(mut state) = self.0.try_lock() {
            let _ = state.finish_row();
        }
    }

    /// Ends the run, and returns the text of the answer that was shown last, unless another thread is writing.
    pub fn take_answer(&self) -> Option<String> {
        let mut state = self.0.try_lock().ok()?;
        let _ = state.finish_row();
        state.answers.as_mut()?.end()
    }
}

impl<W: Write + Send> EventSink for TerminalWriter<W> {
    fn emit(&self, event: &Arc<Event>) {
        // The run continues even if the terminal is gone.
        let _ = self.0.lock().ignore_poison().show(event);
    }

    fn name(&self) -> &'static str {
        "Terminal"
    }
}

impl<W: Write> TerminalState<W> {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        let has_text = self.answers.as_ref().is_some_and(|answers| answers.has_text(event));
        let pieces = self.answers.as_mut().map(|answers| answers.take(event)).unwrap_or_default();
        let is_repeat = has_text && matches!(event.kind, EventKind::ModelRetry { .. });
        if !self.verbosity.shows(&event.kind) && pieces.is_empty() && !is_repeat {
            return Ok(());
        }
        let level = self.level(event);
        // With `Stream`, the texts of all workers are shown below.
        if self.verbosity < Verbosity::Stream {
            pieces.into_iter().try_for_each(|piece| self.piece(level, piece))?;
        }
        if !self.verbosity.shows(&event.kind) && !is_repeat {
            return Ok(());
        }
        let verbosity = if has_text { Verbosity::Stream } else { self.verbosity };
        match &event.kind {
            EventKind::Progress { text } if self.verbosity == Verbosity::Quiet => self.text(0, text),
            EventKind::Progress { text } => self.text(level + 1, text),
            EventKind::ModelDelta { delta } => self.stream(event, level, delta),
            kind => match describe(event, kind, verbosity) {
                Some(text) => self.lines(level, &text),
                None => Ok(()),
            },
        }
    }

    /// Returns the indentation of a call's events, and stores it for the calls below.
    fn level(&mut self, event: &Event) -> usize {
        let key = |call| (Arc::clone(&event.run), call);
        let known = self.levels.get(&key(event.call)).copied();
        let level = known.unwrap_or_else(|| {
            let above = |parent| self.levels.get(&key(parent)).map_or(event.depth as usize, |level| level + 1);
            event.parent.map_or(0, above)
        });
        match event.kind {
            EventKind::CallStarted { .. } => drop(self.levels.insert(key(event.call), level)),
            EventKind::CallFinished { .. } => drop(self.levels.remove(&key(event.call))),
            _ => {}
        }
        level
    }

    /// Writes a line of the program about a call.
    fn lines(&mut self, level: usize, text: &str) -> io::Result<()> {
        let indent = "  ".repeat(level);
        let rows = Rows { first: &indent, other: &format!("{indent}  {BAR}"), width: (self.width)() };
        let mut output = self.end_row().to_owned();
        for line in printable(text).split('\n') {
            output.push_str(&rows.format(line));
        }
        self.write(&output)
    }

    /// Writes a text from a tool.
    fn text(&mut self, level: usize, text: &str) -> io::Result<()> {
        let bar = format!("{}{BAR}", "  ".repeat(level));
        let rows = Rows { first: &bar, other: &bar, width: (self.width)() };
        let output = format!("{}{}", self.end_row(), rows.format(&printable(text)));
        self.write(&output)
    }

    /// Continues the row of a model's text, or starts one, below the model's name if another model was writing.
    fn stream(&mut self, event: &Event, level: usize, delta: &Delta) -> io::Result<()> {
        let (Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text)) = delta;
        if text.is_empty() {
            return Ok(());
        }
        let key = (Arc::clone(&event.run), event.call);
        let (indent, mut output) = ("  ".repeat(level), String::new());
        let mut column = match self.in_row.take() {
            Some((writing, column)) if writing == key => Some(column),
            Some(_) => {
                output = format!("\n{indent}{}:\n", printable_line(&event.name));
                None
            }
            None => None,
        };
        let bar = format!("{indent}  {BAR}");
        let rows = Rows { first: &bar, other: &bar, width: (self.width)() };
        rows.push(&mut output, &mut column, &printable(text));
        self.in_row = column.map(|column| (key, column));
        self.write(&output)
    }

    /// Shows a piece of an answer.
    fn piece(&mut self, level: usize, piece: Piece) -> io::Result<()> {
        let level = if self.verbosity == Verbosity::Quiet { 0 } else { level };
        let indent = "  ".repeat(level);
        let bar = format!("{indent}  {BAR}");
        let rows = Rows { first: &bar, other: &bar, width: (self.width)() };
        match piece {
            Piece::Name(name) => {
                let output = format!("{}{indent}{}:\n", self.end_row(), printable_line(&name));
                self.write(&output)
            }
            Piece::Thought(thought) => {
                let line = format!("thought: {}", thought.split_whitespace().collect::<Vec<_>>().join(" "));
                let output = format!("{}{}", self.end_row(), rows.format_one(&printable_line(&line)));
                self.write(&output)
            }
            Piece::Text(key, text) => self.continue_row(key, rows, &text),
            Piece::End => self.finish_row(),
        }
    }

    fn continue_row(&mut self, key: CallKey, rows: Rows<'_>, text: &str) -> io::Result<()> {
        let mut output = String::new();
        let mut column = match self.in_row.take() {
            Some((writing, column)) if writing == key => Some(column),
            Some(_) => {
                output.push('\n');
                None
            }
            None => None,
        };
        rows.push(&mut output, &mut column, &printable(text));
        self.in_row = column.map(|column| (key, column));
        self.write(&output)
    }

    fn finish_row(&mut self) -> io::Result<()> {
        match self.end_row() {
            "" => Ok(()),
            end => self.write(end),
        }
    }

    /// Returns the line break that ends an unfinished row.
    fn end_row(&mut self) -> &'static str {
        if self.in_row.take().is_some() { "\n" } else { "" }
    }

    fn write(&mut self, output: &str) -> io::Result<()> {
        self.writer.write_all(output.as_bytes())?;
        self.writer.flush()
    }
}

impl<W: Write + Send> fmt::Debug for TerminalWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TerminalWriter").finish_non_exhaustive()
    }
}
