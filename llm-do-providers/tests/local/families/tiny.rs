//! Model files of a few kilobytes with random weights: their answers are meaningless, but they run all of the code.

#![expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "tiny files have small numbers")]

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A value in a header.
#[derive(Clone)]
pub(crate) enum Value {
    Count(u32),
    Number(f32),
    Flag(bool),
    Text(String),
    Texts(Vec<String>),
    Numbers(Vec<f32>),
    Integers(Vec<i32>),
}

/// A file in the format GGUF, version 3 (<https://github.com/ggml-org/ggml/blob/master/docs/gguf.md>).
#[derive(Clone)]
pub(crate) struct Tiny {
    keys: Vec<(String, Value)>,
    tensors: Vec<(String, Vec<usize>, Vec<f32>)>,
    shared: bool,
}

const WIDTH: usize = 32;
const HEADS: usize = 4;
const KEY_HEADS: usize = 2;
const HEAD: usize = 8;
const INNER: usize = 48;
const LAYERS: usize = 2;

/// A vocabulary: each token with its type, numbered as in the header.
pub(crate) type Tokens = Vec<(String, i32)>;

/// Returns a byte vocabulary with the special tokens `marks`, and `named` ones with a visible name.
pub(crate) fn bytes(control: &[&str], named: &[&str]) -> Tokens {
    let marks = control.iter().map(|mark| ((*mark).to_owned(), 3));
    let named = named.iter().map(|mark| ((*mark).to_owned(), 4));
    let printable = |byte: &u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let own = (0..256).filter(printable);
    let others = (256..).take(256 - own.clone().count());
    let letters = own.chain(others).filter_map(char::from_u32).map(|letter| (letter.to_string(), 1));
    let joined = ["he", "ll", "hell", "Ġw", "or"].map(|token| (token.to_owned(), 1));
    marks.chain(named).chain(letters).chain(joined).collect()
}

/// Returns a `SentencePiece` vocabulary.
pub(crate) fn characters() -> Tokens {
    let marks = [("<unk>", 2), ("<s>", 3), ("</s>", 3)].map(|(mark, kind)| (mark.to_owned(), kind));
    let bytes = (0..256).map(|byte| (format!("<0x{byte:02X}>"), 6));
    let words =
        ["▁", "t", "h", "e", "o", "r", "th", "he", "the", "▁t", "▁the", "or"].map(|token| (token.to_owned(), 1));
    marks.into_iter().chain(bytes).chain(words).collect()
}

impl Tiny {
    /// Returns a model of `family` with a byte vocabulary, whose second token ends an answer.
    pub(crate) fn of_bytes(family: &str, tokens: Tokens) -> Self {
        let merges = ["h e", "l l", "he ll", "Ġ w", "o r"].map(str::to_owned).to_vec();
        Self::new(family, tokens)
            .with("tokenizer.ggml.model", Value::Text("gpt2".into()))
            .with("tokenizer.ggml.pre", Value::Text(if family == "llama" { "llama-bpe" } else { "qwen2" }.into()))
            .with("tokenizer.ggml.merges", Value::Texts(merges))
            .with("tokenizer.ggml.bos_token_id", Value::Count(0))
            .with("tokenizer.ggml.eos_token_id", Value::Count(1))
    }

    /// Returns a model of `family` with a `SentencePiece` vocabulary.
    pub(crate) fn of_characters(family: &str) -> Self {
        Self::of_spelled(family, characters())
    }

    /// Returns a model of `family` with a `SentencePiece` vocabulary of the tokens above and `words`.
    pub(crate) fn of_spelled(family: &str, tokens: Tokens) -> Self {
        // Longer words have better scores, so they are merged first; other tokens have no score.
        let scores = tokens.iter().map(|(token, kind)| if *kind == 1 { -(100.0 / token.len() as f32) } else { 0.0 });
        let scores = scores.collect();
        Self::new(family, tokens)
            .with("tokenizer.ggml.model", Value::Text("llama".into()))
            .with("tokenizer.ggml.scores", Value::Numbers(scores))
            .with("tokenizer.ggml.unknown_token_id", Value::Count(0))
            .with("tokenizer.ggml.bos_token_id", Value::Count(1))
            .with("tokenizer.ggml.eos_token_id", Value::Count(2))
    }

