//! Events for a person at a terminal.

mod lines;
mod rows;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;

#[cfg(feature = "cli")]
pub(crate) use self::lines::told;
pub(crate) use self::rows::{BAR, Rows};
use self::words::describe;
use super::queue::{CAPACITY, Queue};
use super::{Delivery, Delta, Event, EventKind, EventSink};
use crate::base::printable::{printable, printable_line};

/// How much a [`Terminal`] shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Verbosity {
    /// Only what calls say of their progress.
    #[default]
    Quiet,
    /// Also each call, its result and each request to a model.
    Calls,
    /// Also what models write, as they write it.
    Stream,
}

/// Writes events for a person, in the background: each call below its caller, long values cut.
///
/// A line of a value is cut to 160 characters, and what has several lines to 10 of them. Texts of models and tools stand
/// behind a bar, `│`, and their hidden characters and those that would steer the terminal are escapes, so that none looks
/// like a line of the program's. A terminal that hangs stops no run: at most 4,096 events wait for it, and a line says how
/// many were dropped.
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
        Self { queue: Queue::new(Arc::new(Page::new(writer, verbosity)), CAPACITY), verbosity }
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
    /// Returns whether anything may be shown of it.
    fn shows(self, kind: &EventKind) -> bool {
        match kind {
            EventKind::Progress { .. } | EventKind::Dropped { .. } => true,
            EventKind::ModelDelta { .. } => self >= Self::Stream,
            _ => self >= Self::Calls,
        }
    }
}

/// What is written so far, and how it goes on.
pub(crate) struct Page<W: Write + Send>(Mutex<State<W>>);

struct State<W> {
    writer: W,
    verbosity: Verbosity,
    /// How many columns the terminal has now, if it is one.
    width: fn() -> Option<usize>,
    /// The call whose model's row is not ended yet, and how many columns of that row are written.
    in_row: Option<(Place, usize)>,
    /// How many calls each call is inside of.
    levels: HashMap<Place, usize>,
}

/// A call: its run, and its number there.
type Place = (Arc<str>, u64);

impl<W: Write + Send> Page<W> {
    pub(crate) fn new(writer: W, verbosity: Verbosity) -> Self {
        Self::with_width(writer, verbosity, || None)
    }

    /// Breaks rows where the terminal would, so that each begins as it should.
    pub(crate) fn with_width(writer: W, verbosity: Verbosity, width: fn() -> Option<usize>) -> Self {
        Self(Mutex::new(State { writer, verbosity, width, in_row: None, levels: HashMap::new() }))
    }
}

impl<W: Write + Send> EventSink for Page<W> {
    fn emit(&self, event: &Arc<Event>) {
        // A terminal that went away does not stop the run.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).show(event);
    }

    fn name(&self) -> &'static str {
        "Terminal"
    }
}

impl<W: Write> State<W> {
    fn show(&mut self, event: &Event) -> io::Result<()> {
        if !self.verbosity.shows(&event.kind) {
            return Ok(());
        }
        let level = self.level(event);
        match &event.kind {
            EventKind::Progress { text } if self.verbosity == Verbosity::Quiet => self.text(0, text),
            EventKind::Progress { text } => self.text(level + 1, text),
            EventKind::ModelDelta { delta } => self.stream(event, level, delta),
            kind => match describe(event, kind, self.verbosity) {
                Some(text) => self.lines(level, &text),
                None => Ok(()),
            },
        }
    }

    /// Returns how far to indent what is said of a call, and keeps it for the calls inside.
    fn level(&mut self, event: &Event) -> usize {
        let place = |call| (Arc::clone(&event.run), call);
        let known = self.levels.get(&place(event.call)).copied();
        let level = known.unwrap_or_else(|| {
            let above = |parent| self.levels.get(&place(parent)).map_or(event.depth as usize, |level| level + 1);
            event.parent.map_or(0, above)
        });
        match event.kind {
            EventKind::CallStarted { .. } => drop(self.levels.insert(place(event.call), level)),
            EventKind::CallFinished { .. } => drop(self.levels.remove(&place(event.call))),
            _ => {}
        }
        level
    }

    /// Writes what the program says of a call.
    fn lines(&mut self, level: usize, text: &str) -> io::Result<()> {
        let indent = "  ".repeat(level);
        let rows = Rows { first: &indent, other: &format!("{indent}  {BAR}"), width: (self.width)() };
        let mut page = self.end_row().to_owned();
        for line in printable(text).split('\n') {
            page.push_str(&rows.of(line));
        }
        self.write(&page)
    }

    /// Writes a text that a tool made.
    fn text(&mut self, level: usize, text: &str) -> io::Result<()> {
        let bar = format!("{}{BAR}", "  ".repeat(level));
        let rows = Rows { first: &bar, other: &bar, width: (self.width)() };
        let page = format!("{}{}", self.end_row(), rows.of(&printable(text)));
        self.write(&page)
    }

    /// Goes on with the row of a model, or begins one, below the model's name where another model was writing.
    fn stream(&mut self, event: &Event, level: usize, delta: &Delta) -> io::Result<()> {
        let (Delta::Text(text) | Delta::Thinking(text) | Delta::Arguments(text)) = delta;
        if text.is_empty() {
            return Ok(());
        }
        let place = (Arc::clone(&event.run), event.call);
        let (indent, mut page) = ("  ".repeat(level), String::new());
        let mut column = match self.in_row.take() {
            Some((writing, column)) if writing == place => Some(column),
            Some(_) => {
                page = format!("\n{indent}{}:\n", printable_line(&event.name));
                None
            }
            None => None,
        };
        let bar = format!("{indent}  {BAR}");
        let rows = Rows { first: &bar, other: &bar, width: (self.width)() };
        rows.push(&mut page, &mut column, &printable(text));
        self.in_row = column.map(|column| (place, column));
        self.write(&page)
    }

    /// Returns what ends a row that a model has begun.
    fn end_row(&mut self) -> &'static str {
        if self.in_row.take().is_some() { "\n" } else { "" }
    }

    fn write(&mut self, page: &str) -> io::Result<()> {
        self.writer.write_all(page.as_bytes())?;
        self.writer.flush()
    }
}

impl<W: Write + Send> fmt::Debug for Page<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Page").finish_non_exhaustive()
    }
}
