//! How a vocabulary's texts become tokens, and how its tokens are spelled.

use std::collections::HashMap;

use tokenizers::Tokenizer;
use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::normalizers::Replace;

use super::split::Way;
use super::{Kind, letters};
use crate::error::ProviderError;
use crate::local::fault;
use crate::local::gguf::Gguf;

/// What stands for a space in a vocabulary of characters.
const SPACE: char = '\u{2581}';

/// How texts become tokens.
pub(super) struct Encoder {
    tokenizer: Tokenizer,
    spelling: Spelling,
    /// Whether a text begins with a mark where the file does not say: it does so in llama.cpp for these vocabularies.
    pub(super) begins: bool,
}

/// How tokens are spelled.
enum Spelling {
    /// A letter for each byte (`gpt2`).
    Bytes(Box<[char; 256]>),
    /// Characters, and bytes by number where there is no token for a character (`llama`, which is `SentencePiece`).
    Characters {
        /// Whether a text that follows a mark gets a space before it.
        spaced: bool,
    },
}

impl Encoder {
    /// Reads how the vocabulary of `names` is encoded.
    pub(super) fn read(file: &Gguf, names: &[String], kinds: &[Kind]) -> Result<Self, ProviderError> {
        match file.text("tokenizer.ggml.model").unwrap_or_default() {
            "gpt2" => Self::of_bytes(file, names),
            "llama" => Self::of_characters(file, names, kinds),
            other => Err(fault::configuration(format!(
                "the model's vocabulary is of the kind `{other}`, and only `gpt2` and `llama` are known here; take another model"
            ))),
        }
    }

    fn of_bytes(file: &Gguf, names: &[String]) -> Result<Self, ProviderError> {
        let way = Way::called(file.text("tokenizer.ggml.pre").unwrap_or_default()).map_err(fault::configuration)?;
        let pairs = file.texts("tokenizer.ggml.merges").into_iter().map(pair).collect::<Option<Vec<_>>>();
        let pairs = pairs.ok_or_else(|| unusable("a merge is not a pair"))?;
        let model = BPE::builder().vocab_and_merges(numbered(names), pairs).ignore_merges(way.takes_words).build();
        let mut tokenizer = Tokenizer::new(model.map_err(unusable)?);
        tokenizer.with_normalizer(way.normalizer()).map_err(unusable)?;
        tokenizer.with_pre_tokenizer(Some(way.splitter().map_err(unusable)?));
        let spelling = Spelling::Bytes(Box::new(letters::alphabet()));
        Ok(Self { tokenizer, spelling, begins: way.takes_words })
    }

    /// `SentencePiece` joins the two neighbours whose joined text has the best score, again and again. That is what pairs
    /// do which are ordered by the scores of what they make; so does the conversion to `tokenizer.json` of the makers.
    fn of_characters(file: &Gguf, names: &[String], kinds: &[Kind]) -> Result<Self, ProviderError> {
        let scores = file.numbers("tokenizer.ggml.scores");
        if scores.len() != names.len() {
            return Err(unusable("it has not one score for each token"));
        }
        let unknown = file.count("tokenizer.ggml.unknown_token_id").and_then(|id| names.get(id));
        // No text may become a mark, whatever it spells.
        let is_text = |kind: Kind, name| matches!(kind, Kind::Text | Kind::Byte) || Some(name) == unknown;
        let texts = names.iter().zip(kinds).zip(0..).filter(|((name, kind), _)| is_text(**kind, name));
        let known: Vocab = texts.map(|((name, _), number)| (name.clone(), number)).collect();
        let mut builder = BPE::builder().vocab_and_merges(known, pairs(names, kinds, &scores)).byte_fallback(true);
        if let Some(unknown) = unknown {
            builder = builder.unk_token(unknown.clone());
        }
        let mut tokenizer = Tokenizer::new(builder.build().map_err(unusable)?);
        let escape = Replace::new(" ", SPACE.to_string()).map_err(unusable)?;
        tokenizer.with_normalizer(Some(escape)).map_err(unusable)?;
        let spaced = file.flag("tokenizer.ggml.add_space_prefix").unwrap_or(true);
        Ok(Self { tokenizer, spelling: Spelling::Characters { spaced }, begins: true })
    }

