//! Progress on standard error: events as lines, and a status line below them.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::ProgressBar;

use super::gate::{ClosedGate, Gate};
use super::keyboard::width;
use crate::base::printable::{printable, printable_line};
use crate::observe::event::{
    BAR, CAPACITY, Delivery, Event, EventKind, EventSink, Queue, Rows, TerminalWriter, Verbosity, flush_with_timeout,
};

/// Shows events in order through one queue, and a status line if standard error is a terminal.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    line: StatusLine,
    gate: Gate,
    queue: Arc<Queue>,
}

impl Progress {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        let line = StatusLine { bar: ProgressBar::new_spinner(), is_terminal: io::stderr().is_terminal() };
        let page = TerminalWriter::with_width(AboveStatusLine(line.bar.clone()), verbosity, width);
        let gate = Gate::default();
        let screen = Screen { page, line: line.clone(), gate: gate.clone() };
        Self { line, gate, queue: Arc::new(Queue::new(Arc::new(screen), CAPACITY)) }
    }

    /// Waits until the events so far are shown, unless the terminal blocks, and clears the status line.
    pub(super) async fn settle(&self) {
        flush_with_timeout(&[Arc::clone(&self.queue) as _]).await;
        self.line.clear();
    }

    /// Holds back new output until the returned guard is dropped, for a question. Output in progress is finished.
    ///
    /// Events wait in the queue meanwhile. If the queue overflows, a line reports the number of dropped events.
    pub(super) fn pause(&self) -> ClosedGate {
        self.gate.close()
    }

    /// Waits until output in progress is written, and clears the status line.
    pub(super) fn clear_line(&self) {
        self.gate.wait_until_idle();
        self.line.clear();
    }

    /// Shows panic messages escaped and indented, like any text of a tool or model, and not while a question is open.
    pub(super) fn show_panics(&self) {
        let (gate, bar) = (self.gate.clone(), self.line.bar.clone());
        std::panic::set_hook(Box::new(move |panic| {
            let rows = Rows { first: BAR, other: BAR, width: width() };
            gate.write(rows.format(&printable(&panic.to_string())), |text| {
                // Ignored: standard error may be closed.
                let _ = AboveStatusLine(bar.clone()).write_all(text.as_bytes());
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

/// The event lines and the status line, on the queue's thread.
#[derive(Debug)]
struct Screen {
    page: TerminalWriter<AboveStatusLine>,
    line: StatusLine,
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

/// A line that shows what the run is waiting for.
#[derive(Clone, Debug)]
struct StatusLine {
    bar: ProgressBar,
    is_terminal: bool,
}

impl StatusLine {
    fn show(&self, event: &Event) {
        match &event.kind {
            EventKind::ModelRequest { model, .. } => self.wait(&format!("{} asks {model}", event.name)),
            EventKind::ModelWaiting { on } if self.is_terminal => self.wait(&format!("{}: {on}", event.name)),
            EventKind::ModelWaiting { on } => {
                // Without a terminal there is no status line, but a long wait is still reported once.
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

/// Writes to standard error above the status line.
struct AboveStatusLine(ProgressBar);

impl Write for AboveStatusLine {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
