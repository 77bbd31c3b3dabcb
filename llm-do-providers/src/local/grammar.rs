//! Constrained decoding: grammars of answers, and the tokens they allow.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::earley::SlicedBiasComputer;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Value, json};
use tokenizers::Tokenizer;
use toktrie::{InferenceCapabilities, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv};

use super::capabilities::ToolCallFormat;
use super::fault;
use super::vocabulary::{PromptPart, Vocabulary};
use crate::error::ProviderError;

/// The maximum number of calls in an answer: small models rarely stop by themselves.
const MAX_CALLS: usize = 8;

/// The allowed form of an answer.
#[derive(Debug)]
pub(super) struct Grammar {
    /// The schema and the format of tool calls, if they are allowed.
    pub(super) calls: Option<(Value, ToolCallFormat)>,
    /// The allowed answers that are not tool calls.
    pub(super) answer: AnswerForm,
}

/// The allowed answers that are not tool calls.
#[derive(Debug)]
pub(super) enum AnswerForm {
    /// Any text.
    AnyText,
    /// Text that does not start like a tool call.
    Prose,
    /// JSON that matches the schema.
    Json(Value),
    /// None: the model must call a tool.
    CallOnly,
}

impl Grammar {
    /// Returns whether an answer that starts with `first` is a tool call.
    pub(super) fn begins_call(&self, first: char) -> bool {
        let prefix = self.calls.as_ref().and_then(|(_, format)| format.prefix.chars().next());
        first == '{' || first.is_whitespace() || Some(first) == prefix
    }

    /// Returns the grammar in llguidance's Lark syntax; `None` if any text is allowed.
    fn compile(&self, vocabulary: &Vocabulary) -> Option<TopLevelGrammar> {
        let call = self.calls.as_ref().map(|(schema, format)| {
            let (prefix, suffix) = (literal(&format.prefix, vocabulary), literal(&format.suffix, vocabulary));
            let more = format.separator.as_ref().map(|text| literal(text, vocabulary));
            let more = more.map(|separator| format!(" ({separator} one){{0,{}}}", MAX_CALLS - 1)).unwrap_or_default();
            format!("call: one{more}\none: {prefix} json {suffix}\njson: %json {}\n", with_options(schema))
        });
        let answer = match &self.answer {
            AnswerForm::AnyText => return None,
            AnswerForm::Prose => Some(format!("answer: PROSE\n{}\n", self.prose(vocabulary))),
            AnswerForm::Json(schema) => Some(format!("answer: %json {}\n", with_options(schema))),
            AnswerForm::CallOnly => None,
        };
        let names = [call.as_ref().map(|_| "call"), answer.as_ref().map(|_| "answer")];
        let start = names.into_iter().flatten().collect::<Vec<_>>().join(" | ");
        let rules = [call, answer].into_iter().flatten().collect::<String>();
        Some(TopLevelGrammar::from_lark(format!("start: {start}\n{rules}")))
    }

    /// Returns the rule for text that does not start like a tool call.
    fn prose(&self, vocabulary: &Vocabulary) -> String {
        let space = if vocabulary.adds_space_prefix() { " ?" } else { "" };
        let prefix = self.calls.as_ref().and_then(|(_, format)| format.prefix.chars().next());
        let prefix = prefix.map(|first| format!("\\u{{{:x}}}", u32::from(first))).unwrap_or_default();
        format!(r"PROSE: /{space}[^{{\s{prefix}](.|\n)*/")
    }
}

/// Returns `text` in Lark syntax: special tokens by id, the rest as strings.
fn literal(text: &str, vocabulary: &Vocabulary) -> String {
    let parts = vocabulary.special_tokens().split(text);
    let items = parts.iter().map(|part| match part {
        PromptPart::Special(token) => format!("<[{token}]>"),
        PromptPart::Text(text) => Value::from(*text).to_string(),
    });
    items.collect::<Vec<_>>().join(" ")
}

/// Adds options to `schema`: the fixed whitespace that models were trained on, and leniency for unsupported keywords.
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

