//! The tokenizer of a model file.

mod byte_alphabet;
mod encoder;
mod pre_tokenizer;
mod special_tokens;

use tokenizers::Tokenizer;

use self::encoder::Encoder;
pub(super) use self::special_tokens::{PromptPart, SpecialTokens};
use super::fault;
use super::gguf::Gguf;
use crate::error::ProviderError;

/// The type of a token, numbered as in the header
/// (`llama_token_type`, <https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenKind {
    /// Text.
    Text,
    /// A special token that is never part of a text.
    Control,
    /// A special token with a visible name, such as `<think>`.
    Visible,
    /// A single byte.
    Byte,
    /// An unused or unknown token.
    Unused,
}

impl TokenKind {
    fn from_number(number: i64) -> Self {
        match number {
            3 => Self::Control,
            4 => Self::Visible,
            6 => Self::Byte,
            2 | 5 => Self::Unused,
            _ => Self::Text,
        }
    }
}

/// The maximum length of a token's name, in bytes. The longest real names are some hundred spaces or dashes of up to
/// three bytes; the encoding time grows with the square of the length.
const MAX_NAME_LENGTH: usize = 1024;

/// The vocabulary and tokenizer of a model.
pub(super) struct Vocabulary {
    encoder: Encoder,
    special_tokens: SpecialTokens,
    names: Vec<String>,
    kinds: Vec<TokenKind>,
    token_bytes: Vec<Vec<u8>>,
    bos: Option<u32>,
    adds_bos: bool,
    end_token: u32,
    end_tokens: Vec<u32>,
}

/// The header keys of the tokens that end an answer.
const END_TOKEN_KEYS: [&str; 3] =
    ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"];

/// The names of tokens that end an answer, for files without those keys (as in
/// <https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp>).
const END_TOKEN_NAMES: [&str; 6] =
    ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>"];

impl Vocabulary {
    /// Reads the vocabulary from a model file.
    pub(super) fn read(file: &Gguf) -> Result<Self, ProviderError> {
        let names: Vec<String> = file.texts("tokenizer.ggml.tokens").into_iter().map(str::to_owned).collect();
        if names.is_empty() || u32::try_from(names.len()).is_err() {
            return Err(fault::configuration("the model's file has no vocabulary; use another file of the model"));
        }
        if let Some(long) = names.iter().find(|name| name.len() > MAX_NAME_LENGTH) {
            let text = format!(
                "the model's file has a token name of {} bytes; the maximum is {MAX_NAME_LENGTH}; use another file of the model",
                long.len()
            );
            return Err(fault::configuration(text));
        }
        let bos = token(file, "tokenizer.ggml.bos_token_id", &names);
        let ends = ends(file, &names);
        let Some(end_token) = ends.first().copied() else {
            let text = "the model's file has no end-of-text token; use another file of the model";
            return Err(fault::configuration(text));
        };
        let mut kinds: Vec<_> =
            file.integers("tokenizer.ggml.token_type").into_iter().map(TokenKind::from_number).collect();
        kinds.resize(names.len(), TokenKind::Text);
        for index in ends.iter().chain(&bos).filter_map(|token| usize::try_from(*token).ok()) {
            kinds[index] = TokenKind::Control;
        }
        let encoder = Encoder::read(file, &names, &kinds)?;
        let token_bytes = names.iter().zip(&kinds).map(|(name, kind)| encoder.token_bytes(name, *kind)).collect();
        Ok(Self {
            special_tokens: SpecialTokens::new(&names, &kinds),
            bos,
            adds_bos: file.flag("tokenizer.ggml.add_bos_token").unwrap_or(encoder.adds_bos),
            encoder,
            names,
            kinds,
            token_bytes,
            end_token,
            end_tokens: ends,
        })
    }

    /// Returns the primary end token.
    pub(super) fn end_token(&self) -> u32 {
        self.end_token
    }

    /// Returns all tokens that end an answer.
    pub(super) fn end_tokens(&self) -> &[u32] {
        &self.end_tokens
    }

    /// Returns the name of the BOS token; empty if it is absent.
    pub(super) fn bos_name(&self) -> &str {
        self.bos.map(|id| self.name(id)).unwrap_or_default()
    }

    /// Returns the name of a token.
    pub(super) fn name(&self, token: u32) -> &str {
        usize::try_from(token).ok().and_then(|index| self.names.get(index)).map(String::as_str).unwrap_or_default()
    }

    /// Returns the special tokens.
    pub(super) fn special_tokens(&self) -> &SpecialTokens {
        &self.special_tokens
    }

    /// Returns the bytes of each token; special tokens start with `0xFF`.
    pub(super) fn token_bytes(&self) -> &[Vec<u8>] {
        &self.token_bytes
    }

