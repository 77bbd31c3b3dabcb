//! The progress line: what the run waits for.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::ProgressBar;

use crate::event::{Event, EventKind, EventSink, printable};

/// A line that says what the run waits for, where standard error is a terminal.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    line: ProgressBar,
    is_terminal: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self { line: ProgressBar::new_spinner(), is_terminal: io::stderr().is_terminal() }
    }

    /// Takes the line away; the next event may bring it back.
    pub(super) fn clear(&self) {
        self.line.disable_steady_tick();
        self.line.finish_and_clear();
    }

    /// Returns a writer to standard error that keeps out of the line's way.
    pub(super) fn writer(&self) -> impl Write + Send + use<> {
        Beside(self.line.clone())
    }

    fn wait(&self, message: &str) {
        if self.is_terminal {
            self.line.reset();
            self.line.set_message(printable(message));
            self.line.enable_steady_tick(Duration::from_millis(120));
        }
    }
}

impl EventSink for Progress {
    fn emit(&self, event: &Event) {
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
}

struct Beside(ProgressBar);

impl Write for Beside {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().write(buffer))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