/// Compiles grammars for the vocabulary of one model.
pub(super) struct GrammarCompiler(ParserFactory);

impl GrammarCompiler {
    /// Prepares the compiler for `vocabulary`.
    pub(super) fn new(vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let environment: TokEnv = Arc::new(GrammarTokenizer::new(vocabulary)?);
        let capabilities = InferenceCapabilities { ff_tokens: true, ..InferenceCapabilities::default() };
        let mut factory = ParserFactory::new(&environment, capabilities, &SlicedBiasComputer::json_slices())
            .map_err(|error| fault::internal(format!("cannot build grammars for the model's vocabulary: {error}")))?;
        factory.quiet();
        Ok(Self(factory))
    }

    /// Compiles `grammar`; returns `None` if any text is allowed.
    pub(super) fn compile(
        &self,
        grammar: &Grammar,
        vocabulary: &Vocabulary,
    ) -> Result<Option<Constraint>, ProviderError> {
        let Some(grammar) = grammar.compile(vocabulary) else { return Ok(None) };
        let matcher = Matcher::new(self.0.create_parser(grammar));
        match matcher.get_error() {
            None => Ok(Some(Constraint(matcher))),
            Some(error) => Err(fault::invalid(format!(
                "the schema cannot be compiled to a grammar for the embedded model: {error}"
            ))),
        }
    }
}

/// The state of a grammar while an answer is generated.
pub(super) struct Constraint(Matcher);

impl Constraint {
    /// Consumes and returns the tokens that the grammar forces next.
    pub(super) fn forced(&mut self) -> Vec<TokenId> {
        self.0.consume_ff_tokens()
    }

    /// Returns whether the answer is complete and nothing can follow.
    pub(super) fn is_complete(&self) -> Result<bool, ProviderError> {
        self.0.get_error().map_or_else(|| Ok(self.0.is_stopped()), |error| Err(decoding_error(&error)))
    }

    /// Masks the logits of tokens that the grammar forbids; where the answer may end, every end token is allowed.
    pub(super) fn mask(&mut self, logits: &mut [f32], vocabulary: &Vocabulary) -> Result<(), ProviderError> {
        let allowed = self.0.compute_mask().map_err(decoding_error)?;
        let may_stop = allowed.is_allowed(vocabulary.end_token());
        for (token, value) in (0..).zip(logits) {
            let ends = may_stop && vocabulary.end_tokens().contains(&token);
            if !ends && !allowed.is_allowed(token) {
                *value = f32::NEG_INFINITY;
            }
        }
        Ok(())
    }

    /// Consumes the sampled token.
    pub(super) fn consume(&mut self, token: TokenId) -> Result<(), ProviderError> {
        self.0.consume_token(token).map_err(decoding_error)
    }
}

/// The grammar failed while the answer was generated.
fn decoding_error(error: impl std::fmt::Display) -> ProviderError {
    let text = format!("constrained decoding failed: {error}");
    fault::internal(text.lines().next().unwrap_or_default())
}

/// The tokenizer interface of llguidance.
struct GrammarTokenizer {
    trie: TokTrie,
    tokenizer: Tokenizer,
}

impl GrammarTokenizer {
    fn new(vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let size = u32::try_from(vocabulary.token_bytes().len());
        let size = size.map_err(|source| {
            fault::internal("the model's vocabulary is too large: expected at most 4,294,967,295 tokens")
                .with_source(source)
        })?;
        let trie = TokTrie::from(&TokRxInfo::new(size, vocabulary.end_token()), vocabulary.token_bytes());
        Ok(Self { trie, tokenizer: vocabulary.tokenizer().clone() })
    }
}

impl TokenizerEnv for GrammarTokenizer {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        self.trie.tokenize_with_greedy_fallback(bytes, |text| {
            self.tokenizer.encode_fast(text, false).map_or_else(|_| Vec::new(), |encoding| encoding.get_ids().to_vec())
        })
    }
}
