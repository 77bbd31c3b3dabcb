//! Consoles, which show questions and read answers.

use std::io::{self, IsTerminal, Write};

use llm_do_core::base::printable::printable;
use llm_do_core::observe::event::Rows;

use super::keyboard::{Keyboard, width};

/// Shows questions and reads answers.
///
/// Only the program's own text starts in the first column; texts of models and tools, and wrapped rows, are indented.
pub(super) trait Console {
    /// Shows rows; the first starts in the first column, the rest are indented.
    fn show(&mut self, text: &str) -> io::Result<()>;

    /// Shows rows that are all indented behind a bar.
    fn show_text(&mut self, text: &str) -> io::Result<()>;

    /// Shows a prompt and returns the next typed line without its line break; `None` at the end of the input.
    fn ask(&mut self, prompt: &str) -> io::Result<Option<String>>;
}

/// The terminal: standard error and the keyboard.
#[derive(Debug)]
pub(super) struct Terminal {
    keyboard: Keyboard,
}

impl Terminal {
    pub(super) fn new(keyboard: Keyboard) -> Self {
        Self { keyboard }
    }
}

impl Terminal {
    /// Shows a prompt and returns the next typed or pasted text, which may have several lines; `None` at the end of the
    /// input.
    pub(super) fn message(&mut self, prompt: &str) -> io::Result<Option<String>> {
        io::stderr().write_all(prompt.as_bytes())?;
        let text = self.typed()?;
        if text.is_none() {
            io::stderr().write_all(b"\n")?;
        }
        Ok(text)
    }
}

impl Terminal {
    /// Returns what the user types or pastes next, without a prompt; `None` at the end of the input.
    pub(super) fn typed(&mut self) -> io::Result<Option<String>> {
        self.keyboard.read_text()
    }
}

impl Console for Terminal {
    fn show(&mut self, text: &str) -> io::Result<()> {
        io::stderr().write_all(rows("", text, width()).as_bytes())
    }

    fn show_text(&mut self, text: &str) -> io::Result<()> {
        io::stderr().write_all(rows(INDENT, text, width()).as_bytes())
    }

    fn ask(&mut self, prompt: &str) -> io::Result<Option<String>> {
        // Text that was typed before the prompt was shown is not an answer to it.
        self.keyboard.discard()?;
        io::stderr().write_all(prompt.as_bytes())?;
        let line = self.keyboard.read_line()?;
        if line.is_none() {
            // No line break was typed, so the cursor is still after the prompt.
            io::stderr().write_all(b"\n")?;
        }
        Ok(line)
    }
}

/// The start of an indented row.
const INDENT: &str = "  │ ";

fn rows(first: &str, text: &str, width: Option<usize>) -> String {
    Rows { first, other: INDENT, width }.format(&printable(text))
}

/// Returns whether standard input and standard error are terminals.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A console with prepared input, for tests.
#[cfg(test)]
pub(super) mod testing {
    use std::io;

    use super::{Console, INDENT, rows};

    /// The remaining input lines, and all shown text.
    pub(in super::super) struct ScriptedConsole<'a> {
        lines: std::str::Lines<'a>,
        pub(in super::super) shown: String,
    }

    impl<'a> ScriptedConsole<'a> {
        pub(in super::super) fn new(lines: &'a str) -> Self {
            Self { lines: lines.lines(), shown: String::new() }
        }
    }

    impl Console for &mut ScriptedConsole<'_> {
        fn show(&mut self, text: &str) -> io::Result<()> {
            self.shown.push_str(&rows("", text, None));
            Ok(())
        }

        fn show_text(&mut self, text: &str) -> io::Result<()> {
            self.shown.push_str(&rows(INDENT, text, None));
            Ok(())
        }

        fn ask(&mut self, prompt: &str) -> io::Result<Option<String>> {
            self.shown.push_str(prompt);
            Ok(self.lines.next().map(str::to_owned))
        }
    }
}