    /// Whether a text that follows a mark gets a space before it.
    pub(super) fn is_spaced(&self) -> bool {
        matches!(self.spelling, Spelling::Characters { spaced: true })
    }

    /// Returns the tokenizer, which adds nothing to a text.
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Returns the tokens of `text`; `opening` says that it follows a mark, or nothing.
    pub(super) fn encode(&self, text: &str, opening: bool) -> Result<Vec<u32>, ProviderError> {
        let spaced = (opening && self.is_spaced()).then(|| format!(" {text}"));
        let encoding = self.tokenizer.encode_fast(spaced.as_deref().unwrap_or(text), false);
        encoding.map(|encoding| encoding.get_ids().to_vec()).map_err(|source| {
            fault::broken("a text could not be split into tokens; the model's file may be broken").with_source(source)
        })
    }

    /// Returns the bytes of a token; those that are not text begin with `0xFF`.
    pub(super) fn piece(&self, name: &str, kind: Kind) -> Vec<u8> {
        let spelled = match (&self.spelling, kind) {
            (_, Kind::Control | Kind::Named | Kind::Unused) => None,
            (Spelling::Bytes(alphabet), _) => letters::bytes(name, alphabet),
            (Spelling::Characters { .. }, Kind::Byte) => byte(name).map(|byte| vec![byte]),
            (Spelling::Characters { .. }, Kind::Text) => Some(name.replace(SPACE, " ").into_bytes()),
        };
        spelled.unwrap_or_else(|| [&[0xFF], name.as_bytes()].concat())
    }
}

/// Returns the number of each token.
fn numbered(names: &[String]) -> Vocab {
    names.iter().cloned().zip(0..).collect()
}

/// Returns the two tokens of a merge.
fn pair(merge: &str) -> Option<(String, String)> {
    let (left, right) = merge.split_once(' ')?;
    Some((left.to_owned(), right.to_owned()))
}

/// Returns the pairs of texts that make a text, that with the best score first.
fn pairs(names: &[String], kinds: &[Kind], scores: &[f32]) -> Vec<(String, String)> {
    let texts = || names.iter().zip(kinds).enumerate().filter(|(_, (_, kind))| **kind == Kind::Text);
    let numbers: HashMap<&str, usize> = texts().map(|(place, (name, _))| (name.as_str(), place)).collect();
    let halves = |name: &'_ str| {
        let places = name.char_indices().skip(1).map(|(place, _)| name.split_at(place));
        let known = |half: &str| numbers.get(half).copied();
        places.filter_map(|(left, right)| Some((known(left)?, known(right)?))).collect::<Vec<_>>()
    };
    let mut pairs: Vec<(f32, usize, usize)> = texts()
        .flat_map(|(place, (name, _))| halves(name).into_iter().map(move |(left, right)| (scores[place], left, right)))
        .collect();
    pairs.sort_by(|one, other| other.0.total_cmp(&one.0).then((one.1, one.2).cmp(&(other.1, other.2))));
    pairs.into_iter().map(|(_, left, right)| (names[left].clone(), names[right].clone())).collect()
}

/// Returns the byte that a token such as `<0x0A>` stands for.
fn byte(name: &str) -> Option<u8> {
    u8::from_str_radix(name.strip_prefix("<0x")?.strip_suffix('>')?, 16).ok()
}

/// The vocabulary is not what it should be.
fn unusable(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> ProviderError {
    let text = "the model's file has no vocabulary that can be used; take another file of the model";
    fault::configuration(text).with_source(source)
}
