//! Special tokens: finding them in rendered templates and escaping them in messages.

use std::collections::{BTreeMap, BTreeSet};

use super::TokenKind;

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::local) enum PromptPart<'a> {
    /// A special token.
    Special(u32),
    /// The text between special tokens.
    Text(&'a str),
}

/// The special tokens of a vocabulary, by name.
#[derive(Debug)]
pub(in crate::local) struct SpecialTokens {
    /// Names and ids by the first byte of the name, longest name first.
    by_first_byte: BTreeMap<u8, Vec<(String, u32)>>,
}

impl SpecialTokens {
    pub(super) fn new(names: &[String], kinds: &[TokenKind]) -> Self {
        let mut by_first_byte = BTreeMap::<_, Vec<_>>::new();
        for ((name, kind), token) in names.iter().zip(kinds).zip(0..) {
            if matches!(kind, TokenKind::Control | TokenKind::Visible)
                && let Some(first) = name.as_bytes().first()
            {
                by_first_byte.entry(*first).or_default().push((name.clone(), token));
            }
        }
        for tokens in by_first_byte.values_mut() {
            tokens.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        }
        Self { by_first_byte }
    }

    /// Returns the id of the special token `name`.
    pub(in crate::local) fn find(&self, name: &str) -> Option<u32> {
        let tokens = self.by_first_byte.get(name.as_bytes().first()?)?;
        tokens.iter().find(|(candidate, _)| candidate == name).map(|(_, token)| *token)
    }

    /// Splits `text` at its special tokens.
    pub(in crate::local) fn split<'a>(&self, text: &'a str) -> Vec<PromptPart<'a>> {
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some((index, name, token)) = self.first(rest) {
            parts.extend((index > 0).then(|| PromptPart::Text(&rest[..index])));
            parts.push(PromptPart::Special(token));
            rest = &rest[index + name.len()..];
        }
        parts.extend((!rest.is_empty()).then_some(PromptPart::Text(rest)));
        parts
    }

    /// Returns `text` with `escape_char` inserted in every special token that it spells, whole or, at its end, in
    /// part.
    pub(in crate::local) fn escape(&self, text: &str, escape_char: char) -> String {
        let (mut escaped, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((index, name, _)) = self.first(rest) {
            let first = name.chars().next().map_or(0, char::len_utf8);
            escaped.push_str(&rest[..index + first]);
            escaped.push(escape_char);
            rest = &rest[index + first..];
        }
        escaped.push_str(rest);
        if self.ends_with_partial(rest) {
            escaped.push(escape_char);
        }
        escaped
    }

    /// Returns the first special token in `text`: index, name and id.
    fn first(&self, text: &str) -> Option<(usize, &str, u32)> {
        text.bytes().enumerate().find_map(|(index, byte)| {
            let (name, token) =
                self.by_first_byte.get(&byte)?.iter().find(|(name, _)| text[index..].starts_with(name))?;
            Some((index, name.as_str(), *token))
        })
    }

    /// Returns whether `text` ends with the start of a special token.
    fn ends_with_partial(&self, text: &str) -> bool {
        let first_bytes: BTreeSet<_> = self.by_first_byte.keys().collect();
        let longest = self.by_first_byte.values().flatten().map(|(name, _)| name.len()).max().unwrap_or(0);
        let from = text.len().saturating_sub(longest);
        let starts_here = |index: usize| {
            let byte = text.as_bytes()[index];
            first_bytes.contains(&byte)
                && text
                    .get(index..)
                    .is_some_and(|tail| self.by_first_byte[&byte].iter().any(|(name, _)| name.starts_with(tail)))
        };
        (from..text.len()).any(starts_here)
    }
}

#[cfg(test)]
mod tests {
    use super::{PromptPart, SpecialTokens, TokenKind};

    fn special_tokens() -> SpecialTokens {
        let names = ["<", "<s>", "a", "<s>>", "é>"].map(str::to_owned);
        SpecialTokens::new(
            &names,
            &[TokenKind::Text, TokenKind::Control, TokenKind::Text, TokenKind::Visible, TokenKind::Control],
        )
    }

    #[test]
    fn a_text_is_split_at_its_special_tokens() {
        let expected = [
            PromptPart::Text("a<"),
            PromptPart::Special(3),
            PromptPart::Special(1),
            PromptPart::Text("é"),
            PromptPart::Special(4),
        ];
        assert_eq!(special_tokens().split("a<<s>><s>éé>"), expected);
    }

    #[test]
    fn an_escaped_text_has_no_special_tokens() {
        let special_tokens = special_tokens();
        for text in ["<s>", "<s>>", "a<s><s", "éé>é", "<<s>>", ""] {
            let escaped = special_tokens.escape(text, '|');
            assert_eq!(escaped.replace('|', ""), text);
            assert!(
                !special_tokens
                    .split(&(escaped.clone() + "s>"))
                    .iter()
                    .any(|piece| matches!(piece, PromptPart::Special(_))),
                "{escaped}"
            );
        }
    }

    #[test]
    fn a_text_without_special_tokens_is_unchanged() {
        assert_eq!(special_tokens().escape(" 1 > 0 ", '|'), " 1 > 0 ");
    }
}
