//! The two parts of a worker file: front matter and instructions.

use crate::{Fault, Located, Place};

/// The line before and after the front matter.
const FENCE: &str = "---";

/// The parts of a worker file.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The text between the lines `---`.
    pub yaml: &'a str,
    /// The 1-based line on which the YAML begins.
    pub yaml_line: usize,
    /// The text below the front matter, without surrounding white space and with `\n` as line end.
    pub instructions: Option<Located<String>>,
}

/// Splits a text at the two lines `---`; only blank lines may precede the first.
///
/// # Errors
///
/// Returns a fault for a missing line.
pub fn split(text: &str) -> Result<Parts<'_>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = Lines { text, offset: 0, number: 0 };
    let first = lines.find(|line| !line.text.trim().is_empty());
    let Some(open) = first.filter(|line| line.text.trim_end() == FENCE) else {
        let line = first.map_or(1, |line| line.number);
        let message = "missing front matter: the file must begin with a line `---`, keys such as `name: reviewer`, and another \
                       line `---`";
        return Err(Fault::new(Place::line(line), message));
    };
    let begin = lines.offset;
    let Some(close) = lines.find(|line| line.text.trim_end() == FENCE) else {
        return Err(Fault::new(
            Place::line(open.number),
            "unclosed front matter: write a line `---` below the last key",
        ));
    };
    let body = &text[lines.offset..];
    let blank_lines = body.lines().take_while(|line| line.trim().is_empty()).count();
    let body_line = close.number + 1 + blank_lines;
    let body = body.trim().replace("\r\n", "\n");
    let instructions = (!body.is_empty()).then_some(Located { place: Place::line(body_line), value: body });
    Ok(Parts { yaml: &text[begin..close.offset], yaml_line: open.number + 1, instructions })
}

#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    /// Where it begins.
    offset: usize,
    number: usize,
}

/// The remaining lines.
struct Lines<'a> {
    text: &'a str,
    offset: usize,
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    type Item = Line<'a>;

    fn next(&mut self) -> Option<Line<'a>> {
        let text = self.text[self.offset..].split_inclusive('\n').next()?;
        let line = Line { text, offset: self.offset, number: self.number + 1 };
        self.offset += text.len();
        self.number = line.number;
        Some(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_a_byte_order_mark_and_windows_line_ends_are_accepted() {
        let parts = split("\u{feff}\r\n---\r\nname: a\r\n--- \r\n\r\nOne.\r\nTwo.\r\n").unwrap();
        assert_eq!((parts.yaml, parts.yaml_line), ("name: a\r\n", 3));
        assert_eq!(parts.instructions, Some(Located { place: Place::line(6), value: "One.\nTwo.".to_owned() }));
    }

    #[test]
    fn the_front_matter_or_the_instructions_may_be_empty() {
        assert_eq!(split("---\nname: a\n---").unwrap().instructions, None);
        let parts = split("---\n---\nGo. --- on").unwrap();
        assert_eq!(
            (parts.yaml, parts.instructions),
            ("", Some(Located { place: Place::line(3), value: "Go. --- on".to_owned() }))
        );
    }

    #[test]
    fn a_missing_line_is_reported_where_it_belongs() {
        assert_eq!(split("").unwrap_err().place, Place::line(1));
        let fault = split("\nYou are.").unwrap_err();
        assert_eq!(fault.place, Place::line(2));
        assert!(fault.message.starts_with("missing front matter"));
        let fault = split("\n---\nname: a\n ---\n").unwrap_err();
        assert_eq!(fault.place, Place::line(2));
        assert!(fault.message.starts_with("unclosed front matter"));
    }
}
