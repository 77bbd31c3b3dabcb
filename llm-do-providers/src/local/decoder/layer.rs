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
    gate: QMatMul,
    up: QMatMul,
    down: QMatMul,
}

impl Layer {
    /// Reads the weights of the layer at `place`.
    pub(super) fn read(file: &mut Gguf, place: usize, shape: &Shape) -> Result<Self> {
        let name = |part: &str| format!("blk.{place}.{part}.weight");
        Ok(Self {
            before: norm(file, &name("attn_norm"), shape.width, shape)?,
            attention: Attention::read(file, place, shape)?,
            between: norm(file, &name("ffn_norm"), shape.width, shape)?,
            gate: matrix(file, &name("ffn_gate"), [shape.inner, shape.width])?,
            up: matrix(file, &name("ffn_up"), [shape.inner, shape.width])?,
            down: matrix(file, &name("ffn_down"), [shape.width, shape.inner])?,
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

/// Reads the matrix `name`, of the sizes `sizes`.
pub(super) fn matrix(file: &mut Gguf, name: &str, sizes: [usize; 2]) -> Result<QMatMul> {
    QMatMul::from_qtensor(file.tensor(name, &sizes)?)
}

/// Reads the vector `name` of `size` numbers.
pub(super) fn vector(file: &mut Gguf, name: &str, size: usize) -> Result<Tensor> {
    file.tensor(name, &[size])?.dequantize(&Device::Cpu)
}

/// Reads the norm `name` of `size` numbers.
pub(super) fn norm(file: &mut Gguf, name: &str, size: usize, shape: &Shape) -> Result<RmsNorm> {
    Ok(RmsNorm::new(vector(file, name, size)?, shape.epsilon))
}
