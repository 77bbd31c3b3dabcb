//! Encoding of texts to tokens, and the bytes of tokens.

use std::collections::HashMap;

use tokenizers::Tokenizer;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::Replace;

use super::pre_tokenizer::PreTokenizer;
use super::{TokenKind, byte_alphabet};
use crate::error::ProviderError;
use crate::local::fault;
use crate::local::gguf::Gguf;

/// The replacement of a space in `SentencePiece` vocabularies.
const SPACE: char = '\u{2581}';

/// A tokenizer and the spelling of its tokens.
pub(super) struct Encoder {
    tokenizer: Tokenizer,
    spelling: Spelling,
    /// Whether a prompt starts with the BOS token if the file does not declare it: the default of llama.cpp for this
    /// vocabulary.
    pub(super) adds_bos: bool,
}

/// The spelling of tokens.
enum Spelling {
    /// One character per byte (`gpt2`).
    Bytes(Box<[char; 256]>),
    /// Characters, with byte tokens for characters without a token (`llama`, which is `SentencePiece`).
    Characters {
        /// Whether a text after a special token gets a space prefix.
        adds_space_prefix: bool,
    },
}

impl Encoder {
    /// Reads the encoder of the vocabulary `names`.
    pub(super) fn read(file: &Gguf, names: &[String], kinds: &[TokenKind]) -> Result<Self, ProviderError> {
        match file.text("tokenizer.ggml.model").unwrap_or_default() {
            "gpt2" => Self::with_bytes(file, names),
            "llama" => Self::with_characters(file, names, kinds),
            other => Err(fault::configuration(format!(
                "unsupported vocabulary type `{other}` in the model's file: expected `gpt2` or `llama`; use another model"
            ))),
        }
    }

    fn with_bytes(file: &Gguf, names: &[String]) -> Result<Self, ProviderError> {
        let pre_tokenizer =
            PreTokenizer::by_name(file.text("tokenizer.ggml.pre").unwrap_or_default()).map_err(fault::configuration)?;
        let pairs = file.texts("tokenizer.ggml.merges").into_iter().map(pair).collect::<Option<Vec<_>>>();
        let pairs = pairs.ok_or_else(|| invalid_vocabulary("a BPE merge is not a pair of tokens"))?;
        let model = BPE::builder()
            .vocab_and_merges(ids_by_name(names), pairs)
            .ignore_merges(pre_tokenizer.ignores_merges)
            .build();
        let mut tokenizer = Tokenizer::new(model.map_err(invalid_vocabulary)?);
        tokenizer.with_normalizer(pre_tokenizer.normalizer()).map_err(invalid_vocabulary)?;
        tokenizer.with_pre_tokenizer(Some(pre_tokenizer.build().map_err(invalid_vocabulary)?));
        let spelling = Spelling::Bytes(Box::new(byte_alphabet::alphabet()));
        Ok(Self { tokenizer, spelling, adds_bos: pre_tokenizer.ignores_merges })
    }

    /// `SentencePiece` repeatedly merges the two neighbours whose result has the best score. That equals BPE with
    /// merges ordered by the scores of their results, which is also how the official conversion to `tokenizer.json`
    /// works.
    fn with_characters(file: &Gguf, names: &[String], kinds: &[TokenKind]) -> Result<Self, ProviderError> {
        let scores = file.numbers("tokenizer.ggml.scores");
        if scores.len() != names.len() {
            return Err(invalid_vocabulary("the number of scores differs from the number of tokens"));
        }
        let unknown = file.count("tokenizer.ggml.unknown_token_id").and_then(|id| names.get(id));
        // A text must never become a special token, even if it spells one.
        let is_text =
            |kind: TokenKind, name| matches!(kind, TokenKind::Text | TokenKind::Byte) || Some(name) == unknown;
        let texts = names.iter().zip(kinds).zip(0..).filter(|((name, kind), _)| is_text(**kind, name));
        let known: Vocab = texts.map(|((name, _), number)| (name.clone(), number)).collect();
        let mut builder = BPE::builder().vocab_and_merges(known, pairs(names, kinds, &scores)).byte_fallback(true);
        if let Some(unknown) = unknown {
            builder = builder.unk_token(unknown.clone());
        }
        let mut tokenizer = Tokenizer::new(builder.build().map_err(invalid_vocabulary)?);
        let escape = Replace::new(" ", SPACE.to_string()).map_err(invalid_vocabulary)?;
        tokenizer.with_normalizer(Some(escape)).map_err(invalid_vocabulary)?;
        let adds_space_prefix = file.flag("tokenizer.ggml.add_space_prefix").unwrap_or(true);
        Ok(Self { tokenizer, spelling: Spelling::Characters { adds_space_prefix }, adds_bos: true })
    }

