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

#[cfg(test)]
mod tests {
    use candle_core::Tensor;

    use super::Engine;
    use crate::local::chat::Prompt;
    use crate::local::weights;

    fn engine() -> Engine {
        Engine::load(&weights::find(weights::DEFAULT).expect("the weights are there")).expect("the file is sound")
    }

    fn prompt(engine: &Engine, instructions: &str, question: &str) -> Prompt {
        let encode = |text| engine.vocabulary.encode(text).expect("any text can be encoded");
        let tokens = encode(instructions);
        Prompt { instructions: tokens.len(), tokens: [tokens, encode(question)].concat() }
    }

    /// Reads `prompt`; returns how much of it was remembered, and what comes next.
    fn read(engine: &mut Engine, prompt: &Prompt) -> (usize, Vec<f32>) {
        let mut reading = engine.recall(prompt, || true).expect("the model can be computed");
        let logits = reading.feed(&prompt.tokens[reading.read()..], || true).and_then(|logits| values(&logits));
        let remembered = reading.remembered();
        engine.remember(reading);
        (remembered, logits.expect("the model can be computed"))
    }

    fn values(logits: &Tensor) -> Result<Vec<f32>, crate::ProviderError> {
        logits.to_vec1().map_err(super::fault::arithmetic)
    }

    #[test]
    #[ignore = "needs the weights: sh llm-do-providers/fetch-local-model.sh"]
    fn what_was_read_is_remembered_and_changes_nothing() {
        let mut engine = engine();
        let first = prompt(&engine, "You are brief.", " How old is Ann?");
        let longer = prompt(&engine, "You are brief.", " How old is Ann? She is 30.");
        let other = prompt(&engine, "You are brief.", " Where is Tom?");
        assert_eq!(read(&mut engine, &first).0, 0);
        let (remembered, continued) = read(&mut engine, &longer);
        assert_eq!(remembered, first.tokens.len(), "the conversation goes on");
        assert_eq!(read(&mut engine, &other).0, other.instructions, "only the instructions are the same");
        let (fresh, anew) = read(&mut self::engine(), &longer);
        assert_eq!(fresh, 0);
        let difference = continued.iter().zip(&anew).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(difference < 0.5, "the logits differ by {difference}");
    }

    #[test]
    #[ignore = "needs the weights: sh llm-do-providers/fetch-local-model.sh"]
    fn an_unwanted_prompt_is_not_read_to_its_end() {
        let mut engine = engine();
        let long = prompt(&engine, "You are brief.", &" word".repeat(1000));
        let error = engine.recall(&long, || false).err().expect("no one wants it");
        assert_eq!(error.kind(), crate::ErrorKind::Cancelled);
    }
}
