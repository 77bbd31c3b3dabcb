//! Texts in a normal form: words in small letters, with one space around each.

use std::ops::Range;

/// The characters of a text that count.
const MAX_CHARACTERS: usize = 20_000;

/// Runs of digits of at least this length are numbers of something, and not words.
const LONG_NUMBER: usize = 3;

/// The lengths of runs of characters.
const RUNS: Range<usize> = 2..6;

/// A text of words.
pub(crate) struct Normal {
    /// The words, with one space before, between and after them.
    text: String,
    words: Vec<Range<usize>>,
}

impl Normal {
    pub(crate) fn of(text: &str) -> Self {
        let mut normal = Self { text: String::with_capacity(text.len() + 2), words: Vec::new() };
        normal.text.push(' ');
        let mut start = 1;
        for character in text.chars().take(MAX_CHARACTERS) {
            if is_word_of_its_own(character) {
                start = normal.end_word(start);
                normal.text.extend(character.to_lowercase());
                start = normal.end_word(start);
            } else if character.is_alphanumeric() {
                normal.text.extend(character.to_lowercase());
            } else if !matches!(character, '\'' | '\u{2019}') {
                start = normal.end_word(start);
            }
        }
        normal.end_word(start);
        normal
    }

    /// Ends the word that began at `start`, if it has begun; returns where the next begins.
    fn end_word(&mut self, start: usize) -> usize {
        if start < self.text.len() {
            self.hide_long_numbers(start);
            self.words.push(start..self.text.len());
            self.text.push(' ');
        }
        self.text.len()
    }

    fn hide_long_numbers(&mut self, start: usize) {
        let word = &self.text[start..];
        if word.bytes().filter(u8::is_ascii_digit).count() < LONG_NUMBER {
            return;
        }
        let hidden = word.replace(|character: char| character.is_ascii_digit(), "#");
        self.text.replace_range(start.., &hidden);
    }

    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &self.text[word.clone()])
    }

    /// Returns each two words that follow each other.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = &str> {
        self.words.windows(2).map(|words| &self.text[words[0].start..words[1].end])
    }

    /// Returns the runs of characters inside words, with the spaces around them; words of one character have none.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &str> {
        let long = self.words.iter().filter(|word| self.text[(*word).clone()].chars().nth(1).is_some());
        long.flat_map(|word| runs_of(&self.text[word.start - 1..=word.end]))
    }
}

/// Returns the runs of characters of a word with a space on each side.
fn runs_of(word: &str) -> impl Iterator<Item = &str> {
    word.char_indices().flat_map(move |(start, _)| {
        let rest = &word[start..];
        let ends = rest.char_indices().map(|(end, _)| end).skip(1).chain([rest.len()]);
        let runs = ends.zip(1..).skip_while(|(_, length)| !RUNS.contains(length));
        runs.take_while(|(_, length)| RUNS.contains(length)).map(move |(end, _)| &rest[..end])
    })
}

/// Returns whether a text has words without spaces around them.
pub(crate) fn has_words_without_spaces(text: &str) -> bool {
    text.chars().any(is_word_of_its_own)
}

/// Returns whether a character is a word: it is of a script that has no spaces between words, or a symbol with a meaning.
fn is_word_of_its_own(character: char) -> bool {
    match u32::from(character) {
        // Thai, Lao, Burmese, Khmer.
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1780..=0x17ff => character.is_alphanumeric(),
        // Kana, Han; currencies, arrows, symbols, pictures.
        0x3040..=0x30ff
        | 0x3400..=0x4dbf
        | 0x4e00..=0x9fff
        | 0xf900..=0xfaff
        | 0x2_0000..=0x3_ffff
        | 0x20a0..=0x20cf
        | 0x2190..=0x2bff
        | 0x1_f300..=0x1_faff => true,
        _ => matches!(character, '$' | '£' | '%' | '+' | '='),
    }
}

#[cfg(test)]
mod tests {
    use super::Normal;

    #[test]
    fn a_text_is_words_in_small_letters() {
        let normal = Normal::of("I can't find order #48213, my 2nd!");
        assert_eq!(normal.words().collect::<Vec<_>>(), ["i", "cant", "find", "order", "#####", "my", "2nd"]);
        assert_eq!(normal.pairs().next(), Some("i cant"));
    }

    #[test]
    fn a_text_without_spaces_is_words_of_one_character() {
        let normal = Normal::of("退款在哪里?");
        assert_eq!(normal.words().collect::<Vec<_>>(), ["退", "款", "在", "哪", "里"]);
        assert_eq!(normal.pairs().next(), Some("退 款"));
        assert_eq!(normal.runs().count(), 0);
    }

    #[test]
    fn runs_are_two_to_five_characters_with_the_ends_of_words() {
        let runs: Vec<_> = Normal::of("Äb").runs().map(str::to_owned).collect();
        assert_eq!(runs, [" ä", " äb", " äb ", "äb", "äb ", "b "]);
    }
}