    /// Whether a text after a special token gets a space prefix.
    pub(super) fn adds_space_prefix(&self) -> bool {
        matches!(self.spelling, Spelling::Characters { adds_space_prefix: true })
    }

    /// Returns the tokenizer; it adds nothing to a text.
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Encodes `text`; `at_start` is true for the first text and after a special token.
    pub(super) fn encode(&self, text: &str, at_start: bool) -> Result<Vec<u32>, ProviderError> {
        let prefixed = (at_start && self.adds_space_prefix()).then(|| format!(" {text}"));
        let encoding = self.tokenizer.encode_fast(prefixed.as_deref().unwrap_or(text), false);
        encoding.map(|encoding| encoding.get_ids().to_vec()).map_err(|source| {
            fault::internal("cannot tokenize the text; the model's file may be damaged").with_source(source)
        })
    }

    /// Returns the bytes of a token; special tokens start with `0xFF`.
    pub(super) fn token_bytes(&self, name: &str, kind: TokenKind) -> Vec<u8> {
        let bytes = match (&self.spelling, kind) {
            (_, TokenKind::Control | TokenKind::Visible | TokenKind::Unused) => None,
            (Spelling::Bytes(alphabet), _) => byte_alphabet::bytes(name, alphabet),
            (Spelling::Characters { .. }, TokenKind::Byte) => byte(name).map(|byte| vec![byte]),
            (Spelling::Characters { .. }, TokenKind::Text) => Some(name.replace(SPACE, " ").into_bytes()),
        };
        bytes.unwrap_or_else(|| [&[0xFF], name.as_bytes()].concat())
    }
}

/// Returns the id of each token.
fn ids_by_name(names: &[String]) -> Vocab {
    names.iter().cloned().zip(0..).collect()
}

/// Returns the two tokens of a merge.
fn pair(merge: &str) -> Option<(String, String)> {
    let (left, right) = merge.split_once(' ')?;
    Some((left.to_owned(), right.to_owned()))
}

/// Returns the pairs of tokens that merge to a token, best score first.
fn pairs(names: &[String], kinds: &[TokenKind], scores: &[f32]) -> Vec<(String, String)> {
    let texts = || names.iter().zip(kinds).enumerate().filter(|(_, (_, kind))| **kind == TokenKind::Text);
    let numbers: HashMap<&str, usize> = texts().map(|(index, (name, _))| (name.as_str(), index)).collect();
    let halves = |name: &'_ str| {
        let splits = name.char_indices().skip(1).map(|(index, _)| name.split_at(index));
        let known = |half: &str| numbers.get(half).copied();
        splits.filter_map(|(left, right)| Some((known(left)?, known(right)?))).collect::<Vec<_>>()
    };
    let mut pairs: Vec<(f32, usize, usize)> = texts()
        .flat_map(|(index, (name, _))| halves(name).into_iter().map(move |(left, right)| (scores[index], left, right)))
        .collect();
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2))));
    pairs.into_iter().map(|(_, left, right)| (names[left].clone(), names[right].clone())).collect()
}

/// Returns the byte of a token such as `<0x0A>`.
fn byte(name: &str) -> Option<u8> {
    u8::from_str_radix(name.strip_prefix("<0x")?.strip_suffix('>')?, 16).ok()
}

/// The vocabulary is invalid.
fn invalid_vocabulary(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ProviderError {
    let text = "the model's file has an invalid vocabulary; use another file of the model";
    fault::configuration(text).with_source(source)
}
