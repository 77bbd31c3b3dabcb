//! Rotary position embedding (`RoPE`).

use candle_core::{D, Device, Result, Tensor, bail};

use super::config::Config;
use crate::local::gguf::Gguf;

/// The rotation frequency of each pair of elements.
#[derive(Debug)]
pub(super) struct RotaryEmbedding {
    frequencies: Vec<f32>,
    is_neox: bool,
}

/// The rotation angles of a range of positions.
pub(super) struct RotaryAngles {
    cos: Tensor,
    sin: Tensor,
    is_neox: bool,
}

impl RotaryEmbedding {
    /// Reads the frequencies of a model with the sizes `config`.
    ///
    /// Models whose context was extended in training, such as Llama 3.1, have a divisor for each frequency
    /// (`rope_freqs`).
    pub(super) fn read(file: &mut Gguf, config: &Config) -> Result<Self> {
        let key = |key: &str| format!("{}.rope.{key}", config.architecture);
        let base = file.number(&key("freq_base")).unwrap_or(10_000.0);
        let factor = match file.text(&key("scaling.type")).unwrap_or("none") {
            "none" => 1.0,
            "linear" => file.number(&key("scaling.factor")).filter(|factor| *factor > 0.0).unwrap_or(1.0),
            other => bail!("unsupported RoPE scaling `{other}`: expected `none` or `linear`"),
        };
        let pairs = config.head_dim / 2;
        let divisors = if file.has("rope_freqs.weight") {
            file.tensor("rope_freqs.weight", &[pairs])?.dequantize(&Device::Cpu)?.to_vec1()?
        } else {
            vec![1.0_f32; pairs]
        };
        #[expect(clippy::cast_precision_loss, reason = "a head has a few hundred dimensions")]
        let frequency =
            |(pair, divisor): (usize, f32)| base.powf(-(2.0 * pair as f32) / config.head_dim as f32) / divisor / factor;
        let frequencies = divisors.into_iter().enumerate().map(frequency).collect();
        Ok(Self { frequencies, is_neox: config.is_neox })
    }

    /// Returns the angles of `count` tokens after the first `offset` tokens.
    pub(super) fn angles(&self, offset: usize, count: usize) -> Result<RotaryAngles> {
        #[expect(clippy::cast_precision_loss, reason = "a context has a few thousand tokens")]
        let angles = (offset..offset + count)
            .flat_map(|position| self.frequencies.iter().map(move |frequency| position as f32 * frequency));
        let angles = Tensor::from_vec(angles.collect::<Vec<_>>(), (count, self.frequencies.len()), &Device::Cpu)?;
        Ok(RotaryAngles { cos: angles.cos()?, sin: angles.sin()?, is_neox: self.is_neox })
    }
}

impl RotaryAngles {
    /// Rotates `heads`, of shape (heads, tokens, head dimension).
    pub(super) fn rotate(&self, heads: &Tensor) -> Result<Tensor> {
        let heads = heads.unsqueeze(0)?.contiguous()?;
        let rope = if self.is_neox { candle_nn::rotary_emb::rope } else { candle_nn::rotary_emb::rope_i };
        debug_assert_eq!(heads.dim(D::Minus1)?, 2 * self.cos.dim(D::Minus1)?);
        rope(&heads, &self.cos, &self.sin)?.squeeze(0)
    }
}
