//! The transformer that all models of the Llama and Qwen families are.
//!
//! They differ in what they add to the attention, which their tensors tell, and in how a rotation pairs the numbers. So
//! one arrangement of candle's kernels runs them all. candle's own ones are one for each family, and none of them can
//! forget the end of what it has read.

mod attention;
mod layer;
mod rotation;
mod shape;

use candle_core::quantized::QMatMul;
use candle_core::{Device, Module as _, Result, Tensor, bail};
use candle_nn::RmsNorm;

use self::layer::Layer;
use self::rotation::Rotation;
use self::shape::Shape;
use super::gguf::Gguf;

/// A model's weights, and what it has read.
pub(super) struct Decoder {
    embedding: QMatMul,
    layers: Vec<Layer>,
    norm: RmsNorm,
    output: QMatMul,
    rotation: Rotation,
    context: usize,
}

impl Decoder {
    /// Reads the weights of a model of `tokens` tokens.
    pub(super) fn read(file: &mut Gguf, tokens: usize) -> Result<Self> {
        let shape = Shape::read(file)?;
        let sizes = [tokens, shape.width];
        let embedding = QMatMul::from_qtensor(file.tensor("token_embd.weight", &sizes)?)?;
        let output = if file.has("output.weight") {
            QMatMul::from_qtensor(file.tensor("output.weight", &sizes)?)?
        } else {
            embedding.clone()
        };
        let norm = layer::norm(file, "output_norm.weight", shape.width, &shape)?;
        let mut layers = Vec::new();
        for place in 0..shape.layers {
            layers.push(Layer::read(file, place, &shape)?);
        }
        // The paces come last: what the header says of a head's size is true if the layers had it.
        let rotation = Rotation::read(file, &shape)?;
        if let Some(name) = file.unread() {
            // As llama.cpp has it, which counts them: what is passed over would make other numbers of the rest.
            bail!("it has a tensor `{name}`, and no model of `{}` that runs here has one", shape.family)
        }
        Ok(Self { embedding, layers, norm, output, rotation, context: shape.context })
    }

    /// Returns how many tokens a prompt and its answer may have together.
    pub(super) fn context(&self) -> usize {
        self.context
    }

    /// Reads `tokens`, at least one, after the first `read` ones; returns the likelihood (logits) of each to come next.
    ///
    /// What was read from there on before is forgotten.
    pub(super) fn forward(&mut self, tokens: &[u32], read: usize) -> Result<Vec<f32>> {
        let mut state = self.embedding.embedding(&Tensor::new(tokens, &Device::Cpu)?)?;
        let turn = self.rotation.turn(read, tokens.len())?;
        let mask = mask(read, tokens.len())?;
        for layer in &mut self.layers {
            state = layer.forward(&state, &turn, mask.as_ref(), read)?;
        }
        let last = state.narrow(0, tokens.len() - 1, 1)?;
        self.output.forward(&self.norm.forward(&last)?)?.squeeze(0)?.to_vec1()
    }
}

/// Returns what keeps each of `count` tokens after `read` others from what comes after it; nothing does so for one.
fn mask(read: usize, count: usize) -> Result<Option<Tensor>> {
    if count == 1 {
        return Ok(None);
    }
    let hidden = |row: usize| move |column: usize| if column > read + row { f32::NEG_INFINITY } else { 0.0 };
    let values: Vec<f32> = (0..count).flat_map(|row| (0..read + count).map(hidden(row))).collect();
    Tensor::from_vec(values, (count, read + count), &Device::Cpu).map(Some)
}
