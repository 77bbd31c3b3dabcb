//! Writing a journal's lines, on a thread of its own: those that wait are brought to the disk together.

use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::open::LockedFile;

/// Where lines go.
pub(super) trait Disk: Send + 'static {
    /// Writes `lines`, and returns when they would survive a loss of power.
    fn append(&mut self, lines: &[u8]) -> io::Result<()>;
}

impl Disk for LockedFile {
    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        (&**self).write_all(lines)?;
        self.sync_data()
    }
}

/// The thread that writes. Dropping it waits until all is written.
#[derive(Debug)]
pub(super) struct Writer {
    lines: Option<Sender<Line>>,
    thread: Option<JoinHandle<()>>,
    /// The first failure: what follows half a line is never written.
    broken: Broken,
}

type Broken = Arc<OnceLock<Arc<io::Error>>>;

struct Line {
    text: Vec<u8>,
    written: oneshot::Sender<Result<(), Arc<io::Error>>>,
}

/// A line that is to be written.
#[must_use = "a line is on the disk only once this was waited for"]
pub(super) struct Written(oneshot::Receiver<Result<(), Arc<io::Error>>>);

impl Writer {
    /// Starts the thread.
    pub(super) fn spawn(disk: impl Disk) -> io::Result<Self> {
        let (lines, queue) = channel();
        let broken = Broken::default();
        let seen = Arc::clone(&broken);
        let thread = std::thread::Builder::new().name("llm-do-journal".to_owned());
        let thread = thread.spawn(move || write(disk, &queue, &seen))?;
        Ok(Self { lines: Some(lines), thread: Some(thread), broken })
    }

    /// Has a line written after those before it.
    pub(super) fn write(&self, text: Vec<u8>) -> Written {
        let (written, receiver) = oneshot::channel();
        if let Some(lines) = &self.lines {
            // If the thread is gone, so is the other end of `written`, and the wait says so.
            drop(lines.send(Line { text, written }));
        }
        Written(receiver)
    }

    /// Fails if a line could not be written, or none can be any more.
    pub(super) fn check(&self) -> io::Result<()> {
        match self.broken.get() {
            Some(error) => Err(again(error)),
            None if self.thread.as_ref().is_none_or(JoinHandle::is_finished) => Err(ended()),
            None => Ok(()),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(thread) = self.thread.take() {
            // A panic of it was told to those who waited.
            drop(thread.join());
        }
    }
}

impl Written {
    /// Waits until the line is on the disk.
    pub(super) async fn wait(self) -> io::Result<()> {
        match self.0.await {
            Ok(written) => written.map_err(|error| again(&error)),
            Err(_) => Err(ended()),
        }
    }
}

/// Writes all lines that are there at once, until there will be none.
fn write(mut disk: impl Disk, queue: &Receiver<Line>, broken: &Broken) {
    while let Ok(first) = queue.recv() {
        let (mut text, mut waiting) = (first.text, vec![first.written]);
        for line in queue.try_iter() {
            text.extend(line.text);
            waiting.push(line.written);
        }
        let result = append(&mut disk, &text, broken);
        for written in waiting {
            // One that no longer waits needs no answer.
            drop(written.send(result.clone()));
        }
    }
}

fn append(disk: &mut impl Disk, text: &[u8], broken: &Broken) -> Result<(), Arc<io::Error>> {
    if let Some(error) = broken.get() {
        return Err(Arc::clone(error));
    }
    disk.append(text).map_err(|error| Arc::clone(broken.get_or_init(|| Arc::new(error))))
}

fn ended() -> io::Error {
    io::Error::other("the thread that writes has ended")
}

/// The same error once more, for another who waited for it.
fn again(error: &Arc<io::Error>) -> io::Error {
    io::Error::new(error.kind(), Arc::clone(error))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Says what it is asked to append, and then waits for what comes of it.
    struct Slow(Sender<String>, Receiver<io::Result<()>>);

    impl Disk for Slow {
        fn append(&mut self, lines: &[u8]) -> io::Result<()> {
            self.0.send(String::from_utf8_lossy(lines).into_owned()).unwrap();
            self.1.recv().unwrap()
        }
    }

    fn slow() -> (Writer, Receiver<String>, Sender<io::Result<()>>) {
        let ((asked, seen), (results, come)) = (channel(), channel());
        (Writer::spawn(Slow(asked, come)).unwrap(), seen, results)
    }

    fn line(writer: &Writer, text: &str) -> Written {
        writer.write(text.as_bytes().to_vec())
    }

    #[tokio::test]
    async fn lines_that_wait_at_once_are_written_at_once_in_their_order() {
        let (writer, seen, results) = slow();
        let first = line(&writer, "1");
        assert_eq!(seen.recv().unwrap(), "1");
        let others = ["2", "3", "4"].map(|text| line(&writer, text));
        results.send(Ok(())).unwrap();
        first.wait().await.unwrap();
        assert_eq!(seen.recv().unwrap(), "234");
        results.send(Ok(())).unwrap();
        for other in others {
            other.wait().await.unwrap();
        }
    }

    #[tokio::test]
    async fn after_a_failure_nothing_is_written_and_everyone_is_told() {
        let (writer, seen, results) = slow();
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
    fn dropping_the_writer_waits_for_what_is_to_be_written() {
        struct Kept(Arc<Mutex<Vec<u8>>>);
        impl Disk for Kept {
            fn append(&mut self, lines: &[u8]) -> io::Result<()> {
                self.0.lock().unwrap().extend(lines);
                Ok(())
            }
        }
        let kept = Arc::default();
        let writer = Writer::spawn(Kept(Arc::clone(&kept))).unwrap();
        let lines: Vec<_> = ["1", "2", "3"].iter().map(|text| line(&writer, text)).collect();
        drop((lines, writer));
        assert_eq!(*kept.lock().unwrap(), b"123");
    }

    #[tokio::test]
    async fn a_writer_that_panicked_keeps_nobody_waiting() {
        struct Broken;
        impl Disk for Broken {
            fn append(&mut self, _: &[u8]) -> io::Result<()> {
                panic!("on purpose");
            }
        }
        let writer = Writer::spawn(Broken).unwrap();
        for _ in 0..2 {
            assert!(line(&writer, "1").wait().await.is_err());
        }
    }
}
