//! Text in rows of a terminal, each of which begins with what tells whose it is, wrapped ones too.

/// What a row of a text begins with that is not the program's own.
pub(crate) const BAR: &str = "│ ";

/// A tab, in a row whose columns are counted.
const TAB: &str = "    ";

/// How rows begin, and how many columns they have, if the terminal has a width.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows<'a> {
    /// What the first row begins with.
    pub(crate) first: &'a str,
    /// What every other row begins with.
    pub(crate) other: &'a str,
    pub(crate) width: Option<usize>,
}

impl Rows<'_> {
    /// Returns the rows of a text, the last ended as well.
    pub(crate) fn of(&self, text: &str) -> String {
        let (mut page, mut column) = (self.first.to_owned(), Some(columns(self.first)));
        self.push(&mut page, &mut column, text);
        page.push('\n');
        page
    }

    /// Adds text to a page whose last row has `column` columns, or is not begun.
    pub(crate) fn push(&self, page: &mut String, column: &mut Option<usize>, text: &str) {
        for character in text.chars() {
            self.push_one(page, column, character);
        }
    }

    fn push_one(&self, page: &mut String, column: &mut Option<usize>, character: char) {
        let is_tab = character == '\t' && self.width.is_some();
        let wanted = if is_tab { TAB.len() } else { columns_of(character) };
        if column.is_some_and(|column| self.is_full(column + wanted)) {
            page.push('\n');
            *column = None;
        }
        let begun = column.unwrap_or_else(|| {
            page.push_str(self.other);
            columns(self.other)
        });
        if is_tab {
            page.push_str(TAB);
        } else {
            page.push(character);
        }
        *column = (character != '\n').then_some(begun + wanted);
    }

    /// Returns whether a row has no room for so many columns; one that is very narrow has some all the same.
    fn is_full(&self, columns_wanted: usize) -> bool {
        self.width.is_some_and(|width| columns_wanted > width.max(columns(self.other) + TAB.len()))
    }
}

fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// Returns how many columns a character takes, or more where terminals differ: what goes on behind the end of a row begins at
/// the left. Only the command line knows a width to compare that with.
fn columns_of(character: char) -> usize {
    #[cfg(feature = "cli")]
    return match character {
        // It makes a picture, of two columns, of a character of one.
        '\u{fe0f}' => 1,
        // Half of a flag, or a letter of two columns.
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
    fn each_row_begins_with_the_prefix_but_the_first() {
        assert_eq!(rows(10).of("12345678901234"), "1234567890\n│ 1234\n");
        assert_eq!(rows(10).of("1\n2\n\n3"), "1\n│ 2\n│ \n│ 3\n");
        assert_eq!(Rows { width: None, ..rows(10) }.of("12345678901\t2\n3"), "12345678901\t2\n│ 3\n");
    }

    #[test]
    fn a_row_ends_where_the_terminal_would_end_it() {
        assert_eq!(
            rows(10).of("\u{6f22}\u{6f22}\u{6f22}\u{6f22}\u{6f22}\u{6f22}"),
            "\u{6f22}\u{6f22}\u{6f22}\u{6f22}\u{6f22}\n│ \u{6f22}\n"
        );
        assert_eq!(rows(10).of("123456789\u{6f22}"), "123456789\n│ \u{6f22}\n");
        assert_eq!(rows(10).of("1234567\t8"), "1234567\n│     8\n");
    }

    #[test]
    fn a_picture_takes_as_many_columns_as_any_terminal_gives_it() {
        assert_eq!(rows(8).of(&"\u{2764}\u{fe0f}".repeat(5)).lines().next(), Some(&*"\u{2764}\u{fe0f}".repeat(4)));
        assert_eq!(rows(8).of(&"1\u{fe0f}\u{20e3}".repeat(5)).lines().next(), Some(&*"1\u{fe0f}\u{20e3}".repeat(4)));
        assert_eq!(rows(8).of(&"\u{1f1e9}".repeat(5)).lines().next(), Some(&*"\u{1f1e9}".repeat(4)));
    }

    #[test]
    fn pieces_make_the_rows_of_the_whole() {
        let rows = Rows { first: BAR, other: BAR, width: Some(8) };
        let text = "one two\nthree four\n\nfive";
        let (mut page, mut column) = (String::new(), None);
        for piece in text.split_inclusive(' ') {
            rows.push(&mut page, &mut column, piece);
        }
        assert_eq!(page + "\n", rows.of(text));
    }

    #[test]
    fn a_terminal_without_room_shows_the_text_all_the_same() {
        assert_eq!(rows(1).of("123456789"), "123456\n│ 789\n");
    }
}
