//! Where the front matter of a worker file ends and its instructions begin.

use super::Fault;

/// The line above and below the front matter.
const FENCE: &str = "---";

/// The parts of a worker file.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    pub(super) yaml: &'a str,
    /// The line on which the YAML begins, from 1.
    pub(super) yaml_line: usize,
    /// The text below, without the blank lines around it.
    pub(super) instructions: String,
}

/// Splits the text at the two lines `---`; only blank lines may stand above the first.
pub(super) fn split(text: &str) -> Result<Parts<'_>, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut end = 0;
    // Each line with where it ends.
    let mut lines = (1..).zip(text.split_inclusive('\n')).map(|(number, line)| {
        end += line.len();
        (number, line, end)
    });
    let first = lines.find(|(_, line, _)| !line.trim().is_empty());
    let Some((open, _, begin)) = first.filter(|(_, line, _)| line.trim_end() == FENCE) else {
        let line = first.map_or(1, |(number, ..)| number);
        return Err(Fault::new(
            line,
            "no front matter; a worker file begins with `---`, keys such as `model: ..`, and `---`",
        ));
    };
    let Some((_, close, end)) = lines.find(|(_, line, _)| line.trim_end() == FENCE) else {
        return Err(Fault::new(open, "the front matter that begins here is not closed by a line `---`"));
    };
    let instructions = text[end..].trim().replace("\r\n", "\n");
    Ok(Parts { yaml: &text[begin..end - close.len()], yaml_line: open + 1, instructions })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_a_mark_and_other_ends_of_lines_do_no_harm() {
        let parts = split("\u{feff}\r\n---\r\nname: a\r\n--- \r\n\r\nOne.\r\nTwo.\r\n").unwrap();
        assert_eq!((parts.yaml, parts.yaml_line), ("name: a\r\n", 3));
        assert_eq!(parts.instructions, "One.\nTwo.");
    }

    #[test]
    fn a_file_may_have_no_instructions_or_nothing_but() {
        assert_eq!(split("---\nname: a\n---").unwrap().instructions, "");
        let parts = split("---\n---\nGo. --- on\n---\n").unwrap();
        assert_eq!((parts.yaml, parts.instructions.as_str()), ("", "Go. --- on\n---"));
    }

    #[test]
    fn a_missing_fence_is_told_at_its_line() {
        assert_eq!(split("").unwrap_err().line, 1);
        assert_eq!(split("\nYou are.").unwrap_err().line, 2);
        assert_eq!(split("\n---\nname: a\n ---\n").unwrap_err().line, 2);
    }
}
