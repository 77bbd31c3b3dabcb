//! The words of a note, and the words before and after a part of it.

use std::ops::Range;

/// A word and its byte range in the note.
#[derive(Clone, Copy)]
pub(super) struct Word<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Splits `note` into words; hyphens and apostrophes are part of them, a possessive `'s` is not.
pub(super) fn words(note: &str) -> Vec<Word<'_>> {
    pieces(note, |c| c.is_alphanumeric() || matches!(c, '-' | '\'' | '’'))
        .into_iter()
        .filter_map(|word| {
            let text = word.text.trim_matches(['-', '\'', '’']);
            let start = word.start + word.text.find(text)?;
            let text = text.strip_suffix("'s").or_else(|| text.strip_suffix("’s")).unwrap_or(text);
            (!text.is_empty()).then_some(Word { text, start, end: start + text.len() })
        })
        .collect()
}

/// Splits `note` into the longest runs of characters for which `belongs` holds.
pub(super) fn pieces(note: &str, belongs: impl Fn(char) -> bool) -> Vec<Word<'_>> {
    note.split(|c| !belongs(c))
        .filter(|text| !text.is_empty())
        .map(|text| {
            let Range { start, end } = range(note, text);
            Word { text, start, end }
        })
        .collect()
}

/// Returns the byte range of `part`, a slice of `note`.
pub(super) fn range(note: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - note.as_ptr() as usize;
    start..start + part.len()
}

/// Returns the words of the clause before byte `at`, in lower case.
pub(super) fn before(note: &str, at: usize) -> Vec<String> {
    let clause = note[..at].rsplit(ends_clause).next().unwrap_or_default();
    lower_words(clause)
}

/// Returns the words of the clause after byte `at`, in lower case.
pub(super) fn after(note: &str, at: usize) -> Vec<String> {
    let clause = note[at..].split(ends_clause).next().unwrap_or_default();
    lower_words(clause)
}

/// Whether a clause ends with `c`.
fn ends_clause(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | ',' | ';' | ':' | '(' | ')' | '"' | '“' | '”' | '\n')
}

/// Splits `text` into words, in lower case.
pub(super) fn lower_words(text: &str) -> Vec<String> {
    pieces(text, |c| c.is_alphanumeric() || matches!(c, '\'' | '’'))
        .into_iter()
        .map(|word| word.text.to_lowercase().replace('’', "'"))
        .collect()
}

/// Whether a sentence begins at byte `at` of `note`.
pub(super) fn begins_sentence(note: &str, at: usize) -> bool {
    let before = note[..at].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '“' | '('));
    before.is_empty() || before.ends_with(['.', '!', '?']) || note[before.len()..at].contains('\n')
}

/// Whether `text` is in `list`, ignoring case.
pub(super) fn is_one_of(list: &[&str], text: &str) -> bool {
    list.contains(&text.to_lowercase().as_str())
}

/// Whether any of `words` is in `list`.
pub(super) fn any_of(list: &[&str], words: &[String]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

/// Whether `words` end with one of `phrases`.
pub(super) fn end_with(phrases: &[&str], words: &[String]) -> bool {
    phrases.iter().any(|phrase| {
        let phrase: Vec<_> = phrase.split(' ').collect();
        words.len() >= phrase.len() && words[words.len() - phrase.len()..] == phrase[..]
    })
}

/// Keeps the values that `matches` accepts, or all values if it accepts none.
pub(super) fn narrow<T: Clone>(values: Vec<T>, matches: impl Fn(&T) -> bool) -> Vec<T> {
    let kept: Vec<T> = values.iter().filter(|value| matches(value)).cloned().collect();
    if kept.is_empty() { values } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_ends_at_punctuation() {
        assert_eq!(before("Ann, who lives in Bath", 18), ["who", "lives", "in"]);
        assert_eq!(after("Ann, 9 years old, of Bath", 6), ["years", "old"]);
    }

    #[test]
    fn a_phrase_is_matched_as_whole_words() {
        assert!(end_with(&["used to"], &before("He used to live", 10)));
        assert!(!end_with(&["to"], &before("He goes into", 12)));
    }

    #[test]
    fn narrow_keeps_all_values_if_none_match() {
        assert_eq!(narrow(vec![1, 2], |value| *value > 1), [2]);
        assert_eq!(narrow(vec![1, 2], |value| *value > 2), [1, 2]);
    }
}
