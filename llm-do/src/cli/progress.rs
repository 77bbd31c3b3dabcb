//! What standard error shows: events as lines, and below them what the run waits for.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use indicatif::ProgressBar;

use crate::event::{CAPACITY, Delivery, Event, EventKind, EventSink, Page, Queue, Verbosity, printable, settle};

/// Shows events, and what the run waits for where standard error is a terminal, one after the other: by one queue.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    line: Line,
    queue: Arc<Queue>,
}

impl Progress {
    pub(super) fn new(verbosity: Verbosity) -> Self {
        let line = Line { bar: ProgressBar::new_spinner(), is_terminal: io::stderr().is_terminal() };
        let page = Page::new(Beside(line.bar.clone()), verbosity);
        let queue = Arc::new(Queue::new(Arc::new(Screen { page, line: line.clone() }), CAPACITY));
        Self { line, queue }
    }

    /// Takes the line away; the next event may bring it back.
    pub(super) fn clear(&self) {
        self.line.clear();
    }

    /// Shows what happened so far, if the terminal does not hang, and takes the line away: for a question.
    pub(super) async fn settle(&self) {
        settle(&[Arc::clone(&self.queue) as _]).await;
        self.clear();
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
    page: Page<Beside>,
    line: Line,
}

impl EventSink for Screen {
    fn emit(&self, event: &Arc<Event>) {
        self.page.emit(event);
        self.line.show(event);
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
                let _ = writeln!(io::stderr(), "{}: {}", event.name, printable(on));
            }
            EventKind::ModelResponse { .. } | EventKind::CallFinished { .. } => self.clear(),
            _ => {}
        }
    }

    fn wait(&self, message: &str) {
        if self.is_terminal {
            self.bar.reset();
            self.bar.set_message(printable(message));
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
