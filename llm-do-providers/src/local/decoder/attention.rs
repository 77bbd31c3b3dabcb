//! Causal self-attention with a KV cache.

use candle_core::{DType, Device, Module as _, Result, Tensor};
use candle_nn::RmsNorm;
use candle_nn::ops::softmax_last_dim;

use super::config::Config;
use super::layer::{Linear, norm};
use super::rotary::RotaryAngles;
use crate::local::gguf::Gguf;

/// The initial capacity of a KV cache, in tokens.
const INITIAL_CAPACITY: usize = 256;

/// The self-attention of a layer, with grouped queries.
pub(super) struct Attention {
    queries: Projection,
    keys: Projection,
    values: Projection,
    output: Linear,
    scale: f64,
    cache: Option<KvCache>,
}

impl Attention {
    /// Reads the weights of the layer `index`.
    pub(super) fn read(file: &mut Gguf, index: usize, config: &Config) -> Result<Self> {
        let output = format!("blk.{index}.attn_output");
        #[expect(clippy::cast_precision_loss, reason = "a head has a few hundred dimensions")]
        let scale = 1.0 / (config.head_dim as f64).sqrt();
        Ok(Self {
            queries: Projection::read(file, &format!("blk.{index}.attn_q"), config.heads, config)?,
            keys: Projection::read(file, &format!("blk.{index}.attn_k"), config.kv_heads, config)?,
            values: Projection::read(file, &format!("blk.{index}.attn_v"), config.kv_heads, config)?,
            output: Linear::read(file, &output, [config.hidden_size, config.heads * config.head_dim])?,
            scale,
            cache: None,
        })
    }

    /// Returns the attention output of `state`, the tokens after the first `offset` cached ones.
    pub(super) fn forward(
        &mut self,
        state: &Tensor,
        angles: &RotaryAngles,
        mask: Option<&Tensor>,
        offset: usize,
    ) -> Result<Tensor> {
        let queries = angles.rotate(&self.queries.forward(state)?)?;
        let keys = angles.rotate(&self.keys.forward(state)?)?;
        let values = self.values.forward(state)?.contiguous()?;
        let (heads, count, head_dim) = queries.dims3()?;
        let (keys, values) = with_capacity(&mut self.cache, &keys, offset)?.extend(&keys, &values, offset)?;
        let (key_heads, total, _) = keys.dims3()?;
        // Query heads that share a key head become further rows of it, so that no key is copied.
        let group = heads / key_heads;
        let scores = (queries * self.scale)?.reshape((key_heads, group * count, head_dim))?.matmul(&keys.t()?)?;
        let scores = match mask {
            None => scores,
            Some(mask) => scores.reshape((key_heads * group, count, total))?.broadcast_add(mask)?,
        };
        let weights = softmax_last_dim(&scores.reshape((key_heads, group * count, total))?)?;
        let mixed = weights.matmul(&values)?.reshape((heads, count, head_dim))?.transpose(0, 1)?;
        self.output.forward(&mixed.reshape((count, heads * head_dim))?)
    }
}

/// The projection of a hidden state to queries, keys or values.
struct Projection {
    linear: Linear,
    norm: Option<RmsNorm>,
    heads: usize,
    head_dim: usize,
}

impl Projection {
    /// Reads the tensors `name` of `heads` heads.
    fn read(file: &mut Gguf, name: &str, heads: usize, config: &Config) -> Result<Self> {
        let size = heads * config.head_dim;
        let norm_name = format!("{name}_norm.weight");
        Ok(Self {
            linear: Linear::read(file, name, [size, config.hidden_size])?,
            norm: file.has(&norm_name).then(|| norm(file, &norm_name, config.head_dim, config)).transpose()?,
            heads,
            head_dim: config.head_dim,
        })
    }

    /// Returns a tensor of shape (heads, tokens, head dimension).
    fn forward(&self, state: &Tensor) -> Result<Tensor> {
        let projected = self.linear.forward(state)?;
        let projected = projected.reshape((projected.dim(0)?, self.heads, self.head_dim))?;
        let projected = self.norm.as_ref().map_or_else(|| Ok(projected.clone()), |norm| norm.forward(&projected))?;
        projected.transpose(0, 1)
    }
}

/// The keys and values of earlier tokens, with spare capacity.
struct KvCache {
    keys: Tensor,
    values: Tensor,
}

/// Returns `cache` with capacity for `more` keys after the first `offset` tokens.
fn with_capacity<'a>(cache: &'a mut Option<KvCache>, more: &Tensor, offset: usize) -> Result<&'a mut KvCache> {
    let (heads, count, head_dim) = more.dims3()?;
    let grown = cache
        .take()
        .map_or_else(|| KvCache::new(heads, offset + count, head_dim), |cache| cache.grow(offset, count))?;
    Ok(cache.insert(grown))
}

impl KvCache {
    fn new(heads: usize, capacity: usize, head_dim: usize) -> Result<Self> {
        let empty = || Tensor::zeros((heads, capacity.max(INITIAL_CAPACITY), head_dim), DType::F32, &Device::Cpu);
        Ok(Self { keys: empty()?, values: empty()? })
    }

    /// Ensures capacity for `count` tokens after the first `offset` ones.
    fn grow(self, offset: usize, count: usize) -> Result<Self> {
        let (heads, capacity, head_dim) = self.keys.dims3()?;
        if offset + count <= capacity {
            return Ok(self);
        }
        let grown = Self::new(heads, (offset + count).max(2 * capacity), head_dim)?;
        grown.keys.slice_set(&self.keys.narrow(1, 0, offset)?.contiguous()?, 1, 0)?;
        grown.values.slice_set(&self.values.narrow(1, 0, offset)?.contiguous()?, 1, 0)?;
        Ok(grown)
    }

    /// Writes keys and values after the first `offset` tokens; returns all up to their end.
    fn extend(&mut self, keys: &Tensor, values: &Tensor, offset: usize) -> Result<(Tensor, Tensor)> {
        self.keys.slice_set(keys, 1, offset)?;
        self.values.slice_set(values, 1, offset)?;
        let total = offset + keys.dim(1)?;
        Ok((self.keys.narrow(1, 0, total)?, self.values.narrow(1, 0, total)?))
    }
}
