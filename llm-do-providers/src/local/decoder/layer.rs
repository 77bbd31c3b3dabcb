//! One layer: self-attention and a feed-forward network.

use candle_core::quantized::QMatMul;
use candle_core::{Device, Module as _, Result, Tensor};
use candle_nn::RmsNorm;

use super::attention::Attention;
use super::config::Config;
use super::rotary::RotaryAngles;
use crate::local::gguf::Gguf;

/// A layer's weights and KV cache.
pub(super) struct Layer {
    attention_norm: RmsNorm,
    attention: Attention,
    feed_forward_norm: RmsNorm,
    gate: Linear,
    up: Linear,
    down: Linear,
}

/// A linear map with an optional bias.
pub(super) struct Linear {
    matrix: QMatMul,
    bias: Option<Tensor>,
}

impl Layer {
    /// Reads the weights of the layer `index`.
    pub(super) fn read(file: &mut Gguf, index: usize, config: &Config) -> Result<Self> {
        let name = |part: &str| format!("blk.{index}.{part}");
        Ok(Self {
            attention_norm: norm(file, &name("attn_norm.weight"), config.hidden_size, config)?,
            attention: Attention::read(file, index, config)?,
            feed_forward_norm: norm(file, &name("ffn_norm.weight"), config.hidden_size, config)?,
            gate: Linear::read(file, &name("ffn_gate"), [config.intermediate_size, config.hidden_size])?,
            up: Linear::read(file, &name("ffn_up"), [config.intermediate_size, config.hidden_size])?,
            down: Linear::read(file, &name("ffn_down"), [config.hidden_size, config.intermediate_size])?,
        })
    }

    /// Returns the output for `state`, the tokens after the first `offset` cached ones.
    pub(super) fn forward(
        &mut self,
        state: &Tensor,
        angles: &RotaryAngles,
        mask: Option<&Tensor>,
        offset: usize,
    ) -> Result<Tensor> {
        let state = (state + self.attention.forward(&self.attention_norm.forward(state)?, angles, mask, offset)?)?;
        let inner = self.feed_forward_norm.forward(&state)?;
        let inner = (self.gate.forward(&inner)?.silu()? * self.up.forward(&inner)?)?;
        state + self.down.forward(&inner)?
    }
}

impl Linear {
    /// Reads the tensors `name`; the matrix must have the shape `sizes`.
    pub(super) fn read(file: &mut Gguf, name: &str, sizes: [usize; 2]) -> Result<Self> {
        let bias = format!("{name}.bias");
        Ok(Self {
            matrix: QMatMul::from_qtensor(file.tensor(&format!("{name}.weight"), &sizes)?)?,
            bias: file.has(&bias).then(|| vector(file, &bias, sizes[0])).transpose()?,
        })
    }

    pub(super) fn forward(&self, state: &Tensor) -> Result<Tensor> {
        let output = self.matrix.forward(state)?;
        self.bias.as_ref().map_or_else(|| Ok(output.clone()), |bias| output.broadcast_add(bias))
    }
}

/// Reads the vector `name` of `size` elements.
fn vector(file: &mut Gguf, name: &str, size: usize) -> Result<Tensor> {
    file.tensor(name, &[size])?.dequantize(&Device::Cpu)
}

/// Reads the norm `name` of `size` elements.
pub(super) fn norm(file: &mut Gguf, name: &str, size: usize, config: &Config) -> Result<RmsNorm> {
    Ok(RmsNorm::new(vector(file, name, size)?, config.rms_norm_eps))
}
