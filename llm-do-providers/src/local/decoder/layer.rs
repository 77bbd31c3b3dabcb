//! One layer: what each token takes from those before it, and what it makes of it.

use candle_core::quantized::QMatMul;
use candle_core::{Device, Module as _, Result, Tensor};
use candle_nn::RmsNorm;

use super::attention::Attention;
use super::rotation::Turn;
use super::shape::Shape;
use crate::local::gguf::Gguf;

/// A layer's weights, and what it has read.
pub(super) struct Layer {
    before: RmsNorm,
    attention: Attention,
    between: RmsNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// A product with a matrix, and what is added to it.
pub(super) struct Linear {
    matrix: QMatMul,
    bias: Option<Tensor>,
}

impl Layer {
    /// Reads the weights of the layer at `place`.
    pub(super) fn read(file: &mut Gguf, place: usize, shape: &Shape) -> Result<Self> {
        let name = |part: &str| format!("blk.{place}.{part}");
        Ok(Self {
            before: norm(file, &name("attn_norm.weight"), shape.width, shape)?,
            attention: Attention::read(file, place, shape)?,
            between: norm(file, &name("ffn_norm.weight"), shape.width, shape)?,
            gate: Linear::read(file, &name("ffn_gate"), [shape.inner, shape.width])?,
            up: Linear::read(file, &name("ffn_up"), [shape.inner, shape.width])?,
            down: Linear::read(file, &name("ffn_down"), [shape.width, shape.inner])?,
        })
    }

    /// Returns what becomes of `state`, the tokens after the first `read` ones.
    pub(super) fn forward(
        &mut self,
        state: &Tensor,
        turn: &Turn,
        mask: Option<&Tensor>,
        read: usize,
    ) -> Result<Tensor> {
        let state = (state + self.attention.forward(&self.before.forward(state)?, turn, mask, read)?)?;
        let inner = self.between.forward(&state)?;
        let inner = (self.gate.forward(&inner)?.silu()? * self.up.forward(&inner)?)?;
        state + self.down.forward(&inner)?
    }
}

impl Linear {
    /// Reads the tensors `name`, of which that of the matrix has the sizes `sizes`.
    pub(super) fn read(file: &mut Gguf, name: &str, sizes: [usize; 2]) -> Result<Self> {
        let bias = format!("{name}.bias");
        Ok(Self {
            matrix: QMatMul::from_qtensor(file.tensor(&format!("{name}.weight"), &sizes)?)?,
            bias: file.has(&bias).then(|| vector(file, &bias, sizes[0])).transpose()?,
        })
    }

    pub(super) fn forward(&self, state: &Tensor) -> Result<Tensor> {
        let made = self.matrix.forward(state)?;
        self.bias.as_ref().map_or_else(|| Ok(made.clone()), |bias| made.broadcast_add(bias))
    }
}

/// Reads the vector `name` of `size` numbers.
fn vector(file: &mut Gguf, name: &str, size: usize) -> Result<Tensor> {
    file.tensor(name, &[size])?.dequantize(&Device::Cpu)
}

/// Reads the norm `name` of `size` numbers.
pub(super) fn norm(file: &mut Gguf, name: &str, size: usize, shape: &Shape) -> Result<RmsNorm> {
    Ok(RmsNorm::new(vector(file, name, size)?, shape.epsilon))
}
