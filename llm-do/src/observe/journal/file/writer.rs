//! Writing a journal's lines, on a thread of its own: those that wait are brought to the disk together.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::disk::Disk;

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
            text = join(text, &line.text);
            waiting.push(line.written);
        }
        let result = append(&mut disk, &text, broken);
        for written in waiting {
            // One that no longer waits needs no answer.
            drop(written.send(result.clone()));
        }
    }
}

/// Adds a line to lines that are written together: all but the first begin with a space, which tells a reader so.
pub(super) fn join(mut lines: Vec<u8>, line: &[u8]) -> Vec<u8> {
    if !lines.is_empty() && !line.is_empty() {
        lines.push(b' ');
    }
    lines.extend(line);
    lines
}

fn append(disk: &mut impl Disk, text: &[u8], broken: &Broken) -> Result<(), Arc<io::Error>> {
    if let Some(error) = broken.get() {
        return Err(Arc::clone(error));
    }
    if text.is_empty() {
        return Ok(());
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

    /// Hands what it is asked to write to a function.
    struct Handing<F>(F);

    impl<F: FnMut(&[u8]) -> io::Result<()> + Send + 'static> Disk for Handing<F> {
        fn reader(&self) -> io::Result<Box<dyn std::io::Read + Send>> {
            unreachable!("a writer does not read")
        }

        fn length(&self) -> io::Result<u64> {
            Ok(0)
        }

        fn write_at(&mut self, _: u64, lines: &[u8]) -> io::Result<()> {
            (self.0)(lines)
        }

        fn cut_off(&mut self, _: u64) -> io::Result<()> {
            unreachable!("a writer cuts nothing off")
        }

        fn sync(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn sync_name(&mut self) -> io::Result<()> {
            unreachable!("a writer names nothing")
        }
    }

    fn slow() -> (Writer, Receiver<String>, Sender<io::Result<()>>) {
        let ((asked, seen), (results, come)) = (channel(), channel::<io::Result<()>>());
        let disk = Handing(move |lines: &[u8]| {
            asked.send(String::from_utf8_lossy(lines).into_owned()).unwrap();
            come.recv().unwrap()
        });
        (Writer::spawn(disk).unwrap(), seen, results)
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
        assert_eq!(seen.recv().unwrap(), "2 3 4", "a space marks what was written with the line before");
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
        let kept = Arc::new(Mutex::new(Vec::<u8>::new()));
        let keeping = Arc::clone(&kept);
        let writer = Writer::spawn(Handing(move |lines: &[u8]| {
            keeping.lock().unwrap().extend(lines);
            Ok(())
        }));
        let writer = writer.unwrap();
        let lines: Vec<_> = ["1", "2", "3"].iter().map(|text| line(&writer, text)).collect();
        drop((lines, writer));
        let written: Vec<_> = kept.lock().unwrap().iter().copied().filter(|byte| *byte != b' ').collect();
        assert_eq!(written, b"123");
    }

    #[tokio::test]
    async fn a_writer_that_panicked_keeps_nobody_waiting() {
        let writer = Writer::spawn(Handing(|_: &[u8]| panic!("on purpose"))).unwrap();
        for _ in 0..2 {
            assert!(line(&writer, "1").wait().await.is_err());
        }
    }
}
