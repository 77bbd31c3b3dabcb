//! The decoder-only transformer of the Llama and Qwen families.
//!
//! The families differ in optional tensors (biases, norms of queries and keys) and in the layout of the rotary
//! embedding, so one implementation over candle's kernels runs them all. candle's own models are one per family, and
//! none can truncate its KV cache.

mod attention;
mod config;
mod layer;
mod rotary;

use candle_core::quantized::QMatMul;
use candle_core::{Device, Module as _, Result, Tensor, bail};
use candle_nn::RmsNorm;

use self::config::Config;
use self::layer::Layer;
use self::rotary::RotaryEmbedding;
use super::gguf::Gguf;

/// A model's weights and KV cache.
pub(super) struct Decoder {
    embedding: QMatMul,
    layers: Vec<Layer>,
    norm: RmsNorm,
    output: QMatMul,
    rotary: RotaryEmbedding,
    context_length: usize,
}

impl Decoder {
    /// Reads the weights of a model with a vocabulary of `tokens` tokens.
    pub(super) fn read(file: &mut Gguf, tokens: usize) -> Result<Self> {
        let config = Config::read(file)?;
        let sizes = [tokens, config.hidden_size];
        let embedding = QMatMul::from_qtensor(file.tensor("token_embd.weight", &sizes)?)?;
        let output = if file.has("output.weight") {
            QMatMul::from_qtensor(file.tensor("output.weight", &sizes)?)?
        } else {
            embedding.clone()
        };
        let norm = layer::norm(file, "output_norm.weight", config.hidden_size, &config)?;
        let mut layers = Vec::new();
        for index in 0..config.layers {
            layers.push(Layer::read(file, index, &config)?);
        }
        // Read after the layers, whose tensor shapes have verified the head dimension of the header.
        let rotary = RotaryEmbedding::read(file, &config)?;
        if let Some(name) = file.unread() {
            // llama.cpp rejects unknown tensors too: ignoring one would change the model's output.
            bail!("unknown tensor `{name}`: the supported `{}` models have no such tensor", config.architecture)
        }
        Ok(Self { embedding, layers, norm, output, rotary, context_length: config.context_length })
    }

    /// Returns the context length: the maximum number of tokens of a prompt and its answer together.
    pub(super) fn context_length(&self) -> usize {
        self.context_length
    }

    /// Runs `tokens`, at least one, after the first `offset` cached tokens; returns the logits of the next token.
    ///
    /// Cached tokens from `offset` on are overwritten.
    pub(super) fn forward(&mut self, tokens: &[u32], offset: usize) -> Result<Vec<f32>> {
        let mut state = self.embedding.embedding(&Tensor::new(tokens, &Device::Cpu)?)?;
        let angles = self.rotary.angles(offset, tokens.len())?;
        let mask = mask(offset, tokens.len())?;
        for layer in &mut self.layers {
            state = layer.forward(&state, &angles, mask.as_ref(), offset)?;
        }
        let last = state.narrow(0, tokens.len() - 1, 1)?;
        self.output.forward(&self.norm.forward(&last)?)?.squeeze(0)?.to_vec1()
    }
}

/// Returns the causal mask of `count` tokens after `offset` cached ones; a single token needs none.
fn mask(offset: usize, count: usize) -> Result<Option<Tensor>> {
    if count == 1 {
        return Ok(None);
    }
    let hidden = |row: usize| move |column: usize| if column > offset + row { f32::NEG_INFINITY } else { 0.0 };
    let values: Vec<f32> = (0..count).flat_map(|row| (0..offset + count).map(hidden(row))).collect();
    Tensor::from_vec(values, (count, offset + count), &Device::Cpu).map(Some)
}
