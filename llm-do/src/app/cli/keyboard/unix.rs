//! The keyboard on Unix: standard input, read without a buffer that a later question would find filled.

use std::io::{self, PipeReader, PipeWriter, pipe, stderr, stdin};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::termios::{QueueSelector, tcflush, tcgetwinsize};

/// How long nothing may arrive before a question is asked: the rest of a pasted text comes in pieces.
const QUIET: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// What is typed at the terminal, until the question is withdrawn.
#[derive(Debug)]
pub(crate) struct Keyboard {
    withdrawn: PipeReader,
}

/// Withdraws the question when it is dropped: nothing is read for it any more.
#[derive(Debug)]
pub(crate) struct Withdrawal {
    _open: PipeWriter,
}

/// What there is to read.
enum Ready {
    Line,
    Nothing,
    /// The terminal was closed.
    End,
}

impl Keyboard {
    /// Returns the keyboard for one question, and what withdraws the question.
    pub(crate) fn open() -> io::Result<(Self, Withdrawal)> {
        let (withdrawn, open) = pipe()?;
        Ok((Self { withdrawn }, Withdrawal { _open: open }))
    }

    /// Drops what was typed or pasted so far, a line that is not ended too, and what still arrives of it.
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        flush()?;
        while let Ready::Line = self.wait(Some(&QUIET))? {
            flush()?;
        }
        // The beginning of a line is nothing that could be waited for.
        flush()
    }

    /// Reads a line without its end; none at the end of the input.
    ///
    /// What came with the line, such as the rest of a pasted text, is dropped: neither the next question nor the shell
    /// takes it for its own.
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

    /// Waits until there is something to read; an error if the question was withdrawn.
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

/// Drops what the terminal has for a reader.
fn flush() -> io::Result<()> {
    match retry_on_intr(|| tcflush(stdin(), QueueSelector::IFlush)) {
        // Reading tells of a terminal that was closed.
        Ok(()) | Err(Errno::IO) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns how many columns standard error has, if it is a terminal.
pub(crate) fn width() -> Option<usize> {
    let size = tcgetwinsize(stderr()).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}
