//! The keyboard on systems other than Unix. A Windows console delivers single lines, so std never buffers a second one.

use std::io::{self, stdin};
#[cfg(windows)]
use std::time::Duration;

/// The time without input before a question is asked, since a pasted text arrives in pieces.
#[cfg(windows)]
const QUIET: Duration = Duration::from_millis(100);

/// Input from the terminal.
#[derive(Debug)]
pub(crate) struct Keyboard;

/// A withdrawn question. A read cannot be cancelled here, so it still consumes the next line, which is dropped.
#[derive(Debug)]
pub(crate) struct Withdrawal;

impl Keyboard {
    /// Whether a read ends when its question is withdrawn.
    pub(crate) const CAN_BE_WITHDRAWN: bool = false;

    /// Returns the keyboard for one question.
    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(crate) fn open() -> io::Result<(Self, Withdrawal)> {
        Ok((Self, Withdrawal))
    }

    /// Drops pending input, and the rest of a text that is being pasted.
    #[cfg(windows)]
    #[expect(clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        while crossterm::event::poll(QUIET)? {
            crossterm::event::read()?;
        }
        Ok(())
    }

    /// Does nothing: terminals are not supported on this system.
    #[cfg(not(windows))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Reads a line; `None` at the end of the input.
    pub(crate) fn read_text(&mut self) -> io::Result<Option<String>> {
        self.read_line()
    }

    /// Reads a line without its line break; `None` at the end of the input.
    #[expect(clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn read_line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let is_end = stdin().read_line(&mut line)? == 0;
        Ok((!is_end).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

/// Returns the width of the terminal in columns.
#[cfg(windows)]
pub(crate) fn width() -> Option<usize> {
    let (columns, _) = crossterm::terminal::size().ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// Returns `None`: terminals are not supported on this system.
#[cfg(not(windows))]
pub(crate) fn width() -> Option<usize> {
    None
}
