//! Where a question is shown and answered.

use std::io::{self, IsTerminal, Write};

use super::keyboard::{Keyboard, width};
use crate::base::printable::printable;
use crate::observe::event::Rows;

/// Where a question is shown and answered.
///
/// Only the program's own words begin at the left: texts of models and tools, and rows that are wrapped, are indented.
pub(super) trait Console {
    /// Shows rows, the first of them at the left.
    fn show(&mut self, text: &str) -> io::Result<()>;

    /// Shows rows behind a bar.
    fn show_text(&mut self, text: &str) -> io::Result<()>;

    /// Shows a prompt, and returns the line that is typed from then on, without its end; none at the end of the input.
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

impl Console for Terminal {
    fn show(&mut self, text: &str) -> io::Result<()> {
        io::stderr().write_all(rows("", text, width()).as_bytes())
    }

    fn show_text(&mut self, text: &str) -> io::Result<()> {
        io::stderr().write_all(rows(INDENT, text, width()).as_bytes())
    }

    fn ask(&mut self, prompt: &str) -> io::Result<Option<String>> {
        // Before the prompt is there, nobody can mean it: what was typed by then is for something else.
        self.keyboard.discard()?;
        io::stderr().write_all(prompt.as_bytes())?;
        let line = self.keyboard.read_line()?;
        if line.is_none() {
            // Nothing was typed that would have ended the row.
            io::stderr().write_all(b"\n")?;
        }
        Ok(line)
    }
}

/// What a row of a text begins with.
const INDENT: &str = "  │ ";

fn rows(first: &str, text: &str, width: Option<usize>) -> String {
    Rows { first, other: INDENT, width }.format(&printable(text))
}

/// Returns whether there is a terminal to ask and to answer at.
pub(super) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A console whose lines are typed already, for tests of questions.
#[cfg(test)]
pub(super) mod testing {
    use std::io;

    use super::{Console, INDENT, rows};

    /// Lines to come, and all that was shown.
    pub(in super::super) struct Typed<'a> {
        lines: std::str::Lines<'a>,
        pub(in super::super) shown: String,
    }

    impl<'a> Typed<'a> {
        pub(in super::super) fn new(lines: &'a str) -> Self {
            Self { lines: lines.lines(), shown: String::new() }
        }
    }

    impl Console for &mut Typed<'_> {
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
