//! What an answer may look like, and which tokens that leaves.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use tokenizers::Tokenizer;
use toktrie::{InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};

use super::dialect::CallForm;
use super::fault;
use super::vocabulary::{Piece, Vocabulary};
use crate::error::ProviderError;

/// How many calls an answer may have: a small model seldom stops by itself.
const CALLS: usize = 8;

/// What an answer may look like.
#[derive(Debug)]
pub(super) struct Grammar {
    /// Calls: JSON of a schema, in that form.
    pub(super) calls: Option<(Value, CallForm)>,
    /// What it may be that is no call.
    pub(super) rest: Rest,
}

/// What an answer may be that is no call.
#[derive(Debug)]
pub(super) enum Rest {
    /// Any text.
    Anything,
    /// A text that does not begin like a call.
    Prose,
    /// JSON of a schema.
    Json(Value),
    /// No answer.
    Nothing,
}

impl Grammar {
    /// Whether an answer that begins with `first` is a call, not prose.
    pub(super) fn begins_call(&self, first: char) -> bool {
        let before = self.calls.as_ref().and_then(|(_, form)| form.before.chars().next());
        first == '{' || first.is_whitespace() || Some(first) == before
    }

    /// Returns the grammar in the terms of the library; `None` if anything goes.
    fn compile(&self, vocabulary: &Vocabulary) -> Option<TopLevelGrammar> {
        let call = self.calls.as_ref().map(|(schema, form)| {
            let (before, after) = (literal(&form.before, vocabulary), literal(&form.after, vocabulary));
            let more = form.between.as_ref().map(|text| literal(text, vocabulary));
            let more = more.map(|between| format!(" ({between} one){{0,{}}}", CALLS - 1)).unwrap_or_default();
            format!("call: one{more}\none: {before} json {after}\njson: %json {}\n", with_options(schema))
        });
        let rest = match &self.rest {
            Rest::Anything => return None,
            Rest::Prose => Some(format!("rest: PROSE\n{}\n", self.prose(vocabulary))),
            Rest::Json(schema) => Some(format!("rest: %json {}\n", with_options(schema))),
            Rest::Nothing => None,
        };
        let names = [call.as_ref().map(|_| "call"), rest.as_ref().map(|_| "rest")];
        let start = names.into_iter().flatten().collect::<Vec<_>>().join(" | ");
        let rules = [call, rest].into_iter().flatten().collect::<String>();
        Some(TopLevelGrammar::from_lark(format!("start: {start}\n{rules}")))
    }

    /// Returns the rule for a text that does not begin like a call.
    fn prose(&self, vocabulary: &Vocabulary) -> String {
        let space = if vocabulary.is_spaced() { " ?" } else { "" };
        let before = self.calls.as_ref().and_then(|(_, form)| form.before.chars().next());
        let before = before.map(|first| format!("\\u{{{:x}}}", u32::from(first))).unwrap_or_default();
        format!(r"PROSE: /{space}[^{{\s{before}](.|\n)*/")
    }
}

/// Returns `text` in the terms of the library: marks by their numbers, the rest as it is.
fn literal(text: &str, vocabulary: &Vocabulary) -> String {
    let pieces = vocabulary.marks().split(text);
    let items = pieces.iter().map(|piece| match piece {
        Piece::Mark(token) => format!("<[{token}]>"),
        Piece::Text(text) => Value::from(*text).to_string(),
    });
    items.collect::<Vec<_>>().join(" ")
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

    /// Returns the constraint that `grammar` is for the tokens of `vocabulary`; `None` if anything goes.
    pub(super) fn constraint(
        &self,
        grammar: &Grammar,
        vocabulary: &Vocabulary,
    ) -> Result<Option<Constraint>, ProviderError> {
        let Some(grammar) = grammar.compile(vocabulary) else { return Ok(None) };
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

    /// Leaves no chance in `logits` to any token that may not come next; a text may end with any of the tokens that do.
    pub(super) fn filter(&mut self, logits: &mut [f32], vocabulary: &Vocabulary) -> Result<(), ProviderError> {
        let allowed = self.0.compute_mask().map_err(unfollowed)?;
        let may_end = allowed.is_allowed(vocabulary.end());
        for (token, value) in (0..).zip(logits) {
            let ends = may_end && vocabulary.ends().contains(&token);
            if !ends && !allowed.is_allowed(token) {
                *value = f32::NEG_INFINITY;
            }
        }
        Ok(())
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
