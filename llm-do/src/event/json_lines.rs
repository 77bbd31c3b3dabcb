//! Events as JSON Lines.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::{Event, EventKind, EventSink};

/// Writes each event as one line of JSON.
///
/// Lines are flushed at the end of each call, so that a file of a run that broke off is whole up to there.
pub struct JsonLines<W: Write + Send>(Mutex<State<W>>);

struct State<W> {
    writer: W,
    broken: Option<io::Error>,
}

impl JsonLines<BufWriter<File>> {
    /// Writes to a new file at `path`; one that is there is replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be created.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::new(BufWriter::new(File::create(path)?)))
    }
}

impl<W: Write + Send> JsonLines<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self(Mutex::new(State { writer, broken: None }))
    }

    /// Writes what is left, and tells whether everything was written.
    ///
    /// # Errors
    ///
    /// Returns the first error of any write: [`EventSink::emit`] cannot, and a run does not stop for its log.
    pub fn finish(&self) -> io::Result<()> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.broken.take() {
            Some(error) => Err(error),
            None => state.writer.flush(),
        }
    }
}

impl<W: Write> State<W> {
    fn write(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.writer, event)?;
        self.writer.write_all(b"\n")?;
        match event.kind {
            EventKind::CallFinished { .. } | EventKind::CallRefused { .. } | EventKind::Usage { .. } => {
                self.writer.flush()
            }
            _ => Ok(()),
        }
    }
}

impl<W: Write + Send> EventSink for JsonLines<W> {
    fn emit(&self, event: &Event) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.broken.is_none() {
            state.broken = state.write(event).err();
        }
    }
}

impl<W: Write + Send> fmt::Debug for JsonLines<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLines").finish_non_exhaustive()
    }
}