    fn new(family: &str, tokens: Tokens) -> Self {
        let (names, kinds): (Vec<_>, Vec<_>) = tokens.into_iter().unzip();
        let mut tiny = Self { keys: Vec::new(), tensors: Vec::new(), shared: false };
        tiny.tensors(family, names.len());
        let count = |count: usize| Value::Count(count as u32);
        let key = |key: &str| format!("{family}.{key}");
        tiny.with("general.architecture", Value::Text(family.into()))
            .with(&key("block_count"), count(LAYERS))
            .with(&key("context_length"), Value::Count(2048))
            .with(&key("embedding_length"), count(WIDTH))
            .with(&key("feed_forward_length"), count(INNER))
            .with(&key("attention.head_count"), count(HEADS))
            .with(&key("attention.head_count_kv"), count(KEY_HEADS))
            .with(&key("attention.key_length"), count(HEAD))
            .with(&key("attention.value_length"), count(HEAD))
            .with(&key("attention.layer_norm_rms_epsilon"), Value::Number(1e-5))
            .with(&key("rope.dimension_count"), count(HEAD))
            .with(&key("rope.freq_base"), Value::Number(10_000.0))
            .with("tokenizer.ggml.tokens", Value::Texts(names))
            .with("tokenizer.ggml.token_type", Value::Integers(kinds))
    }

    fn tensors(&mut self, family: &str, tokens: usize) {
        self.tensor("token_embd.weight", &[tokens, WIDTH]);
        self.tensor("output_norm.weight", &[WIDTH]);
        self.tensor("output.weight", &[tokens, WIDTH]);
        let (queries, keys) = (HEADS * HEAD, KEY_HEADS * HEAD);
        for layer in 0..LAYERS {
            let mut tensor = |name: &str, sizes: &[usize]| self.tensor(&format!("blk.{layer}.{name}"), sizes);
            tensor("attn_norm.weight", &[WIDTH]);
            tensor("attn_q.weight", &[queries, WIDTH]);
            tensor("attn_k.weight", &[keys, WIDTH]);
            tensor("attn_v.weight", &[keys, WIDTH]);
            tensor("attn_output.weight", &[WIDTH, queries]);
            tensor("ffn_norm.weight", &[WIDTH]);
            tensor("ffn_gate.weight", &[INNER, WIDTH]);
            tensor("ffn_up.weight", &[INNER, WIDTH]);
            tensor("ffn_down.weight", &[WIDTH, INNER]);
            if family == "qwen2" {
                tensor("attn_q.bias", &[queries]);
                tensor("attn_k.bias", &[keys]);
                tensor("attn_v.bias", &[keys]);
            }
            if family == "qwen3" {
                tensor("attn_q_norm.weight", &[HEAD]);
                tensor("attn_k_norm.weight", &[HEAD]);
            }
        }
    }

