//! How a token's place is told: by turning pairs of numbers, each pair at a pace of its own.

use candle_core::{D, Device, Result, Tensor, bail};

use super::shape::Shape;
use crate::local::gguf::Gguf;

/// The paces.
#[derive(Debug)]
pub(super) struct Rotation {
    paces: Vec<f32>,
    pairs_halves: bool,
}

/// How far the pairs of some tokens are turned.
pub(super) struct Turn {
    cosines: Tensor,
    sines: Tensor,
    pairs_halves: bool,
}

impl Rotation {
    /// Reads what a header says of the paces; `shape` are the model's sizes.
    ///
    /// Models that were trained on long contexts step by step, such as Llama 3.1, carry a divisor for each pace.
    pub(super) fn read(file: &mut Gguf, shape: &Shape) -> Result<Self> {
        let key = |key: &str| format!("{}.rope.{key}", shape.family);
        let base = file.number(&key("freq_base")).unwrap_or(10_000.0);
        let factor = match file.text(&key("scaling.type")).unwrap_or("none") {
            "none" => 1.0,
            "linear" => file.number(&key("scaling.factor")).filter(|factor| *factor > 0.0).unwrap_or(1.0),
            other => bail!("its rotation is scaled by `{other}`, and only `none` and `linear` run here"),
        };
        let pairs = shape.head / 2;
        let divisors = if file.has("rope_freqs.weight") {
            file.tensor("rope_freqs.weight", &[pairs])?.dequantize(&Device::Cpu)?.to_vec1()?
        } else {
            vec![1.0_f32; pairs]
        };
        #[expect(clippy::cast_precision_loss, reason = "a head has some hundred numbers")]
        let pace =
            |(pair, divisor): (usize, f32)| base.powf(-(2.0 * pair as f32) / shape.head as f32) / divisor / factor;
        let paces = divisors.into_iter().enumerate().map(pace).collect();
        Ok(Self { paces, pairs_halves: shape.pairs_halves })
    }

    /// Returns how far `count` tokens are turned that come after `read` others.
    pub(super) fn turn(&self, read: usize, count: usize) -> Result<Turn> {
        #[expect(clippy::cast_precision_loss, reason = "a context has some thousand tokens")]
        let angles = (read..read + count).flat_map(|place| self.paces.iter().map(move |pace| place as f32 * pace));
        let angles = Tensor::from_vec(angles.collect::<Vec<_>>(), (count, self.paces.len()), &Device::Cpu)?;
        Ok(Turn { cosines: angles.cos()?, sines: angles.sin()?, pairs_halves: self.pairs_halves })
    }
}

impl Turn {
    /// Turns `heads`, of the sizes heads, tokens, numbers.
    pub(super) fn apply(&self, heads: &Tensor) -> Result<Tensor> {
        let heads = heads.unsqueeze(0)?.contiguous()?;
        let turn = if self.pairs_halves { candle_nn::rotary_emb::rope } else { candle_nn::rotary_emb::rope_i };
        debug_assert_eq!(heads.dim(D::Minus1)?, 2 * self.cosines.dim(D::Minus1)?);
        turn(&heads, &self.cosines, &self.sines)?.squeeze(0)
    }
}
