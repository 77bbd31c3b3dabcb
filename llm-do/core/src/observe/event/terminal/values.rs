//! Values shortened for display.

use std::borrow::Cow;

use super::rows::BAR;

/// The maximum length of a shown line, in characters.
const WIDTH: usize = 160;

/// The maximum number of shown lines of a value.
const LINES: usize = 10;

/// Puts a value between two texts: a value of one line on the same line, a longer one below, each line behind a bar.
#[doc(hidden)]
#[must_use]
pub fn with_value(before: &str, value: &str, after: &str) -> String {
    let mut lines = value.lines();
    match (lines.next(), lines.next()) {
        (None, _) => format!("{before}{after}"),
        (Some(line), None) => format!("{before} {}{after}", cut(line)),
        _ => format!("{before}{after}{}", block(value)),
    }
}

/// Replaces line breaks with spaces, since a model may have invented a name that contains some.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if text.contains('\n') { text.replace('\n', " ").into() } else { text.into() }
}

fn block(text: &str) -> String {
    let shown = text.lines().take(LINES).map(|line| format!("\n  {BAR}{}", cut(line)));
    match text.lines().count().saturating_sub(LINES) {
        0 => shown.collect(),
        more => shown.chain([format!("\n    … ({more} more {})", if more == 1 { "line" } else { "lines" })]).collect(),
    }
}

fn cut(line: &str) -> Cow<'_, str> {
    match line.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}…", &line[..end]).into(),
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::{LINES, WIDTH, with_value};

    #[test]
    fn a_value_of_one_line_stays_on_the_line() {
        assert_eq!(with_value("← add", "3", " (1 ms)"), "← add 3 (1 ms)");
        assert_eq!(with_value("← wait", "", " (1 ms)"), "← wait (1 ms)");
    }

    #[test]
    fn a_line_is_cut_by_characters_and_not_by_bytes() {
        let wide = "é".repeat(WIDTH);
        assert_eq!(with_value("", &wide, ""), format!(" {wide}"));
        assert_eq!(with_value("", &format!("{wide}!"), ""), format!(" {wide}…"));
    }

    #[test]
    fn long_values_are_cut_with_the_number_of_lines_left_out() {
        let text = |lines: usize| vec!["x"; lines].join("\n");
        assert_eq!(with_value("← read", &text(2), " (1 ms)"), "← read (1 ms)\n  │ x\n  │ x");
        assert_eq!(with_value("", &text(LINES), "").lines().count(), LINES + 1);
        assert!(with_value("", &text(LINES + 1), "").ends_with("x\n    … (1 more line)"));
        assert!(with_value("", &text(LINES + 2), "").ends_with("x\n    … (2 more lines)"));
    }
}
