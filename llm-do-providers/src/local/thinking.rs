//! Thinking: the tokens around it and its budget.

use super::vocabulary::Vocabulary;
use crate::error::ProviderError;
use crate::settings::ThinkingLevel;

/// The tokens around thinking in the models of the Qwen family, and in those distilled from `DeepSeek`.
const NAMES: [&str; 2] = ["<think>", "</think>"];

/// The tokens that start and end thinking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ThinkTokens {
    pub(super) begin: u32,
    pub(super) end: u32,
}

impl ThinkTokens {
    /// Returns the tokens of `vocabulary`, if it has them.
    pub(super) fn find(vocabulary: &Vocabulary) -> Option<Self> {
        let [begin, end] = NAMES.map(|name| vocabulary.special_tokens().find(name));
        Some(Self { begin: begin?, end: end? })
    }

    /// Starts or ends thinking at the end of `prompt`, according to `level`; returns the thinking budget in tokens.
    ///
    /// Without a level, the template decides.
    pub(super) fn prepare_prompt(
        self,
        prompt: &mut Vec<u32>,
        vocabulary: &Vocabulary,
        level: Option<ThinkingLevel>,
    ) -> Result<Option<usize>, ProviderError> {
        let is_open = self.is_open(prompt, vocabulary);
        match level {
            None if !is_open => return Ok(None),
            Some(ThinkingLevel::Off) if is_open => prompt.extend(self.closing_tokens(vocabulary)?),
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

    /// Returns the tokens that end thinking.
    pub(super) fn closing_tokens(self, vocabulary: &Vocabulary) -> Result<Vec<u32>, ProviderError> {
        let mut tokens = vec![self.end];
        tokens.extend(vocabulary.encode("\n\n")?);
        Ok(tokens)
    }

    /// Returns whether `prompt` ends with the start of thinking and no content.
    fn is_open(self, prompt: &[u32], vocabulary: &Vocabulary) -> bool {
        let content = prompt.iter().rev().take_while(|token| **token != self.begin);
        prompt.contains(&self.begin)
            && content.flat_map(|token| vocabulary.text_bytes(*token)).all(u8::is_ascii_whitespace)
    }
}

/// Returns the thinking budget in tokens.
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