    fn tensor(&mut self, name: &str, sizes: &[usize]) {
        // A pseudo-random number from the index and the name, the same in each run.
        let mut state = name.bytes().fold(7_u64, |state, byte| state.wrapping_mul(31).wrapping_add(byte.into()));
        let mut chance = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1_u64 << 24) as f32 - 0.5
        };
        let values = (0..sizes.iter().product()).map(|_| chance()).collect();
        self.tensors.push((name.to_owned(), sizes.to_vec(), values));
    }

    /// Sets `key`.
    pub(crate) fn with(mut self, key: &str, value: Value) -> Self {
        self.keys.retain(|(known, _)| known != key);
        self.keys.push((key.to_owned(), value));
        self
    }

    /// Sets the chat template.
    pub(crate) fn with_template(self, source: &str) -> Self {
        self.with("tokenizer.chat_template", Value::Text(source.to_owned()))
    }

    /// Removes the tensors whose names end with `end`.
    pub(crate) fn without_tensor(mut self, end: &str) -> Self {
        self.tensors.retain(|(name, ..)| !name.ends_with(end));
        self
    }

    /// Adds a tensor with these values.
    pub(crate) fn with_tensor(mut self, name: &str, sizes: &[usize], values: Vec<f32>) -> Self {
        self.tensors.push((name.to_owned(), sizes.to_vec(), values));
        self
    }

    /// Adds a tensor with random values.
    #[allow(dead_code, reason = "it is for the tests within the crate, which share this file")]
    pub(crate) fn with_chance(mut self, name: &str, sizes: &[usize]) -> Self {
        self.tensor(name, sizes);
        self
    }

    /// Makes all tensors share the same bytes of the file.
    pub(crate) fn sharing(self) -> Self {
        Self { shared: true, ..self }
    }

    /// Returns the file's bytes and the length of its header.
    pub(crate) fn bytes(&self) -> (Vec<u8>, usize) {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend((self.keys.len() as u64).to_le_bytes());
        for (key, value) in &self.keys {
            put_text(&mut bytes, key);
            put_value(&mut bytes, value);
        }
        let mut offset = 0_u64;
        for (name, sizes, values) in &self.tensors {
            put_text(&mut bytes, name);
            bytes.extend((sizes.len() as u32).to_le_bytes());
            bytes.extend(sizes.iter().rev().flat_map(|size| (*size as u64).to_le_bytes()));
            bytes.extend(0_u32.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
            offset += if self.shared { 0 } else { (4 * values.len() as u64).next_multiple_of(32) };
        }
        let header = bytes.len();
        let written = if self.shared { 1 } else { self.tensors.len() };
        for (_, _, values) in &self.tensors[..written] {
            bytes.resize(bytes.len().next_multiple_of(32), 0);
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        (bytes, header)
    }

    /// Writes the file to the temporary directory.
    pub(crate) fn write(&self) -> Written {
        Written::new(&self.bytes().0)
    }
}

/// A file that is deleted on drop.
pub(crate) struct Written(pub(crate) PathBuf);

impl Written {
    /// Writes `bytes`.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        static WRITTEN: AtomicUsize = AtomicUsize::new(0);
        let place = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("llm-do-tiny-{}-{place}.gguf", std::process::id()));
        std::fs::write(&path, bytes).expect("the folder for temporary files can be written to");
        Self(path)
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn put_text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

fn put_value(bytes: &mut Vec<u8>, value: &Value) {
    let kind: u32 = match value {
        Value::Count(_) => 4,
        Value::Number(_) => 6,
        Value::Flag(_) => 7,
        Value::Text(_) => 8,
        Value::Texts(_) | Value::Numbers(_) | Value::Integers(_) => 9,
    };
    bytes.extend(kind.to_le_bytes());
    let mut list = |kind: u32, length: usize| {
        bytes.extend(kind.to_le_bytes());
        bytes.extend((length as u64).to_le_bytes());
    };
    match value {
        Value::Count(count) => bytes.extend(count.to_le_bytes()),
        Value::Number(number) => bytes.extend(number.to_le_bytes()),
        Value::Flag(flag) => bytes.push((*flag).into()),
        Value::Text(text) => put_text(bytes, text),
        Value::Texts(texts) => {
            list(8, texts.len());
            for text in texts {
                put_text(bytes, text);
            }
        }
        Value::Numbers(numbers) => {
            list(6, numbers.len());
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        }
        Value::Integers(integers) => {
            list(5, integers.len());
            bytes.extend(integers.iter().flat_map(|integer| integer.to_le_bytes()));
        }
    }
}
