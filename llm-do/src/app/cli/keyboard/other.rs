//! The keyboard elsewhere: on Windows, a console hands over one line at a time, so that std keeps none of the next.

use std::io::{self, stdin};
#[cfg(windows)]
use std::time::Duration;

/// How long nothing may arrive before a question is asked: the rest of a pasted text comes in pieces.
#[cfg(windows)]
const QUIET: Duration = Duration::from_millis(100);

/// What is typed at the terminal.
#[derive(Debug)]
pub(crate) struct Keyboard;

/// A question that is withdrawn here still waits for its line, since a read cannot be stopped: nobody gets the line then.
#[derive(Debug)]
pub(crate) struct Withdrawal;

impl Keyboard {
    /// Returns the keyboard for one question.
    #[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
    pub(crate) fn open() -> io::Result<(Self, Withdrawal)> {
        Ok((Self, Withdrawal))
    }

    /// Drops what was typed or pasted so far, and what still arrives of it.
    #[cfg(windows)]
    #[expect(clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        while crossterm::event::poll(QUIET)? {
            crossterm::event::read()?;
        }
        Ok(())
    }

    /// Drops nothing: there are no terminals here.
    #[cfg(not(windows))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn discard(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Reads a line without its end; none at the end of the input.
    #[expect(clippy::unused_self, reason = "as on Unix")]
    pub(crate) fn read_line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let is_over = stdin().read_line(&mut line)? == 0;
        Ok((!is_over).then(|| line.trim_end_matches(['\n', '\r']).to_owned()))
    }
}

/// Returns how many columns the terminal has.
#[cfg(windows)]
pub(crate) fn width() -> Option<usize> {
    let (columns, _) = crossterm::terminal::size().ok()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// There are no terminals here.
#[cfg(not(windows))]
pub(crate) fn width() -> Option<usize> {
    None
}
