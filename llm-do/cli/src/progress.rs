//! Progress on standard error: events as lines, and a status line below them.

use std::collections::HashMap;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use indicatif::ProgressBar;
use llm_do_core::base::printable::{printable, printable_line};
use llm_do_core::observe::event::{
    Answers, BAR, CAPACITY, Delivery, Event, EventKind, EventSink, Queue, Rows, TerminalWriter, Verbosity,
    flush_with_timeout,
};
use llm_do_core::plane::registry::Registry;

use super::gate::{ClosedGate, Gate};
use super::keyboard::width;
use super::terminal_lock::TerminalLock;

/// Shows events in order through one queue, and a status line if standard error is a terminal.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    line: StatusLine,
    gate: Gate,
    queue: Arc<Queue>,
    screen: Arc<Screen>,
    terminal: TerminalLock,
}

impl Progress {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        let (bar, is_terminal) = (ProgressBar::new_spinner(), io::stderr().is_terminal());
        let line = StatusLine { bar, is_terminal, is_in_row: Arc::default() };
        let page = TerminalWriter::with_width(AboveStatusLine(line.clone()), verbosity, width);
        let gate = Gate::default();
        let screen = Arc::new(Screen { page, line: line.clone(), gate: gate.clone() });
        let queue = Arc::new(Queue::new(Arc::clone(&screen) as _, CAPACITY));
        Self { line, gate, queue, screen, terminal: TerminalLock::default() }
    }

    /// Shows texts of workers while they stream, if standard output and standard error are terminals.
    ///
    /// JSON answers are not shown.
    pub(super) fn show_answers(&self, registry: &Registry) {
        if !self.line.is_terminal || !io::stdout().is_terminal() {
            return;
        }
        let workers = registry.iter().filter(|item| item.plan().is_some());
        let workers: HashMap<_, _> = workers.map(|item| (item.name().to_owned(), Arc::clone(item))).collect();
        // The schema of an output is created on first use.
        let is_text =
            move |name: &str| workers.get(name).and_then(|item| item.plan()).is_some_and(|plan| plan.is_text());
        self.screen.page.show_answers(Answers::new(is_text));
    }

    /// Returns the right to read from the terminal, which all questions share.
    pub(super) fn terminal(&self) -> &TerminalLock {
        &self.terminal
    }

    /// Returns the text that was shown as the answer of the run that has ended.
    pub(super) fn take_answer(&self) -> Option<String> {
        self.screen.page.take_answer()
    }

    /// Waits until the events so far are shown, unless the terminal blocks, and clears the status line.
    pub(super) async fn settle(&self) {
        flush_with_timeout(&[Arc::clone(&self.queue) as _]).await;
        self.line.clear();
        self.screen.page.finish_row();
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
        self.screen.page.finish_row();
    }

    /// Shows panic messages escaped and indented, like the text of tools and models, and not while a question is open.
    pub(super) fn show_panics(&self) {
        let (gate, screen) = (self.gate.clone(), Arc::clone(&self.screen));
        std::panic::set_hook(Box::new(move |panic| {
            let rows = Rows { first: BAR, other: BAR, width: width() };
            gate.write(rows.format(&printable(&panic.to_string())), |text| {
                screen.page.finish_row();
                // Ignored: standard error may be closed.
                let _ = AboveStatusLine(screen.line.clone()).write_all(text.as_bytes());
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

/// The event lines and the status line; used on the queue's thread.
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
    /// Whether the last row is unfinished, so that the status line cannot be shown below it.
    is_in_row: Arc<AtomicBool>,
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
        if self.is_terminal && !self.is_in_row.load(Ordering::Relaxed) {
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
struct AboveStatusLine(StatusLine);

impl Write for AboveStatusLine {
    /// Writes all bytes. An unfinished row replaces the status line.
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let ends_row = buffer.ends_with(b"\n");
        if !ends_row {
            self.0.clear();
        }
        self.0.is_in_row.store(!ends_row && !buffer.is_empty(), Ordering::Relaxed);
        if ends_row {
            self.0.bar.suspend(|| io::stderr().write_all(buffer))?;
        } else {
            io::stderr().write_all(buffer)?;
        }
        Ok(buffer.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
