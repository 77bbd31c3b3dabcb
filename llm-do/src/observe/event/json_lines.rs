//! Events as JSON Lines.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::queue::Queue;
use super::{Delivery, Event, EventKind, EventSink};
use crate::base::open_file::create_private;

/// How many events may wait to be written: more than for other sinks, since a log is worth most when it is whole.
const CAPACITY: usize = 65_536;

/// Writes each event as one line of JSON, in the background.
///
/// Lines are flushed at the end of each call, so that a file of a run that broke off is whole up to there. At most
/// 65,536 events wait to be written; where more come, a line of `"kind": "dropped"` says how many are missing. Dropped,
/// it waits until all is written, at most 2 seconds; [`finish`](Self::finish) waits without end, and tells of errors.
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

/// The writer, on the queue's thread.
struct Lines<W: Write + Send>(Mutex<State<W>>);

struct State<W: Write> {
    writer: W,
    broken: Option<io::Error>,
}

impl JsonLines<BufWriter<File>> {
    /// Writes to a new file at `path`; one that is there is emptied.
    ///
    /// Events hold arguments and answers as they are, so on Unix only the file's owner may read it: the permissions of
    /// others on a file that is there are taken away. `path` may also be a device, or a pipe, which is waited for until
    /// somebody reads it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be created, or is another user's.
    pub fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(Self::new(BufWriter::new(create_private(path.as_ref())?)))
    }
}

impl<W: Write + Send + 'static> JsonLines<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        let lines = Arc::new(Lines(Mutex::new(State { writer, broken: None })));
        Self { queue: Queue::new(Arc::clone(&lines) as _, CAPACITY), lines }
    }

    /// Waits until all events so far are written, and tells whether they were.
    ///
    /// It keeps its thread for as long as the writer takes; in async code, wait with
    /// [`Runtime::flush`](crate::Runtime::flush) before.
    ///
    /// # Errors
    ///
    /// Returns the first error of any write: [`EventSink::emit`] cannot, and a run does not stop for its log.
    pub fn finish(&self) -> io::Result<()> {
        let is_whole = self.queue.wait();
        let mut state = self.lines.lock();
        match state.broken.take() {
            Some(error) => Err(error),
            None if !is_whole => Err(io::Error::other("the thread that writes events panicked or could not begin")),
            None => state.writer.flush(),
        }
    }
}

impl<W: Write + Send> Lines<W> {
    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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

impl<W: Write> Drop for State<W> {
    fn drop(&mut self) {
        // There is nobody left to tell; whoever wants to know calls `finish`.
        let _ = self.writer.flush();
    }
}

impl<W: Write + Send> EventSink for Lines<W> {
    fn emit(&self, event: &Arc<Event>) {
        let mut state = self.lock();
        if state.broken.is_none() {
            state.broken = state.write(event).err();
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
