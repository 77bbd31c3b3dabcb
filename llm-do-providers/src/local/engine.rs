//! The model at work: what it has read, and what it expects to come next.

use std::path::Path;

use candle_core::{Device, Tensor};
use candle_transformers::models::quantized_llama::{MAX_SEQ_LEN, ModelWeights};

use super::chat::Prompt;
use super::fault;
use super::gguf;
use super::grammar::Grammars;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;

/// How many tokens a prompt and its answer may have together: candle's limit.
pub(super) const CONTEXT: usize = MAX_SEQ_LEN;

/// How many tokens are read at once: more would take memory with the square of them, and none of it can be cancelled.
const BATCH: usize = 128;

/// A loaded model.
pub(super) struct Engine {
    weights: ModelWeights,
    pub(super) vocabulary: Vocabulary,
    pub(super) grammars: Grammars,
    instructions: Option<Reading>,
    conversation: Option<Reading>,
}

impl Engine {
    /// Loads the model of the file `path`.
    pub(super) fn load(path: &Path) -> Result<Self, ProviderError> {
        let (weights, vocabulary) = gguf::read(path)?;
        let grammars = Grammars::new(&vocabulary)?;
        Ok(Self { weights, vocabulary, grammars, instructions: None, conversation: None })
    }

    /// Returns the model having read as much of `prompt` as it still remembers, its instructions at least.
    pub(super) fn recall(&mut self, prompt: &Prompt, wanted: impl Fn() -> bool) -> Result<Reading, ProviderError> {
        let begun = [&self.conversation, &self.instructions].into_iter().flatten();
        // The last token is read anew even if it is known: what follows it is not remembered.
        let known = begun.filter(|reading| reading.begins(&prompt.tokens) && reading.read() < prompt.tokens.len());
        let mut reading = known.max_by_key(|reading| reading.read()).cloned().unwrap_or_else(|| self.unread());
        reading.remembered = reading.read();
        if reading.read() < prompt.instructions {
            reading.feed(&prompt.tokens[reading.read()..prompt.instructions], wanted)?;
            self.instructions = Some(reading.clone());
        }
        Ok(reading)
    }

    /// Remembers a conversation, for the next request may continue it.
    pub(super) fn remember(&mut self, reading: Reading) {
        self.conversation = Some(reading);
    }

    fn unread(&self) -> Reading {
        Reading { weights: self.weights.clone(), tokens: Vec::new(), remembered: 0 }
    }
}

/// A model that has read some tokens; a clone of it shares all that it knows.
#[derive(Clone)]
pub(super) struct Reading {
    weights: ModelWeights,
    tokens: Vec<u32>,
    remembered: usize,
}

impl Reading {
    /// Returns how many tokens it has read.
    pub(super) fn read(&self) -> usize {
        self.tokens.len()
    }

    /// Returns how many of them it had read for an earlier request.
    pub(super) fn remembered(&self) -> usize {
        self.remembered
    }

    /// Whether what it has read is the beginning of `tokens`.
    fn begins(&self, tokens: &[u32]) -> bool {
        tokens.starts_with(&self.tokens)
    }

    /// Reads `tokens`, at least one; returns the likelihood (logits) of each token to come next.
    pub(super) fn feed(&mut self, tokens: &[u32], wanted: impl Fn() -> bool) -> Result<Tensor, ProviderError> {
        let mut last = None;
        for batch in tokens.chunks(BATCH) {
            if !wanted() {
                return Err(fault::cancelled());
            }
            last = Some(self.forward(batch).map_err(fault::arithmetic)?);
        }
        last.ok_or_else(|| fault::broken("nothing to read"))
    }

    fn forward(&mut self, batch: &[u32]) -> candle_core::Result<Tensor> {
        let input = Tensor::new(batch, &Device::Cpu)?.unsqueeze(0)?;
        let logits = self.weights.forward(&input, self.tokens.len())?;
        self.tokens.extend_from_slice(batch);
        logits.squeeze(0)
    }
}
