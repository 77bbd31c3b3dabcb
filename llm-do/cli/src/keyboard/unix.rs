//! The keyboard on Unix: unbuffered standard input, so that no input of one question is left for the next.

use std::io::{self, PipeReader, PipeWriter, pipe, stderr, stdin};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

/// The time without input before a question is asked, since a pasted text arrives in pieces.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Input from the terminal until the question is withdrawn.
#[derive(Debug)]
pub(crate) struct Keyboard {
    withdrawn: PipeReader,
}

/// Withdraws the question when dropped, which cancels its read.
#[derive(Debug)]
pub(crate) struct Withdrawal {
    _open: PipeWriter,
}

/// The state of the input after a wait.
enum Ready {
    Line,
    Nothing,
    /// The terminal was closed.
    End,
}

impl Keyboard {
    /// Whether a read ends when its question is withdrawn.
    pub(crate) const CAN_BE_WITHDRAWN: bool = true;

    /// Returns the keyboard for one question, and the guard that withdraws the question.
    pub(crate) fn open() -> io::Result<(Self, Withdrawal)> {
        let (withdrawn, open) = pipe()?;
        Ok((Self { withdrawn }, Withdrawal { _open: open }))
    }

    /// Drops pending input, including an unfinished line, and the rest of a text that is being pasted.
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        flush()?;
        while let Ready::Line = self.wait(Some(&QUIET))? {
            flush()?;
        }
        // An unfinished line does not make the input ready, so it is flushed directly.
        flush()
    }

    /// Reads a line without its line break; `None` at the end of the input.
    ///
    /// Further input, such as the rest of a pasted text, is dropped, so that neither the next question nor the shell
    /// reads it.
    pub(crate) fn read_line(&mut self) -> io::Result<Option<String>> {
        let (mut line, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            self.wait(None)?;
            let count = match retry_on_intr(|| read(stdin(), &mut buffer)) {
                Err(Errno::IO) => 0,
                count => count?,
            };
            let piece = &buffer[..count];
            let end = piece.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&piece[..end.unwrap_or(count)]);
            if count == 0 && line.is_empty() {
                return Ok(None);
            }
            if count == 0 || end.is_some() {
                flush()?;
                return String::from_utf8(line).map(Some).map_err(io::Error::other);
            }
        }
    }

    /// Reads a line and the text that is pasted with it; `None` at the end of the input. A complete line is returned also if the question
    /// is withdrawn meanwhile.
    pub(crate) fn read_text(&mut self) -> io::Result<Option<String>> {
        let (mut text, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let at_most = if text.ends_with(b"\n") { Some(&QUIET) } else { None };
            let ready = match self.wait(at_most) {
                Err(_) if text.ends_with(b"\n") => Ready::Nothing,
                ready => ready?,
            };
            let count = match ready {
                Ready::Nothing => 0,
                Ready::Line | Ready::End => match retry_on_intr(|| read(stdin(), &mut buffer)) {
                    Err(Errno::IO) => 0,
                    count => count?,
                },
            };
            text.extend_from_slice(&buffer[..count]);
            if count == 0 {
                let text = String::from_utf8(text).map_err(io::Error::other)?;
                return Ok((!text.is_empty()).then_some(text));
            }
        }
    }

    /// Waits until input is ready, for at most `at_most`; an error if the question was withdrawn.
    fn wait(&self, at_most: Option<&Timespec>) -> io::Result<Ready> {
        let stdin = stdin();
        let mut polled = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.withdrawn, PollFlags::IN)];
        if retry_on_intr(|| poll(&mut polled, at_most))? == 0 {
            return Ok(Ready::Nothing);
        }
        let [input, withdrawn] = polled.map(|polled| polled.revents());
        if !withdrawn.is_empty() {
            return Err(io::Error::other("the question was withdrawn"));
        }
        Ok(if input.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) { Ready::End } else { Ready::Line })
    }
}

/// Drops the terminal's pending input.
fn flush() -> io::Result<()> {
    match retry_on_intr(|| tcflush(stdin(), QueueSelector::IFlush)) {
        // The terminal was closed, which the next read reports.
        Ok(()) | Err(Errno::IO) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the width of standard error in columns, if it is a terminal.
pub(crate) fn width() -> Option<usize> {
    let size = tcgetwinsize(stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
