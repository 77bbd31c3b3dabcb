//! From text to tokens and back.

mod encoder;
mod letters;
mod marks;
mod split;

use tokenizers::Tokenizer;

use self::encoder::Encoder;
pub(super) use self::marks::{Marks, Piece};
use super::fault;
use super::gguf::Gguf;
use crate::error::ProviderError;

/// What a token is, by the numbers of the header
/// (`llama_token_type`, <https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h>).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Text, or a part of one.
    Text,
    /// A mark of the chat that is never shown.
    Control,
    /// A mark of the chat that stands for its own name, such as `<think>`.
    Named,
    /// One byte.
    Byte,
    /// Nothing that may be written.
    Unused,
}

impl Kind {
    fn of(number: i64) -> Self {
        match number {
            3 => Self::Control,
            4 => Self::Named,
            6 => Self::Byte,
            2 | 5 => Self::Unused,
            _ => Self::Text,
        }
    }
}

/// How long a token's name may be. The longest that models have are some hundred spaces or dashes, of up to three bytes
/// each; the time that a name takes grows with the square of its length.
const LONGEST: usize = 1024;

/// The tokens of a model.
pub(super) struct Vocabulary {
    encoder: Encoder,
    marks: Marks,
    names: Vec<String>,
    kinds: Vec<Kind>,
    pieces: Vec<Vec<u8>>,
    first: Option<u32>,
    begins: bool,
    end: u32,
    ends: Vec<u32>,
}

/// The tokens that end an answer, by key; a file has one to all of them.
const ENDS: [&str; 3] = ["tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"];

/// What tokens are called that end an answer, in files that do not say so
/// (as in <https://github.com/ggml-org/llama.cpp/blob/master/src/llama-vocab.cpp>).
const ENDINGS: [&str; 6] = ["<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>"];

impl Vocabulary {
    /// Reads the vocabulary that a model's file carries.
    pub(super) fn read(file: &Gguf) -> Result<Self, ProviderError> {
        let names: Vec<String> = file.texts("tokenizer.ggml.tokens").into_iter().map(str::to_owned).collect();
        if names.is_empty() || u32::try_from(names.len()).is_err() {
            return Err(fault::configuration("the model's file has no vocabulary; take another file of the model"));
        }
        if let Some(long) = names.iter().find(|name| name.len() > LONGEST) {
            let text = format!(
                "the model's file has a token whose name is {} bytes long, and {LONGEST} are enough; take another file of the model",
                long.len()
            );
            return Err(fault::configuration(text));
        }
        let first = token(file, "tokenizer.ggml.bos_token_id", &names);
        let ends = ends(file, &names);
        let Some(end) = ends.first().copied() else {
            let text = "the model's file names no token that ends an answer; take another file of the model";
            return Err(fault::configuration(text));
        };
        let mut kinds: Vec<_> = file.integers("tokenizer.ggml.token_type").into_iter().map(Kind::of).collect();
        kinds.resize(names.len(), Kind::Text);
        for place in ends.iter().chain(&first).filter_map(|token| usize::try_from(*token).ok()) {
            kinds[place] = Kind::Control;
        }
        let encoder = Encoder::read(file, &names, &kinds)?;
        let pieces = names.iter().zip(&kinds).map(|(name, kind)| encoder.piece(name, *kind)).collect();
        Ok(Self {
            marks: Marks::new(&names, &kinds),
            first,
            begins: file.flag("tokenizer.ggml.add_bos_token").unwrap_or(encoder.begins),
            encoder,
            names,
            kinds,
            pieces,
            end,
            ends,
        })
    }

    /// Returns the token that ends an answer, the first of several.
    pub(super) fn end(&self) -> u32 {
        self.end
    }

    /// Returns all tokens that end an answer.
    pub(super) fn ends(&self) -> &[u32] {
        &self.ends
    }

    /// Returns the name of the token that begins all texts: empty if there is none.
    pub(super) fn first_name(&self) -> &str {
        self.first.map(|id| self.name(id)).unwrap_or_default()
    }

    /// Returns the name of a token.
    pub(super) fn name(&self, token: u32) -> &str {
        usize::try_from(token).ok().and_then(|place| self.names.get(place)).map(String::as_str).unwrap_or_default()
    }

    /// Returns the marks of the chat.
    pub(super) fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Returns the bytes of each token; those that are not text begin with `0xFF`.
    pub(super) fn pieces(&self) -> &[Vec<u8>] {
        &self.pieces
    }

    /// Whether `token` is no part of an answer, and so ends it.
    pub(super) fn is_silent(&self, token: u32) -> bool {
        let kind = usize::try_from(token).ok().and_then(|place| self.kinds.get(place));
        matches!(kind, None | Some(Kind::Control | Kind::Unused))
    }

