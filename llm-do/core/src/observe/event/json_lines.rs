//! Events as JSON Lines.

mod line;
mod lines;

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;

#[cfg(test)]
pub(super) use self::line::LineWriter;
use self::lines::{Batch, Lines};
use super::background::Background;
use super::{Delivery, Event, EventSink};
use crate::base::mutex::IgnorePoison;
use crate::base::open_file::create_private;

/// Writes each event as one line of JSON, in the background.
///
/// Lines are written about 5 milliseconds after their events, and flushed at the end of each call, so the file of an
/// interrupted run is complete up to there. A run that finishes does not wait for its last lines. Dropping the sink, or
/// the runtime that has it, waits at most 2 seconds; [`finish`](Self::finish) waits without a limit and returns write
/// errors. At most 65,536 events wait to be written; if more arrive, a line with `"kind": "dropped"` has the number of
/// those missing.
///
/// ```standalone_crate
/// use std::sync::Arc;
///
/// use llm_do::event::JsonLines;
/// use llm_do::prelude::*;
///
/// /// Add two numbers.
/// #[tool(effect = read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// # let folder = std::env::temp_dir().join(format!("llm-do-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("events.jsonl");
/// let log = Arc::new(JsonLines::create(&path)?);
/// let runtime = Runtime::builder().shared_sink(log.clone()).build()?;
/// runtime.run(add { a: 1, b: 2 }).await?;
/// log.finish()?;
/// assert!(std::fs::read_to_string(&path)?.contains(r#""kind":"call_finished","result":3"#));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
pub struct JsonLines<W: Write + Send + 'static> {
    lines: Background<Lines>,
    output: Arc<Mutex<Output<W>>>,
}

/// The destination of the lines.
struct Output<W: Write> {
    writer: W,
    error: Option<io::Error>,
}

impl JsonLines<BufWriter<File>> {
    /// Creates the file at `path`, or truncates it.
    ///
    /// Events contain arguments and answers in full, so on Unix only the file's owner can read it: permissions of
    /// other users on an existing file are removed. `path` may also be a device, or a pipe; opening a pipe blocks
    /// until something reads it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be created or belongs to another user.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::new(BufWriter::new(create_private(path.as_ref())?)))
    }
}

impl<W: Write + Send + 'static> JsonLines<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        let output = Arc::new(Mutex::new(Output { writer, error: None }));
        let written = Arc::clone(&output);
        let write = move |lines: &mut Batch| written.lock().ignore_poison().write(lines);
        Self { lines: Background::new("JsonLines", Lines::default(), write), output }
    }

    /// Waits until all events so far are written.
    ///
    /// This blocks the thread for as long as the writer takes; in async code, call
    /// [`Runtime::flush`](crate::session::runtime::Runtime::flush) first.
    ///
    /// # Errors
    ///
    /// Returns the first write error since the last call. [`EventSink::emit`] cannot return it, and a run does not
    /// fail because of its log.
    pub fn finish(&self) -> io::Result<()> {
        let is_whole = self.lines.wait();
        let mut output = self.output.lock().ignore_poison();
        match output.error.take() {
            Some(error) => Err(error),
            None if !is_whole => Err(io::Error::other("the event writer thread panicked or could not be started")),
            None => output.writer.flush(),
        }
    }
}

impl<W: Write> Output<W> {
    /// Writes lines, and flushes them if a call ends in them. After an error, writes nothing.
    fn write(&mut self, Batch { text, ends_call }: &Batch) {
        if self.error.is_none() {
            let written = self.writer.write_all(text.as_bytes());
            self.error = written.and_then(|()| if *ends_call { self.writer.flush() } else { Ok(()) }).err();
        }
    }
}

impl<W: Write> Drop for Output<W> {
    fn drop(&mut self) {
        // `drop` cannot return the error; `finish` returns it.
        let _ = self.writer.flush();
    }
}

#[async_trait]
impl<W: Write + Send + 'static> EventSink for JsonLines<W> {
    fn emit(&self, event: &Arc<Event>) {
        self.lines.push(event);
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }

    async fn flush(&self) {
        self.lines.empty().await;
    }

    fn is_awaited(&self) -> bool {
        false
    }
}

impl<W: Write + Send + 'static> fmt::Debug for JsonLines<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLines").finish_non_exhaustive()
    }
}
