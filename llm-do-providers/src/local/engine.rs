//! The model at work: what it knows, and what it has read.

use std::path::Path;

use super::decoder::Decoder;
use super::dialect::Dialect;
use super::fault;
use super::gguf::Gguf;
use super::grammar::Grammars;
use super::template::Template;
use super::thought::Thoughts;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;

/// How many tokens are read at once: more would take memory with the square of them, and none of it can be cancelled.
const BATCH: usize = 128;

/// A loaded model.
pub(super) struct Engine {
    pub(super) reader: Reader,
    pub(super) vocabulary: Vocabulary,
    pub(super) template: Template,
    pub(super) dialect: Dialect,
    pub(super) thoughts: Option<Thoughts>,
    pub(super) grammars: Grammars,
}

impl Engine {
    /// Loads the model of the file `path`.
    pub(super) fn load(path: &Path) -> Result<Self, ProviderError> {
        let unreadable = |source: candle_core::Error| {
            let said = source.to_string();
            let said = said.lines().next().unwrap_or_default();
            let text = format!("`{}` is not a model file that can be read; fetch it anew: {said}", path.display());
            fault::configuration(text).with_source(source)
        };
        let mut file = Gguf::open(path).map_err(unreadable)?;
        let vocabulary = Vocabulary::read(&file)?;
        let template = Template::new(file.text("tokenizer.chat_template"), &vocabulary)?;
        let dialect = Dialect::of(&template)?;
        let decoder = Decoder::read(&mut file, vocabulary.pieces().len()).map_err(unreadable)?;
        Ok(Self {
            reader: Reader { decoder, tokens: Vec::new() },
            grammars: Grammars::new(&vocabulary)?,
            thoughts: Thoughts::of(&vocabulary),
            vocabulary,
            template,
            dialect,
        })
    }
}

/// A model's weights, and the conversation that they read last.
pub(super) struct Reader {
    decoder: Decoder,
    tokens: Vec<u32>,
}

impl Reader {
    /// Returns how many tokens a prompt and its answer may have together.
    pub(super) fn context(&self) -> usize {
        self.decoder.context()
    }

    /// Forgets all that is not the beginning of `prompt`; returns how many of its tokens need not be read again.
    pub(super) fn recall(&mut self, prompt: &[u32]) -> usize {
        let same = self.tokens.iter().zip(prompt).take_while(|(known, token)| known == token).count();
        // The last token is read anew even if it is known: what follows it is not remembered.
        self.tokens.truncate(same.min(prompt.len().saturating_sub(1)));
        self.tokens.len()
    }

    /// Reads `tokens`, at least one; returns the likelihood (logits) of each token to come next.
    ///
    /// What was read before nobody wanted it any more is remembered.
    pub(super) fn feed(&mut self, tokens: &[u32], wanted: impl Fn() -> bool) -> Result<Vec<f32>, ProviderError> {
        let mut last = None;
        for batch in tokens.chunks(BATCH) {
            if !wanted() {
                return Err(fault::cancelled());
            }
            match self.decoder.forward(batch, self.tokens.len()) {
                Ok(logits) => last = Some(logits),
                Err(source) => {
                    self.tokens.clear();
                    return Err(fault::arithmetic(source));
                }
            }
            self.tokens.extend_from_slice(batch);
        }
        last.ok_or_else(|| fault::broken("nothing to read"))
    }
}
