//! The writer thread of a journal: writes and syncs queued lines together.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::disk::Disk;

/// A handle of the writer thread. Dropping it waits until all queued lines are written.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<Sender<WriteRequest>>,
    thread: Option<JoinHandle<()>>,
    /// The first write error: nothing is written after it, since the file may end with an incomplete line.
    error: FirstError,
}

type FirstError = Arc<OnceLock<Arc<io::Error>>>;

struct WriteRequest {
    text: Vec<u8>,
    written: oneshot::Sender<Result<(), Arc<io::Error>>>,
}

/// A queued line.
#[must_use = "the line is synced only once `wait` has returned"]
pub(super) struct PendingWrite(oneshot::Receiver<Result<(), Arc<io::Error>>>);

impl Writer {
    /// Starts the thread.
    pub(super) fn spawn(disk: impl Disk) -> io::Result<Self> {
        let (queue, requests) = channel();
        let error = FirstError::default();
        let thread_error = Arc::clone(&error);
        let thread = std::thread::Builder::new().name("llm-do-journal".to_owned());
        let thread = thread.spawn(move || write(disk, &requests, &thread_error))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), error })
    }

    /// Queues a line.
    pub(super) fn write(&self, text: Vec<u8>) -> PendingWrite {
        let (written, receiver) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // If the thread has stopped, `written` is dropped, and `wait` returns the error.
            drop(queue.send(WriteRequest { text, written }));
        }
        PendingWrite(receiver)
    }

    /// Returns an error if a write failed or the thread has stopped.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.error.get() {
            Some(error) => Err(shared_error(error)),
            None if self.thread.as_ref().is_none_or(JoinHandle::is_finished) => Err(stopped()),
            None => Ok(()),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, each pending write has returned an error.
            drop(thread.join());
        }
    }
}

impl PendingWrite {
    /// Waits until the line is synced to disk.
    pub(super) async fn wait(self) -> io::Result<()> {
        match self.0.await {
            Ok(written) => written.map_err(|error| shared_error(&error)),
            Err(_) => Err(stopped()),
        }
    }
}

/// Writes all queued lines together, until the queue is closed.
fn write(mut disk: impl Disk, queue: &Receiver<WriteRequest>, first_error: &FirstError) {
    while let Ok(first) = queue.recv() {
        let (mut text, mut waiting) = (first.text, vec![first.written]);
        for line in queue.try_iter() {
            text = join(text, &line.text);
            waiting.push(line.written);
        }
        let result = append(&mut disk, &text, first_error);
        for written in waiting {
            // The receiver may have been dropped.
            drop(written.send(result.clone()));
        }
    }
}

/// Adds a line to lines that are written together; all but the first are marked with a leading space.
pub(super) fn join(mut lines: Vec<u8>, line: &[u8]) -> Vec<u8> {
    if !lines.is_empty() && !line.is_empty() {
        lines.push(b' ');
    }
    lines.extend(line);
    lines
}

fn append(disk: &mut impl Disk, text: &[u8], first_error: &FirstError) -> Result<(), Arc<io::Error>> {
    if let Some(error) = first_error.get() {
        return Err(Arc::clone(error));
    }
    if text.is_empty() {
        return Ok(());
    }
    disk.append(text).map_err(|error| Arc::clone(first_error.get_or_init(|| Arc::new(error))))
}

fn stopped() -> io::Error {
    io::Error::other("the writer thread of the journal has stopped")
}

/// Returns the error for one of several waiting callers.
fn shared_error(error: &Arc<io::Error>) -> io::Error {
    io::Error::new(error.kind(), Arc::clone(error))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// A disk whose writes call a function.
    struct FnDisk<F>(F);

    impl<F: FnMut(&[u8]) -> io::Result<()> + Send + 'static> Disk for FnDisk<F> {
        fn reader(&self) -> io::Result<Box<dyn std::io::Read + Send>> {
            unreachable!("a writer does not read")
        }

        fn length(&self) -> io::Result<u64> {
            Ok(0)
        }

        fn write_at(&mut self, _: u64, lines: &[u8]) -> io::Result<()> {
            (self.0)(lines)
        }

        fn truncate(&mut self, _: u64) -> io::Result<()> {
            unreachable!("a writer does not truncate")
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn sync_name(&mut self) -> io::Result<()> {
            unreachable!("a writer does not sync the name")
        }
    }

    /// A writer whose writes are observed, and block until they are given a result.
    fn blocking_writer() -> (Writer, Receiver<String>, Sender<io::Result<()>>) {
        let ((requests, seen), (results, next_result)) = (channel(), channel::<io::Result<()>>());
        let disk = FnDisk(move |lines: &[u8]| {
            requests.send(String::from_utf8_lossy(lines).into_owned()).unwrap();
            next_result.recv().unwrap()
        });
        (Writer::spawn(disk).unwrap(), seen, results)
    }

    fn line(writer: &Writer, text: &str) -> PendingWrite {
        writer.write(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn queued_lines_are_written_together_in_their_order() {
        let (writer, seen, results) = blocking_writer();
        let first = line(&writer, "1");
        assert_eq!(seen.recv().unwrap(), "1");
        let others = ["2", "3", "4"].map(|text| line(&writer, text));
        results.send(Ok(())).unwrap();
        first.wait().await.unwrap();
        assert_eq!(
            seen.recv().unwrap(),
            "2 3 4",
            "a space marks a line that is written together with the line before it"
        );
        results.send(Ok(())).unwrap();
        for other in others {
            other.wait().await.unwrap();
        }
    }

    #[tokio::test]
    async fn after_a_failed_write_nothing_is_written_and_each_waiting_caller_gets_the_error() {
        let (writer, seen, results) = blocking_writer();
        let first = line(&writer, "1");
        seen.recv().unwrap();
        let second = line(&writer, "2");
        writer.check().unwrap();
        results.send(Err(io::Error::new(io::ErrorKind::StorageFull, "full"))).unwrap();
        for written in [first, second, line(&writer, "3")] {
            let error = written.wait().await.unwrap_err();
            assert_eq!((error.kind(), error.to_string()), (io::ErrorKind::StorageFull, "full".to_owned()));
        }
        assert!(seen.try_recv().is_err(), "the second and the third were written");
        assert_eq!(writer.check().unwrap_err().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn dropping_the_writer_waits_for_queued_lines() {
        let file = Arc::new(Mutex::new(Vec::<u8>::new()));
        let shared = Arc::clone(&file);
        let writer = Writer::spawn(FnDisk(move |lines: &[u8]| {
            shared.lock().unwrap().extend(lines);
            Ok(())
        }));
        let writer = writer.unwrap();
        let lines: Vec<_> = ["1", "2", "3"].iter().map(|text| line(&writer, text)).collect();
        drop((lines, writer));
        let written: Vec<_> = file.lock().unwrap().iter().copied().filter(|byte| *byte != b' ').collect();
        assert_eq!(written, b"123");
    }

    #[tokio::test]
    async fn writes_after_a_panic_of_the_writer_return_an_error() {
        let writer = Writer::spawn(FnDisk(|_: &[u8]| panic!("on purpose"))).unwrap();
        for _ in 0..2 {
            assert!(line(&writer, "1").wait().await.is_err());
        }
    }
}
