//! What an answer may look like, and which tokens that leaves.

use std::sync::Arc;

use candle_core::{Device, Tensor};
use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use tokenizers::Tokenizer;
use toktrie::{InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};

use super::fault;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;

/// What an answer may look like.
#[derive(Debug)]
pub(super) enum Grammar {
    /// Any text.
    Text,
    /// JSON of a schema.
    Json(Value),
    /// A text that does not begin like an object.
    Prose,
    /// JSON of a schema, or prose.
    JsonOrProse(Value),
}

/// The rule for a text that does not begin like an object.
const PROSE: &str = r"PROSE: /[^{\s](.|\n)*/";

impl Grammar {
    /// Returns the grammar in the terms of the library; `None` if anything goes.
    fn compile(&self) -> Option<TopLevelGrammar> {
        match self {
            Self::Text => None,
            Self::Json(schema) => Some(TopLevelGrammar::from_json_schema(with_options(schema))),
            Self::Prose => Some(TopLevelGrammar::from_lark(format!("start: PROSE\n{PROSE}\n"))),
            Self::JsonOrProse(schema) => {
                let json = with_options(schema);
                Some(TopLevelGrammar::from_lark(format!("start: json | PROSE\njson: %json {json}\n{PROSE}\n")))
            }
        }
    }
}

/// Returns `schema` with the spaces that the model was trained on, and none to run away in; what the grammar does
/// not know of JSON Schema is let pass.
fn with_options(schema: &Value) -> Value {
    let options = json!({
        "whitespace_flexible": false, "item_separator": ", ", "key_separator": ": ", "lenient": true
    });
    let mut schema = schema.clone();
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("x-guidance".to_owned(), options);
    }
    schema
}

/// Makes constraints of grammars, for the tokens of one model.
pub(super) struct Grammars(ParserFactory);

impl Grammars {
    /// Prepares for the tokens of `vocabulary`.
    pub(super) fn new(vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let environment: TokEnv = Arc::new(Tokens::new(vocabulary)?);
        let capabilities = InferenceCapabilities { ff_tokens: true, ..InferenceCapabilities::default() };
        let mut factory = ParserFactory::new(&environment, capabilities, &SlicedBiasComputer::json_slices())
            .map_err(|error| fault::broken(format!("no grammar fits the model's tokens: {error}")))?;
        factory.quiet();
        Ok(Self(factory))
    }

    /// Returns the constraint that `grammar` is; `None` if anything goes.
    pub(super) fn constraint(&self, grammar: &Grammar) -> Result<Option<Constraint>, ProviderError> {
        let Some(grammar) = grammar.compile() else { return Ok(None) };
        let matcher = Matcher::new(self.0.create_parser(grammar));
        match matcher.get_error() {
            None => Ok(Some(Constraint(matcher))),
            Some(error) => Err(fault::invalid(format!("the embedded model cannot follow this schema: {error}"))),
        }
    }
}

/// The tokens that may come next, as an answer grows.
pub(super) struct Constraint(Matcher);

impl Constraint {
    /// Returns the tokens that must come next, now taken.
    pub(super) fn forced(&mut self) -> Vec<TokenId> {
        self.0.consume_ff_tokens()
    }

    /// Whether the answer is complete, so that nothing can follow.
    pub(super) fn is_complete(&self) -> Result<bool, ProviderError> {
        self.0.get_error().map_or_else(|| Ok(self.0.is_stopped()), |error| Err(unfollowed(&error)))
    }

    /// Returns `logits` with no chance for any token that may not come next.
    pub(super) fn filter(&mut self, logits: &Tensor) -> Result<Tensor, ProviderError> {
        let allowed = self.0.compute_mask().map_err(unfollowed)?;
        let mut values = logits.to_vec1::<f32>().map_err(fault::arithmetic)?;
        for (token, value) in (0..).zip(&mut values) {
            if !allowed.is_allowed(token) {
                *value = f32::NEG_INFINITY;
            }
        }
        Tensor::new(values, &Device::Cpu).map_err(fault::arithmetic)
    }

    /// Takes the token that was chosen.
    pub(super) fn take(&mut self, token: TokenId) -> Result<(), ProviderError> {
        self.0.consume_token(token).map_err(unfollowed)
    }
}

/// The grammar gave up while the answer grew.
fn unfollowed(error: impl std::fmt::Display) -> ProviderError {
    let text = format!("the answer could not be kept to its schema: {error}");
    fault::broken(text.lines().next().unwrap_or_default())
}

/// A model's tokens, as the grammar library wants them.
struct Tokens {
    trie: TokTrie,
    tokenizer: Tokenizer,
}

impl Tokens {
    fn new(vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let size = u32::try_from(vocabulary.pieces().len());
        let size = size.map_err(|source| fault::broken("the model has too many tokens").with_source(source))?;
        let trie = TokTrie::from(&TokRxInfo::new(size, vocabulary.end()), vocabulary.pieces());
        Ok(Self { trie, tokenizer: vocabulary.tokenizer().clone() })
    }
}

impl TokenizerEnv for Tokens {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| {
            self.tokenizer.encode_fast(text, false).map_or_else(|_| Vec::new(), |encoding| encoding.get_ids().to_vec())
        })
    }
}
