//! Where the front matter of a worker file ends and its instructions begin.

use super::{At, Fault};

/// The line above and below the front matter.
const FENCE: &str = "---";

/// The parts of a worker file.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) yaml: &'a str,
    /// The line on which the YAML begins, from 1.
    pub(super) yaml_line: usize,
    pub(super) instructions: Option<At<String>>,
}

/// Splits the text at the two lines `---`; only blank lines may stand above the first.
pub(super) fn split(text: &str) -> Result<Parts<'_>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = Lines { text, offset: 0, number: 0 };
    let first = lines.find(|line| !line.text.trim().is_empty());
    let Some(open) = first.filter(|line| line.text.trim_end() == FENCE) else {
        let line = first.map_or(1, |line| line.number);
        return Err(Fault::new(
            line,
            "no front matter; a worker file begins with `---`, keys such as `model: ..`, and `---`",
        ));
    };
    let begin = lines.offset;
    let Some(close) = lines.find(|line| line.text.trim_end() == FENCE) else {
        return Err(Fault::new(open.number, "the front matter that begins here is not closed by a line `---`"));
    };
    let body = &text[lines.offset..];
    let blank_lines = body.lines().take_while(|line| line.trim().is_empty()).count();
    let body_line = close.number + 1 + blank_lines;
    let body = body.trim().replace("\r\n", "\n");
    let instructions = (!body.is_empty()).then_some(At { line: body_line, value: body });
    Ok(Parts { yaml: &text[begin..close.offset], yaml_line: open.number + 1, instructions })
}

#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a str,
    /// Where it begins.
    offset: usize,
    number: usize,
}

/// The lines that are left.
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
    fn blank_lines_a_mark_and_other_ends_of_lines_do_no_harm() {
        let parts = split("\u{feff}\r\n---\r\nname: a\r\n--- \r\n\r\nOne.\r\nTwo.\r\n").unwrap();
        assert_eq!((parts.yaml, parts.yaml_line), ("name: a\r\n", 3));
        assert_eq!(parts.instructions, Some(At { line: 6, value: "One.\nTwo.".to_owned() }));
    }

    #[test]
    fn a_file_may_have_no_instructions_or_nothing_but() {
        assert_eq!(split("---\nname: a\n---").unwrap().instructions, None);
        let parts = split("---\n---\nGo. --- on").unwrap();
        assert_eq!((parts.yaml, parts.instructions), ("", Some(At { line: 3, value: "Go. --- on".to_owned() })));
    }

    #[test]
    fn a_missing_fence_is_told() {
        assert_eq!(split("").unwrap_err().line, 1);
        assert!(split("\nYou are.").unwrap_err().message.starts_with("no front matter"));
        let fault = split("\n---\nname: a\n ---\n").unwrap_err();
        assert_eq!(fault.line, 2);
        assert!(fault.message.contains("not closed"));
    }
}
