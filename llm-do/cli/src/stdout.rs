//! Standard output: at a terminal, control and invisible characters are escaped; only `print_raw` prints them.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use llm_do_core::base::printable::{is_hidden, printable};

use super::CommandError;

/// Prints text, with invisible characters escaped at a terminal.
pub(super) fn print(text: &str) -> Result<(), CommandError> {
    if io::stdout().is_terminal() { print_raw(&printable(text)) } else { print_raw(text) }
}

/// Prints JSON text; at a terminal, with JSON escapes, so that the value is unchanged.
pub(super) fn print_json(json: &str) -> Result<(), CommandError> {
    if io::stdout().is_terminal() { print_raw(&escaped(json)) } else { print_raw(json) }
}

/// Prints text of this program unchanged, such as colors. A closed pipe, such as to `head`, is not an error.
pub(super) fn print_raw(text: &str) -> Result<(), CommandError> {
    match writeln!(io::stdout(), "{text}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(CommandError::from_error(error)),
        _ => Ok(()),
    }
}

/// Writes lines of JSON like [`print_json`].
#[derive(Debug)]
pub(super) struct JsonOut {
    stdout: io::Stdout,
    is_terminal: bool,
}

impl JsonOut {
    pub(super) fn new() -> Self {
        let stdout = io::stdout();
        Self { is_terminal: stdout.is_terminal(), stdout }
    }
}

impl Write for JsonOut {
    /// Writes all bytes, which are complete characters.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.stdout.write(bytes);
        }
        self.stdout.write_all(escaped(&String::from_utf8_lossy(bytes)).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdout.flush()
    }
}

/// Escapes invisible characters of JSON text, which occur only in its strings.
fn escaped(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for character in json.chars() {
        if ['\n', '\t'].contains(&character) || !is_hidden(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::escaped;

    #[test]
    fn escaped_json_is_equal_json_of_visible_characters() {
        let value = json!({ "a\u{9b}2J": "é\u{202e}\u{e0041}\u{7f}\n\u{1b}[2J\t漢" });
        for text in [value.to_string(), format!("{value:#}")] {
            let shown = escaped(&text);
            assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
            assert!(shown.contains('é') && shown.contains(r"\u009b2J") && shown.contains(r"\udb40\udc41"), "{shown}");
            assert!(!shown.contains(['\u{9b}', '\u{202e}', '\u{e0041}', '\u{7f}']), "{shown:?}");
        }
    }
}
