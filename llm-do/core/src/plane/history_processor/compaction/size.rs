//! How large messages are, in tokens.

use std::iter::Sum;
use std::ops::Add;

use llm_do_providers::{Message, ResponsePart, UserPart};
use serde::{Deserialize, Serialize};

/// Sizes are counted in quarters of a token: an ASCII character is about one.
const QUARTERS: usize = 4;

/// The size of a file: about what providers charge for a large image, 1,500 tokens.
const FILE: Estimate = Estimate { ascii: 1_500 * QUARTERS, other: 0 };

/// The size of a message in addition to its text: 4 tokens.
const MESSAGE: Estimate = Estimate { ascii: 4 * QUARTERS, other: 0 };

/// How many tokens a provider counts for 1,000 estimated ones, if nothing is known.
const EVEN: i64 = 1_000;

/// The least and the most that a provider is expected to count for 1,000 estimated tokens.
const LEAST: i64 = 250;
const MOST: i64 = 4_000;

/// An estimated size, in quarters of a token: apart for ASCII and for other scripts, which each provider counts in its own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Estimate {
    ascii: usize,
    other: usize,
}

impl Add for Estimate {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self { ascii: self.ascii + more.ascii, other: self.other + more.other }
    }
}

impl Sum for Estimate {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), Add::add)
    }
}

impl Estimate {
    /// Estimates a text: a token for four ASCII characters, for two of two bytes, such as Cyrillic ones, and for each longer one, such as
    /// Chinese ones.
    pub(crate) fn of_text(text: &str) -> Self {
        if text.is_ascii() {
            return Self { ascii: text.len(), other: 0 };
        }
        text.chars().fold(Self::default(), |Self { ascii, other }, letter| match letter.len_utf8() {
            1 => Self { ascii: ascii + 1, other },
            2 => Self { ascii, other: other + 2 },
            3 => Self { ascii, other: other + QUARTERS },
            _ => Self { ascii, other: other + 2 * QUARTERS },
        })
    }

    /// Estimates a message.
    pub(crate) fn of(message: &Message) -> Self {
        let parts: Self = match message {
            Message::User { parts } => parts.iter().map(of_user).sum(),
            Message::Assistant { parts } => parts.iter().map(of_answer).sum(),
            Message::Tool { results } => {
                let files = results.iter().flat_map(|result| &result.attachments).map(|_| FILE);
                results.iter().map(|result| Self::of_text(&result.content)).chain(files).sum()
            }
            _ => Self::default(),
        };
        parts + MESSAGE
    }

    /// Returns the number of tokens.
    pub(crate) fn tokens(self) -> usize {
        (self.ascii + self.other) / QUARTERS
    }
}

fn of_user(part: &UserPart) -> Estimate {
    match part {
        UserPart::Text { text } => Estimate::of_text(text),
        UserPart::Pin => Estimate::default(),
        _ => FILE,
    }
}

fn of_answer(part: &ResponsePart) -> Estimate {
    match part {
        ResponsePart::Text { text } => Estimate::of_text(text),
        ResponsePart::Thinking(thinking) => Estimate::of_text(&thinking.text),
        ResponsePart::ToolCall(call) => Estimate::of_text(&call.name) + Estimate::of_text(&call.arguments),
        ResponsePart::ServerSideTool(used) => {
            Estimate::of_text(&used.input.to_string()) + Estimate::of_text(&used.output.to_string())
        }
        ResponsePart::Opaque(data) => Estimate::of_text(&data.data.to_string()),
        _ => FILE,
    }
}

/// How many tokens a provider counts for 1,000 estimated ones of each script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ratios {
    ascii: i64,
    other: i64,
}

impl Default for Ratios {
    fn default() -> Self {
        Self { ascii: EVEN, other: EVEN }
    }
}

impl Ratios {
    /// Returns a size in tokens of the provider.
    pub(crate) fn scaled(self, size: Estimate) -> usize {
        usize::try_from(self.thousandths(size) / divisor()).unwrap_or(usize::MAX)
    }

    /// Returns the nearest ratios at which `size` has as many tokens as the provider has counted.
    ///
    /// Of two sizes with other shares of the scripts, the second corrects what the first left open, so the ratios come close to those of
    /// the provider.
    pub(crate) fn learned(self, size: Estimate, counted: usize) -> Self {
        let (ascii, other) = (wide(size.ascii), wide(size.other));
        let missing = wide(counted) * divisor() - self.thousandths(size);
        let weight = (ascii * ascii + other * other).max(1);
        let corrected = |ratio: i64, part: i128| {
            let change = i64::try_from(missing * part / weight).unwrap_or(MOST);
            ratio.saturating_add(change).clamp(LEAST, MOST)
        };
        Self { ascii: corrected(self.ascii, ascii), other: corrected(self.other, other) }
    }

    fn thousandths(self, size: Estimate) -> i128 {
        i128::from(self.ascii) * wide(size.ascii) + i128::from(self.other) * wide(size.other)
    }
}

/// Returns what a token is in thousandths of a quarter.
fn divisor() -> i128 {
    i128::from(EVEN) * wide(QUARTERS)
}

fn wide(size: usize) -> i128 {
    i128::try_from(size).unwrap_or(i128::MAX >> 64)
}

#[cfg(test)]
mod tests {
    use super::{Estimate, Ratios};

    #[test]
    fn scripts_have_their_own_sizes() {
        assert_eq!(Estimate::of_text("word").tokens(), 1);
        assert_eq!(Estimate::of_text("слово!!!").tokens(), 3, "five letters of two bytes, and three of one");
        assert_eq!(Estimate::of_text("汉字").tokens(), 2);
        assert_eq!(Estimate::of_text("🦀").tokens(), 2);
    }

    #[test]
    fn one_script_has_the_ratio_of_its_count() {
        let size = Estimate::of_text(&"word".repeat(1_000));
        let learned = Ratios::default().learned(size, 1_300);
        assert_eq!(learned.scaled(size), 1_300);
        assert_eq!(learned.learned(size, 1_300), learned, "the same count changes nothing");
        assert_eq!(Ratios::default().learned(size, 100_000).scaled(size), 4_000, "a count beyond belief is bounded");
    }

    #[test]
    fn the_ratio_of_each_script_is_learned_from_mixed_texts() {
        let mixed = |ascii: usize, other: usize| Estimate::of_text(&("word".repeat(ascii) + &"字".repeat(other)));
        let counts = |ascii: usize, other: usize| ascii * 9 / 10 + other * 2;
        let mut ratios = Ratios::default();
        for round in 1..=12 {
            for (ascii, other) in [(1_000 * round, 100), (100, 1_000 * round), (500 * round, 500 * round)] {
                ratios = ratios.learned(mixed(ascii, other), counts(ascii, other));
            }
        }
        for (ascii, other) in [(10_000, 0), (0, 10_000), (3_000, 7_000)] {
            let (counted, scaled) = (counts(ascii, other), ratios.scaled(mixed(ascii, other)));
            assert!(scaled.abs_diff(counted) * 50 < counted, "{scaled} for {counted}");
        }
    }
}
