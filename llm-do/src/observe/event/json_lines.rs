//! Events as JSON Lines.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;

use super::queue::Queue;
use super::{Delivery, Event, EventKind, EventSink};
use crate::base::mutex::IgnorePoison;
use crate::base::open_file::create_private;

/// How many events may wait to be written: more than for other sinks, since a log should be complete.
const CAPACITY: usize = 65_536;

/// Writes each event as one line of JSON, in the background.
///
/// Lines are flushed at the end of each call, so the file of an interrupted run is complete up to there. At most
/// 65,536 events wait to be written; if more arrive, a line with `"kind": "dropped"` has the number of those missing.
/// Dropping the sink waits until all is written, at most 2 seconds. [`finish`](Self::finish) waits without a limit
/// and returns write errors.
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
    queue: Queue,
    lines: Arc<Lines<W>>,
}

/// The writer, used on the queue's thread.
struct Lines<W: Write + Send>(Mutex<State<W>>);

struct State<W: Write> {
    writer: W,
    /// The line being written, whose memory is used again.
    line: Vec<u8>,
    error: Option<io::Error>,
}

/// The memory, in bytes, that the next line may use again.
const KEPT: usize = 64 << 10;

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
        let lines = Arc::new(Lines(Mutex::new(State { writer, line: Vec::new(), error: None })));
        Self { queue: Queue::new(Arc::clone(&lines) as _, CAPACITY), lines }
    }

    /// Waits until all events so far are written.
    ///
    /// This blocks the thread for as long as the writer takes; in async code, call
    /// [`Runtime::flush`](crate::Runtime::flush) first.
    ///
    /// # Errors
    ///
    /// Returns the first write error since the last call. [`EventSink::emit`] cannot return it, and a run does not
    /// fail because of its log.
    pub fn finish(&self) -> io::Result<()> {
        let is_whole = self.queue.wait();
        let mut state = self.lines.lock();
        match state.error.take() {
            Some(error) => Err(error),
            None if !is_whole => Err(io::Error::other("the event writer thread panicked or could not be started")),
            None => state.writer.flush(),
        }
    }
}

impl<W: Write + Send> Lines<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.0.lock().ignore_poison()
    }
}

impl<W: Write> State<W> {
    fn write(&mut self, event: &Event) -> io::Result<()> {
        self.line.clear();
        self.line.shrink_to(KEPT);
        serde_json::to_writer(&mut self.line, event)?;
        self.line.push(b'\n');
        self.writer.write_all(&self.line)?;
        match event.kind {
            EventKind::CallFinished { .. } | EventKind::CallRefused { .. } | EventKind::Usage { .. } => {
                self.writer.flush()
            }
            _ => Ok(()),
        }
    }
}

impl<W: Write> Drop for State<W> {
    fn drop(&mut self) {
        // `drop` cannot return the error; `finish` does.
        let _ = self.writer.flush();
    }
}

impl<W: Write + Send> EventSink for Lines<W> {
    fn emit(&self, event: &Arc<Event>) {
        let mut state = self.lock();
        if state.error.is_none() {
            state.error = state.write(event).err();
        }
    }

    fn name(&self) -> &'static str {
        "JsonLines"
    }
}

#[async_trait]
impl<W: Write + Send + 'static> EventSink for JsonLines<W> {
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

impl<W: Write + Send> fmt::Debug for Lines<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lines").finish_non_exhaustive()
    }
}

impl<W: Write + Send + 'static> fmt::Debug for JsonLines<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JsonLines").finish_non_exhaustive()
    }
}
