//! What a model thinks before it answers, between two marks.

use super::vocabulary::Vocabulary;
use crate::error::ProviderError;
use crate::settings::ThinkingLevel;

/// The marks by which the models of the Qwen family, and those that learned from `DeepSeek`'s, begin and end a thought.
const MARKS: [&str; 2] = ["<think>", "</think>"];

/// How a thought begins and ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Thoughts {
    pub(super) begin: u32,
    pub(super) end: u32,
}

impl Thoughts {
    /// Returns how thoughts begin and end in a model of `vocabulary`, if it has any.
    pub(super) fn of(vocabulary: &Vocabulary) -> Option<Self> {
        let [begin, end] = MARKS.map(|mark| vocabulary.marks().called(mark));
        Some(Self { begin: begin?, end: end? })
    }

    /// Ends `prompt` within a thought or behind one, as `level` says; returns how many tokens the thought may have.
    ///
    /// Where nothing is said, the template decides.
    pub(super) fn open(
        self,
        prompt: &mut Vec<u32>,
        vocabulary: &Vocabulary,
        level: Option<ThinkingLevel>,
    ) -> Result<Option<usize>, ProviderError> {
        let is_open = self.is_open(prompt, vocabulary);
        match level {
            None if !is_open => return Ok(None),
            Some(ThinkingLevel::Off) if is_open => prompt.extend(self.ending(vocabulary)?),
            Some(ThinkingLevel::Off) => {}
            _ if is_open => return Ok(Some(budget(level))),
            _ => {
                prompt.push(self.begin);
                prompt.extend(vocabulary.encode("\n")?);
                return Ok(Some(budget(level)));
            }
        }
        Ok(None)
    }

    /// Returns the tokens that end a thought.
    pub(super) fn ending(self, vocabulary: &Vocabulary) -> Result<Vec<u32>, ProviderError> {
        let mut tokens = vec![self.end];
        tokens.extend(vocabulary.encode("\n\n")?);
        Ok(tokens)
    }

    /// Whether `prompt` ends within a thought of which nothing is thought yet.
    fn is_open(self, prompt: &[u32], vocabulary: &Vocabulary) -> bool {
        let behind = prompt.iter().rev().take_while(|token| **token != self.begin);
        prompt.contains(&self.begin) && behind.flat_map(|token| vocabulary.bytes(*token)).all(u8::is_ascii_whitespace)
    }
}

/// Returns how many tokens a thought may have.
pub(super) fn budget(level: Option<ThinkingLevel>) -> usize {
    match level {
        Some(ThinkingLevel::Off) => 0,
        Some(ThinkingLevel::Minimal) => 128,
        Some(ThinkingLevel::Low) => 256,
        None | Some(ThinkingLevel::Medium) => 512,
        Some(ThinkingLevel::High) => 2048,
        Some(ThinkingLevel::Tokens(tokens)) => usize::try_from(tokens).unwrap_or(usize::MAX),
    }
}