    /// Returns the bytes that `token` adds to a text.
    pub(super) fn bytes(&self, token: u32) -> &[u8] {
        let Some(place) = usize::try_from(token).ok().filter(|place| *place < self.names.len()) else { return &[] };
        match self.kinds[place] {
            Kind::Control | Kind::Unused => &[],
            Kind::Named => self.names[place].as_bytes(),
            // Some texts are written with letters that stand for no byte: they stand for themselves.
            Kind::Text | Kind::Byte => {
                let piece = self.pieces[place].as_slice();
                piece.strip_prefix(&[0xFF]).filter(|name| !name.is_empty()).unwrap_or(piece)
            }
        }
    }

    /// Whether the first word of a text is written with a space before it, which is no part of the text.
    pub(super) fn is_spaced(&self) -> bool {
        self.encoder.is_spaced()
    }

    /// Returns the tokens of a prompt of `pieces`, in which marks are marks and texts are texts, whatever they spell
    /// without `wedge`.
    pub(super) fn prompt(&self, pieces: &[Piece<'_>], wedge: char) -> Result<Vec<u32>, ProviderError> {
        let mut tokens = Vec::new();
        let begun = matches!(pieces.first(), Some(Piece::Mark(mark)) if Some(*mark) == self.first);
        if self.begins && !begun {
            tokens.extend(self.first);
        }
        let mut opening = true;
        for piece in pieces {
            match piece {
                Piece::Mark(mark) => tokens.push(*mark),
                Piece::Text(text) => tokens.extend(self.encoder.encode(&text.replace(wedge, ""), opening)?),
            }
            opening = matches!(piece, Piece::Mark(_));
        }
        Ok(tokens)
    }

    /// Returns the tokens of `text` within a text.
    pub(super) fn encode(&self, text: &str) -> Result<Vec<u32>, ProviderError> {
        self.encoder.encode(text, false)
    }

    /// Returns the tokenizer itself, for whoever must share it; it adds nothing to a text.
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        self.encoder.tokenizer()
    }
}

/// Returns the token at `key`, if there is one.
fn token(file: &Gguf, key: &str, names: &[String]) -> Option<u32> {
    u32::try_from(file.count(key).filter(|place| *place < names.len())?).ok()
}

/// Returns the tokens that end an answer: those that the file states first.
fn ends(file: &Gguf, names: &[String]) -> Vec<u32> {
    let mut ends: Vec<_> = ENDS.iter().filter_map(|key| token(file, key, names)).collect();
    let known = (0..).zip(names).filter(|(_, name)| ENDINGS.contains(&name.as_str())).map(|(token, _)| token);
    for token in known {
        if !ends.contains(&token) {
            ends.push(token);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::{Gguf, Piece, Vocabulary};
    use crate::local::tiny::{Tiny, bytes};

    fn vocabulary(tiny: &Tiny) -> Vocabulary {
        Vocabulary::read(&Gguf::open(&tiny.write().0).expect("the file is sound")).expect("the vocabulary is sound")
    }

    #[test]
    fn what_is_encoded_comes_back() {
        let letters = (0..0x11_0000).step_by(257).filter_map(char::from_u32);
        let strange: String =
            letters.enumerate().flat_map(|(place, letter)| [letter, if place % 7 == 0 { ' ' } else { '4' }]).collect();
        for tiny in [Tiny::of_bytes("llama", bytes(&["<s>", "</s>"], &[])), Tiny::of_characters("llama")] {
            let vocabulary = vocabulary(&tiny);
            for text in ["", " ", "Hello, the world!", "  let x = [1, 2];\n\n\tx\r\n", "Zürich — 3 € 🦀 <s>", &strange]
            {
                let tokens = vocabulary.encode(text).expect("any text can be encoded");
                let bytes: Vec<u8> = tokens.iter().flat_map(|token| vocabulary.bytes(*token)).copied().collect();
                assert!(
                    bytes == text.as_bytes(),
                    "{:?} came back otherwise",
                    text.chars().take(20).collect::<String>()
                );
            }
        }
    }

    #[test]
    fn a_first_word_gets_a_space_where_the_model_was_trained_so() {
        let vocabulary = vocabulary(&Tiny::of_characters("llama"));
        let tokens = vocabulary.prompt(&[Piece::Text("the"), Piece::Mark(2), Piece::Text("the")], '|');
        let names: Vec<_> =
            tokens.expect("any text can be encoded").iter().map(|token| vocabulary.name(*token).to_owned()).collect();
        assert_eq!(names, ["<s>", "▁the", "</s>", "▁the"]);
    }
}
