//! Reports the output of a script as the progress of its call, and checks limits while the interpreter works.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use monty_types::{ExcType, MontyException, PrintWriterCallback};
use tokio::sync::mpsc::UnboundedSender;

use super::interpreter::Step;
use super::limits::{MAX_MEMORY, MAX_PRINTED};

/// How often the size of the process is checked.
const INTERVAL: Duration = Duration::from_millis(5);

/// Sends each line that is printed.
pub(super) struct Printer {
    steps: UnboundedSender<Step>,
    line: String,
    printed: usize,
    /// When the size of the process is checked next, and the size when the interpreter began to work.
    next_look: Instant,
    size_before: Option<usize>,
}

impl Printer {
    pub(super) fn new(steps: UnboundedSender<Step>) -> Self {
        Self { steps, line: String::new(), printed: 0, next_look: Instant::now() + INTERVAL, size_before: None }
    }

    /// Begins a period in which the interpreter works; between periods, the process may grow.
    pub(super) fn begin(&mut self) {
        self.next_look = Instant::now() + INTERVAL;
        self.size_before = None;
    }

    /// Sends output without a line end.
    pub(super) fn finish(&mut self) {
        if !self.line.is_empty() {
            // Without a receiver the call has ended.
            _ = self.steps.send(Step::Printed(std::mem::take(&mut self.line)));
        }
    }

    fn count(&mut self, bytes: usize) -> Result<(), MontyException> {
        self.printed += bytes;
        if self.printed > MAX_PRINTED {
            let message = format!("the script printed more than {MAX_PRINTED} bytes; print less");
            return Err(MontyException::new(ExcType::MemoryError, Some(message)));
        }
        Ok(())
    }
}

impl PrintWriterCallback for Printer {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.count(output.len())?;
        let mut lines = output.split('\n');
        self.line.push_str(lines.next().unwrap_or_default());
        for line in lines {
            let printed = std::mem::replace(&mut self.line, line.to_owned());
            _ = self.steps.send(Step::Printed(printed));
        }
        Ok(())
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        self.stdout_write(Cow::Owned(end.to_string()))
    }

    fn poll_flush(&mut self) -> Result<(), MontyException> {
        if Instant::now() < self.next_look {
            return Ok(());
        }
        self.next_look = Instant::now() + INTERVAL;
        if self.steps.is_closed() {
            return Err(MontyException::new(ExcType::KeyboardInterrupt, Some("the call was cancelled".to_owned())));
        }
        let Some(size) = process_size() else { return Ok(()) };
        let before = *self.size_before.get_or_insert(size);
        if size.saturating_sub(before) > MAX_MEMORY {
            let message = format!("the script uses more than {} MiB of memory", MAX_MEMORY >> 20);
            return Err(MontyException::new(ExcType::MemoryError, Some(message)));
        }
        Ok(())
    }
}

/// Returns the memory that the process uses, in bytes, if the system has a file with it.
fn process_size() -> Option<usize> {
    /// The size of a page, in which the file counts; larger pages make the limit stricter.
    const PAGE: usize = 4096;
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * PAGE)
}
