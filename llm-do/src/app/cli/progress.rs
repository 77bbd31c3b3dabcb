//! What standard error shows: events as lines, and below them what the run waits for.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::ProgressBar;

use super::gate::{Closed, Gate};
use super::keyboard::width;
use crate::base::printable::{printable, printable_line};
use crate::observe::event::{
    BAR, CAPACITY, Delivery, Event, EventKind, EventSink, Queue, Rows, TerminalWriter, Verbosity, flush_with_timeout,
};

/// Shows events, and what the run waits for where standard error is a terminal, one after the other: by one queue.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    line: Line,
    gate: Gate,
    queue: Arc<Queue>,
}

impl Progress {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        let line = Line { bar: ProgressBar::new_spinner(), is_terminal: io::stderr().is_terminal() };
        let page = TerminalWriter::with_width(Beside(line.bar.clone()), verbosity, width);
        let gate = Gate::default();
        let screen = Screen { page, line: line.clone(), gate: gate.clone() };
        Self { line, gate, queue: Arc::new(Queue::new(Arc::new(screen), CAPACITY)) }
    }

    /// Shows what happened so far, if the terminal does not hang, and takes the line away.
    pub(super) async fn settle(&self) {
        flush_with_timeout(&[Arc::clone(&self.queue) as _]).await;
        self.line.clear();
    }

    /// Shows nothing more until what is returned is dropped, but for what is being written now: for a question.
    ///
    /// Events wait in the queue meanwhile; where more come than it takes, a line says how many are missing.
    pub(super) fn hold_back(&self) -> Closed {
        self.gate.close()
    }

    /// Waits until what is being written is there, and takes the line away.
    pub(super) fn make_room(&self) {
        self.gate.wait_until_quiet();
        self.line.clear();
    }

    /// Shows panics as what they are, the text of a tool or a model, and none below an open question.
    pub(super) fn show_panics(&self) {
        let (gate, beside) = (self.gate.clone(), self.line.bar.clone());
        std::panic::set_hook(Box::new(move |panic| {
            let rows = Rows { first: BAR, other: BAR, width: width() };
            gate.write(rows.format(&printable(&panic.to_string())), |text| {
                // Nobody is there to read it if standard error is gone.
                let _ = Beside(beside.clone()).write_all(text.as_bytes());
            });
        }));
    }
}

#[async_trait]
impl EventSink for Progress {
    fn emit(&self, event: &Arc<Event>) {
        self.queue.emit(event);
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }

    async fn flush(&self) {
        self.queue.flush().await;
    }
}

/// The lines and the line, on the queue's thread.
#[derive(Debug)]
struct Screen {
    page: TerminalWriter<Beside>,
    line: Line,
    gate: Gate,
}

impl EventSink for Screen {
    fn emit(&self, event: &Arc<Event>) {
        self.gate.show(|| {
            self.page.emit(event);
            self.line.show(event);
        });
    }
}

/// A line that says what the run waits for.
#[derive(Clone, Debug)]
struct Line {
    bar: ProgressBar,
    is_terminal: bool,
}

impl Line {
    fn show(&self, event: &Event) {
        match &event.kind {
            EventKind::ModelRequest { model, .. } => self.wait(&format!("{} asks {model}", event.name)),
            EventKind::ModelWaiting { on } if self.is_terminal => self.wait(&format!("{}: {on}", event.name)),
            EventKind::ModelWaiting { on } => {
                // Without a terminal there is no line to change, but a long wait is still said once.
                let _ = writeln!(io::stderr(), "{}: {}", event.name, printable_line(on));
            }
            EventKind::ModelResponse { .. } | EventKind::CallFinished { .. } => self.clear(),
            _ => {}
        }
    }

    fn wait(&self, message: &str) {
        if self.is_terminal {
            self.bar.reset();
            self.bar.set_message(printable_line(message));
            self.bar.enable_steady_tick(Duration::from_millis(120));
        }
    }

    fn clear(&self) {
        self.bar.disable_steady_tick();
        self.bar.finish_and_clear();
    }
}

/// Writes to standard error and keeps out of the line's way.
struct Beside(ProgressBar);

impl Write for Beside {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
