//! Texts cut to what a person reads.

use std::borrow::Cow;

use super::rows::BAR;

/// The longest line shown of a value, in characters.
const WIDTH: usize = 160;

/// The most lines shown of a value.
const LINES: usize = 10;

/// Puts a value between two texts: on their line if it has one line, else in lines of its own below, each behind a bar.
pub(crate) fn told(before: &str, value: &str, after: &str) -> String {
    let mut lines = value.lines();
    match (lines.next(), lines.next()) {
        (None, _) => format!("{before}{after}"),
        (Some(line), None) => format!("{before} {}{after}", cut(line)),
        _ => format!("{before}{after}{}", block(value)),
    }
}

/// Returns a text on one line: a name that a model made up may hold line breaks.
pub(super) fn flat(text: &str) -> Cow<'_, str> {
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
    use super::{LINES, WIDTH, told};

    #[test]
    fn one_line_stays_on_the_line() {
        assert_eq!(told("← add", "3", " (1 ms)"), "← add 3 (1 ms)");
        assert_eq!(told("← wait", "", " (1 ms)"), "← wait (1 ms)");
    }

    #[test]
    fn a_line_is_cut_in_characters_and_not_in_bytes() {
        let wide = "é".repeat(WIDTH);
        assert_eq!(told("", &wide, ""), format!(" {wide}"));
        assert_eq!(told("", &format!("{wide}!"), ""), format!(" {wide}…"));
    }

    #[test]
    fn lines_are_cut_to_a_number_and_it_is_said_how_many_are_left() {
        let text = |lines: usize| vec!["x"; lines].join("\n");
        assert_eq!(told("← read", &text(2), " (1 ms)"), "← read (1 ms)\n  │ x\n  │ x");
        assert_eq!(told("", &text(LINES), "").lines().count(), LINES + 1);
        assert!(told("", &text(LINES + 1), "").ends_with("x\n    … (1 more line)"));
        assert!(told("", &text(LINES + 2), "").ends_with("x\n    … (2 more lines)"));
    }
}
