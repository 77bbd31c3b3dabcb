//! Escapes invisible characters in text from models and tools before it is shown in a terminal.

/// Escapes invisible characters, for example as `\u{200b}`; line breaks and tabs stay.
///
/// Escaped are control and format characters, bidirectional controls, line separators, fillers, and private and
/// unassigned characters. The joiners inside an emoji stay.
#[must_use]
pub fn printable(text: &str) -> String {
    escaped(text, &['\n', '\t'])
}

/// Escapes invisible characters like [`printable`], and line breaks and tabs too, so that the text is one line.
#[must_use]
pub fn printable_line(text: &str) -> String {
    escaped(text, &[])
}

fn escaped(text: &str, kept: &[char]) -> String {
    let mut shown = String::with_capacity(text.len());
    let (mut previous, mut before_selector) = (None, None);
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        let is_joiner = match character {
            '\u{fe0f}' => selects_emoji(previous, next),
            '\u{200d}' => is_picture(before_selector) && is_picture(next),
            _ => false,
        };
        match character {
            // The first half of a line break.
            '\r' if next == Some('\n') && kept.contains(&'\n') => {}
            _ if is_joiner || kept.contains(&character) || !is_hidden(character) => shown.push(character),
            '\n' | '\t' | '\r' => shown.extend(character.escape_default()),
            _ => shown.extend(character.escape_unicode()),
        }
        previous = Some(character);
        if character != '\u{fe0f}' {
            before_selector = previous;
        }
    }
    shown
}

/// Returns whether a character is invisible on its own; line breaks and tabs count as invisible.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    match character {
        // std escapes spaces of other widths too.
        ' '..='~' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => false,
        // Blank, although their category is letter or mark: joiners, fillers, variation selectors.
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{13441}'..='\u{13442}'
        | '\u{16fe4}'
        | '\u{1d159}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        character => !character.is_alphanumeric() && is_escaped_by_std(character),
    }
}

/// Returns whether `Debug` escapes a character in a string: one of category C or Z in std's Unicode tables.
fn is_escaped_by_std(character: char) -> bool {
    // After another character, since `Debug` escapes a combining mark only at the start.
    let text = String::from_iter(['a', character]);
    text.escape_debug().nth(1) == Some('\\')
}

/// Returns whether a variation selector only requests the emoji form of the character before it.
fn selects_emoji(previous: Option<char>, next: Option<char>) -> bool {
    let is_keycap = matches!(previous, Some('0'..='9' | '#' | '*')) && next == Some('\u{20e3}');
    is_keycap || is_picture(previous)
}

fn is_picture(character: Option<char>) -> bool {
    character.is_some_and(|character| character >= '\u{2000}' && !character.is_alphanumeric() && !is_hidden(character))
}

#[cfg(test)]
mod tests {
    use super::{is_hidden, printable, printable_line};

    #[test]
    fn invisible_characters_are_escaped() {
        for character in [
            '\0',
            '\r',
            '\u{1b}',
            '\u{7f}',
            '\u{9b}',
            '\u{ad}',
            '\u{34f}',
            '\u{600}',
            '\u{61c}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{200f}',
            '\u{2028}',
            '\u{202e}',
            '\u{2060}',
            '\u{2065}',
            '\u{2069}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{e000}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{ffff}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e0100}',
            '\u{e01ef}',
            '\u{f0000}',
            '\u{10ffff}',
        ] {
            assert!(is_hidden(character), "{character:?}");
            let text = printable(&format!("a{character}b"));
            assert!(text.starts_with("a\\") && !text.contains(character), "{text:?}");
        }
    }

    #[test]
    fn text_of_any_language_stays() {
        for text in [
            "plain ~ \\ \" '",
            "caf\u{e9} cafe\u{301}",
            "\u{928}\u{92e}\u{938}\u{94d}\u{924}\u{947}",
            "\u{5e9}\u{5c1}\u{5dc}\u{5d5}\u{5dd}",
            "\u{6f22}\u{5b57}\u{3000}\u{304b}\u{3099}",
            "10\u{a0}000\u{202f}\u{20ac} \u{2013} \u{2192} \u{2502}",
            "\u{2764}\u{fe0f} \u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308} 1\u{fe0f}\u{20e3}",
            "\u{1f44d}\u{1f3fd} \u{1f1e9}\u{1f1ea}",
        ] {
            assert_eq!(printable(text), text);
            assert_eq!(printable_line(text), text);
        }
    }

    #[test]
    fn joiners_stay_only_inside_an_emoji() {
        assert_eq!(printable("a.txt\u{fe0f}"), r"a.txt\u{fe0f}");
        assert_eq!(printable("a\u{200d}b"), r"a\u{200d}b");
        assert_eq!(printable("\u{2764}\u{200d}"), "\u{2764}\\u{200d}");
        assert_eq!(printable("\u{2764}\u{fe0f}\u{fe0f}"), "\u{2764}\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn line_breaks_are_escaped_only_on_one_line() {
        assert_eq!(printable("a\n\tb\rc\r\n"), "a\n\tb\\rc\n");
        assert_eq!(printable_line("a\n\tb\r\n"), r"a\n\tb\r\n");
    }
}
