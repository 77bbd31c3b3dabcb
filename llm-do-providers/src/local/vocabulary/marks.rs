//! The marks of a chat: tokens by which a model tells who speaks.

use std::collections::{BTreeMap, BTreeSet};

use super::Kind;

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::local) enum Piece<'a> {
    /// A mark.
    Mark(u32),
    /// What is between marks.
    Text(&'a str),
}

/// The marks of a vocabulary, by how they are written.
#[derive(Debug)]
pub(in crate::local) struct Marks {
    /// By their first byte, the longest first.
    known: BTreeMap<u8, Vec<(String, u32)>>,
}

impl Marks {
    pub(super) fn new(names: &[String], kinds: &[Kind]) -> Self {
        let mut known = BTreeMap::<_, Vec<_>>::new();
        for ((name, kind), token) in names.iter().zip(kinds).zip(0..) {
            if matches!(kind, Kind::Control | Kind::Named)
                && let Some(first) = name.as_bytes().first()
            {
                known.entry(*first).or_default().push((name.clone(), token));
            }
        }
        for marks in known.values_mut() {
            marks.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        }
        Self { known }
    }

    /// Returns the mark that is written `name`.
    pub(in crate::local) fn called(&self, name: &str) -> Option<u32> {
        let marks = self.known.get(name.as_bytes().first()?)?;
        marks.iter().find(|(known, _)| known == name).map(|(_, token)| *token)
    }

    /// Returns `text` as marks and what is between them.
    pub(in crate::local) fn split<'a>(&self, text: &'a str) -> Vec<Piece<'a>> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((place, name, token)) = self.first(rest) {
            pieces.extend((place > 0).then(|| Piece::Text(&rest[..place])));
            pieces.push(Piece::Mark(token));
            rest = &rest[place + name.len()..];
        }
        pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
        pieces
    }

    /// Returns `text` with `wedge` in every mark that it spells, whole or, at its end, in part.
    pub(in crate::local) fn break_up(&self, text: &str, wedge: char) -> String {
        let (mut broken, mut rest) = (String::with_capacity(text.len()), text);
        while let Some((place, name, _)) = self.first(rest) {
            let first = name.chars().next().map_or(0, char::len_utf8);
            broken.push_str(&rest[..place + first]);
            broken.push(wedge);
            rest = &rest[place + first..];
        }
        broken.push_str(rest);
        if self.is_begun(rest) {
            broken.push(wedge);
        }
        broken
    }

    /// Returns the first mark in `text`: its place, how it is written, and its token.
    fn first(&self, text: &str) -> Option<(usize, &str, u32)> {
        text.bytes().enumerate().find_map(|(place, byte)| {
            let (name, token) = self.known.get(&byte)?.iter().find(|(name, _)| text[place..].starts_with(name))?;
            Some((place, name.as_str(), *token))
        })
    }

    /// Whether `text` ends with the beginning of a mark.
    fn is_begun(&self, text: &str) -> bool {
        let firsts: BTreeSet<_> = self.known.keys().collect();
        let longest = self.known.values().flatten().map(|(name, _)| name.len()).max().unwrap_or(0);
        let from = text.len().saturating_sub(longest);
        let begins = |place: usize| {
            let byte = text.as_bytes()[place];
            firsts.contains(&byte)
                && text
                    .get(place..)
                    .is_some_and(|tail| self.known[&byte].iter().any(|(name, _)| name.starts_with(tail)))
        };
        (from..text.len()).any(begins)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Marks, Piece};

    fn marks() -> Marks {
        let names = ["<", "<s>", "a", "<s>>", "é>"].map(str::to_owned);
        Marks::new(&names, &[Kind::Text, Kind::Control, Kind::Text, Kind::Named, Kind::Control])
    }

    #[test]
    fn a_text_falls_into_marks_and_what_is_between_them() {
        let expected = [Piece::Text("a<"), Piece::Mark(3), Piece::Mark(1), Piece::Text("é"), Piece::Mark(4)];
        assert_eq!(marks().split("a<<s>><s>éé>"), expected);
    }

    #[test]
    fn what_is_broken_up_has_no_marks() {
        let marks = marks();
        for text in ["<s>", "<s>>", "a<s><s", "éé>é", "<<s>>", ""] {
            let broken = marks.break_up(text, '|');
            assert_eq!(broken.replace('|', ""), text);
            assert!(
                !marks.split(&(broken.clone() + "s>")).iter().any(|piece| matches!(piece, Piece::Mark(_))),
                "{broken}"
            );
        }
    }

    #[test]
    fn a_text_without_marks_stays_as_it_is() {
        assert_eq!(marks().break_up(" 1 > 0 ", '|'), " 1 > 0 ");
    }
}