    /// Returns whether `token` is not part of an answer and so ends it.
    pub(super) fn ends_answer(&self, token: u32) -> bool {
        let kind = usize::try_from(token).ok().and_then(|index| self.kinds.get(index));
        matches!(kind, None | Some(TokenKind::Control | TokenKind::Unused))
    }

    /// Returns the bytes that `token` adds to a text.
    pub(super) fn text_bytes(&self, token: u32) -> &[u8] {
        let Some(index) = usize::try_from(token).ok().filter(|index| *index < self.names.len()) else { return &[] };
        match self.kinds[index] {
            TokenKind::Control | TokenKind::Unused => &[],
            TokenKind::Visible => self.names[index].as_bytes(),
            // Some names contain characters outside the byte alphabet; they represent themselves.
            TokenKind::Text | TokenKind::Byte => {
                let bytes = self.token_bytes[index].as_slice();
                bytes.strip_prefix(&[0xFF]).filter(|name| !name.is_empty()).unwrap_or(bytes)
            }
        }
    }

    /// Returns whether the first word of a text is encoded with a space before it.
    pub(super) fn adds_space_prefix(&self) -> bool {
        self.encoder.adds_space_prefix()
    }

    /// Encodes a prompt. Only special parts become special tokens; `escape_char` is removed from texts.
    pub(super) fn encode_prompt(&self, parts: &[PromptPart<'_>], escape_char: char) -> Result<Vec<u32>, ProviderError> {
        let mut tokens = Vec::new();
        let has_bos = matches!(parts.first(), Some(PromptPart::Special(token)) if Some(*token) == self.bos);
        if self.adds_bos && !has_bos {
            tokens.extend(self.bos);
        }
        let mut at_start = true;
        for part in parts {
            match part {
                PromptPart::Special(token) => tokens.push(*token),
                PromptPart::Text(text) => tokens.extend(self.encoder.encode(&text.replace(escape_char, ""), at_start)?),
            }
            at_start = matches!(part, PromptPart::Special(_));
        }
        Ok(tokens)
    }

    /// Encodes `text` without a space prefix.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, ProviderError> {
        self.encoder.encode(text, false)
    }

    /// Returns the underlying tokenizer; it adds nothing to a text.
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        self.encoder.tokenizer()
    }
}

/// Returns the token at `key`, if present.
fn token(file: &Gguf, key: &str, names: &[String]) -> Option<u32> {
    u32::try_from(file.count(key).filter(|index| *index < names.len())?).ok()
}

/// Returns the tokens that end an answer, those with a header key first.
fn ends(file: &Gguf, names: &[String]) -> Vec<u32> {
    let mut ends: Vec<_> = END_TOKEN_KEYS.iter().filter_map(|key| token(file, key, names)).collect();
    let known = (0..).zip(names).filter(|(_, name)| END_TOKEN_NAMES.contains(&name.as_str())).map(|(token, _)| token);
    for token in known {
        if !ends.contains(&token) {
            ends.push(token);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::{Gguf, PromptPart, Vocabulary};
    use crate::local::tiny::{Tiny, bytes};

    fn vocabulary(tiny: &Tiny) -> Vocabulary {
        Vocabulary::read(&Gguf::open(&tiny.write().0).expect("the file is valid")).expect("the vocabulary is valid")
    }

    #[test]
    fn encoding_round_trips() {
        let letters = (0..0x11_0000).step_by(257).filter_map(char::from_u32);
        let mixed: String =
            letters.enumerate().flat_map(|(index, letter)| [letter, if index % 7 == 0 { ' ' } else { '4' }]).collect();
        for tiny in [Tiny::of_bytes("llama", bytes(&["<s>", "</s>"], &[])), Tiny::of_characters("llama")] {
            let vocabulary = vocabulary(&tiny);
            for text in ["", " ", "Hello, the world!", "  let x = [1, 2];\n\n\tx\r\n", "Zürich — 3 € 🦀 <s>", &mixed]
            {
                let tokens = vocabulary.encode(text).expect("any text can be encoded");
                let bytes: Vec<u8> = tokens.iter().flat_map(|token| vocabulary.text_bytes(*token)).copied().collect();
                assert!(
                    bytes == text.as_bytes(),
                    "{:?} does not round-trip",
                    text.chars().take(20).collect::<String>()
                );
            }
        }
    }

    #[test]
    fn the_first_word_gets_a_space_prefix_if_the_vocabulary_has_one() {
        let vocabulary = vocabulary(&Tiny::of_characters("llama"));
        let tokens =
            vocabulary.encode_prompt(&[PromptPart::Text("the"), PromptPart::Special(2), PromptPart::Text("the")], '|');
        let names: Vec<_> =
            tokens.expect("any text can be encoded").iter().map(|token| vocabulary.name(*token).to_owned()).collect();
        assert_eq!(names, ["<s>", "▁the", "</s>", "▁the"]);
    }
}
