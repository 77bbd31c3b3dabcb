//! Text wrapped to the rows of a terminal, each with a prefix that shows whose text it is.

/// The prefix of text from models and tools.
#[doc(hidden)]
pub const BAR: &str = "│ ";

/// The replacement of a tab in rows of limited width.
const TAB: &str = "    ";

/// The prefixes of rows, and their width if the terminal has one.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Rows<'a> {
    /// The prefix of the first row.
    pub first: &'a str,
    /// The prefix of all other rows.
    pub other: &'a str,
    pub width: Option<usize>,
}

impl Rows<'_> {
    /// Returns the rows of a text, each ended by a line break.
    #[must_use]
    pub fn format(&self, text: &str) -> String {
        let (mut output, mut column) = (self.first.to_owned(), Some(columns(self.first)));
        self.push(&mut output, &mut column, text);
        output.push('\n');
        output
    }

    /// Returns the start of a line of text, in one row; 80 columns if the width is unknown.
    pub(crate) fn format_one(&self, line: &str) -> String {
        let most = self.width.unwrap_or(80).saturating_sub(1);
        let (mut row, mut column) = (self.first.to_owned(), columns(self.first));
        for character in line.chars() {
            column += columns_of(character);
            if column > most {
                row.push('…');
                break;
            }
            row.push(character);
        }
        row.push('\n');
        row
    }

    /// Appends text to `output`, whose last row has `column` columns, or is not started if that is `None`.
    pub(crate) fn push(&self, output: &mut String, column: &mut Option<usize>, text: &str) {
        for character in text.chars() {
            self.push_one(output, column, character);
        }
    }

    fn push_one(&self, output: &mut String, column: &mut Option<usize>, character: char) {
        let is_tab = character == '\t' && self.width.is_some();
        let wanted = if is_tab { TAB.len() } else { columns_of(character) };
        if column.is_some_and(|column| self.is_full(column + wanted)) {
            output.push('\n');
            *column = None;
        }
        let start = column.unwrap_or_else(|| {
            output.push_str(self.other);
            columns(self.other)
        });
        if is_tab {
            output.push_str(TAB);
        } else {
            output.push(character);
        }
        *column = (character != '\n').then_some(start + wanted);
    }

    /// Returns whether `columns_wanted` columns do not fit in a row; even a very narrow row fits the prefix and a
    /// tab.
    fn is_full(&self, columns_wanted: usize) -> bool {
        self.width.is_some_and(|width| columns_wanted > width.max(columns(self.other) + TAB.len()))
    }
}

fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Returns the number of columns of a character. Where terminals differ, this is the maximum, since text that does not
/// fit continues at the left edge. Only the command line has a width to compare this with.
fn columns_of(character: char) -> usize {
    #[cfg(feature = "cli")]
    return match character {
        // U+FE0F turns a one-column character into a two-column emoji.
        '\u{fe0f}' => 1,
        // Half of a flag, or a two-column letter.
        '\u{1f1e6}'..='\u{1f1ff}' => 2,
        character => unicode_width::UnicodeWidthChar::width(character).unwrap_or(0),
    };
    #[cfg(not(feature = "cli"))]
    return usize::from(character != '\n');
}

#[cfg(test)]
mod tests {
    use super::{BAR, Rows};

    fn rows(width: usize) -> Rows<'static> {
        Rows { first: "", other: BAR, width: Some(width) }
    }

    #[test]
    fn each_row_but_the_first_starts_with_the_prefix() {
        assert_eq!(rows(10).format("12345678901234"), "1234567890\n│ 1234\n");
        assert_eq!(rows(10).format("1\n2\n\n3"), "1\n│ 2\n│ \n│ 3\n");
        assert_eq!(Rows { width: None, ..rows(10) }.format("12345678901\t2\n3"), "12345678901\t2\n│ 3\n");
    }

    #[test]
    #[cfg(feature = "cli")]
    fn a_row_is_wrapped_at_the_width_of_the_terminal() {
        assert_eq!(
            rows(10).format("\u{6f22}\u{6f22}\u{6f22}\u{6f22}\u{6f22}\u{6f22}"),
            "\u{6f22}\u{6f22}\u{6f22}\u{6f22}\u{6f22}\n│ \u{6f22}\n"
        );
        assert_eq!(rows(10).format("123456789\u{6f22}"), "123456789\n│ \u{6f22}\n");
        assert_eq!(rows(10).format("1234567\t8"), "1234567\n│     8\n");
    }

    #[test]
    #[cfg(feature = "cli")]
    fn an_emoji_counts_the_most_columns_that_a_terminal_uses() {
        assert_eq!(rows(8).format(&"\u{2764}\u{fe0f}".repeat(5)).lines().next(), Some(&*"\u{2764}\u{fe0f}".repeat(4)));
        assert_eq!(
            rows(8).format(&"1\u{fe0f}\u{20e3}".repeat(5)).lines().next(),
            Some(&*"1\u{fe0f}\u{20e3}".repeat(4))
        );
        assert_eq!(rows(8).format(&"\u{1f1e9}".repeat(5)).lines().next(), Some(&*"\u{1f1e9}".repeat(4)));
    }

    #[test]
    fn text_in_pieces_gives_the_same_rows() {
        let rows = Rows { first: BAR, other: BAR, width: Some(8) };
        let text = "one two\nthree four\n\nfive";
        let (mut output, mut column) = (String::new(), None);
        for piece in text.split_inclusive(' ') {
            rows.push(&mut output, &mut column, piece);
        }
        assert_eq!(output + "\n", rows.format(text));
    }

    #[test]
    fn a_line_is_cut_to_one_row() {
        assert_eq!(rows(10).format_one("123456789"), "123456789\n");
        assert_eq!(rows(10).format_one("1234567890"), "123456789…\n");
        assert_eq!(Rows { first: BAR, ..rows(10) }.format_one("12345678"), "│ 1234567…\n");
    }

    #[test]
    fn a_very_narrow_terminal_shows_the_text() {
        assert_eq!(rows(1).format("123456789"), "123456\n│ 789\n");
    }
}
