//! The kinds of faults that are mended.

use serde::{Deserialize, Serialize};

/// What was mended in JSON that a model wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mend {
    /// A code block of Markdown around it.
    Fence,
    /// Words before or after it.
    Words,
    /// A thought before or after it, such as `<think>..</think>`.
    Thought,
    /// A comma after the last item.
    TrailingComma,
    /// Strings in single quotes.
    SingleQuotes,
    /// A comment.
    Comment,
    /// Keys without quotes.
    UnquotedKey,
    /// Missing closing brackets at the end.
    MissingBracket,
}

impl Mend {
    /// All kinds, in order.
    pub const ALL: [Self; 8] = [
        Self::Fence,
        Self::Words,
        Self::Thought,
        Self::TrailingComma,
        Self::SingleQuotes,
        Self::Comment,
        Self::UnquotedKey,
        Self::MissingBracket,
    ];

    /// Returns its name in plain words.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fence => "code block",
            Self::Words => "words around it",
            Self::Thought => "thought",
            Self::TrailingComma => "trailing comma",
            Self::SingleQuotes => "single quotes",
            Self::Comment => "comment",
            Self::UnquotedKey => "unquoted key",
            Self::MissingBracket => "missing bracket",
        }
    }
}

/// Lists kinds in plain words.
#[must_use]
pub fn words_of(mends: &[Mend]) -> String {
    let words: Vec<_> = mends.iter().map(|mend| mend.as_str()).collect();
    words.join(", ")
}

/// The kinds of faults that were mended in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mends(u8);

impl Mends {
    /// Adds a kind.
    pub fn add(&mut self, mend: Mend) {
        self.0 |= 1 << mend as u8;
    }

    /// Adds all kinds of another set.
    pub fn add_all(&mut self, more: Self) {
        self.0 |= more.0;
    }

    /// Returns whether a kind is among them.
    #[must_use]
    pub fn has(self, mend: Mend) -> bool {
        self.0 & (1 << mend as u8) != 0
    }

    /// Returns whether nothing was mended.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the kinds, in order.
    #[must_use]
    pub fn to_vec(self) -> Vec<Mend> {
        Mend::ALL.into_iter().filter(|mend| self.has(*mend)).collect()
    }
}
