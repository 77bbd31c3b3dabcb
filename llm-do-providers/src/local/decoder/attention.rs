//! What each token takes from those before it.

use candle_core::{DType, Device, Module as _, Result, Tensor};
use candle_nn::RmsNorm;
use candle_nn::ops::softmax_last_dim;

use super::layer::{Linear, norm};
use super::rotation::Turn;
use super::shape::Shape;
use crate::local::gguf::Gguf;

/// How many tokens a layer makes room for at least.
const ROOM: usize = 256;

/// The attention of a layer.
pub(super) struct Attention {
    queries: Projection,
    keys: Projection,
    values: Projection,
    output: Linear,
    scale: f64,
    known: Option<Known>,
}

impl Attention {
    /// Reads the weights of the layer at `place`.
    pub(super) fn read(file: &mut Gguf, place: usize, shape: &Shape) -> Result<Self> {
        let output = format!("blk.{place}.attn_output");
        #[expect(clippy::cast_precision_loss, reason = "a head has some hundred numbers")]
        let scale = 1.0 / (shape.head as f64).sqrt();
        Ok(Self {
            queries: Projection::read(file, &format!("blk.{place}.attn_q"), shape.heads, shape)?,
            keys: Projection::read(file, &format!("blk.{place}.attn_k"), shape.key_heads, shape)?,
            values: Projection::read(file, &format!("blk.{place}.attn_v"), shape.key_heads, shape)?,
            output: Linear::read(file, &output, [shape.width, shape.heads * shape.head])?,
            scale,
            known: None,
        })
    }

    /// Returns what the tokens of `state` take, which come after the first `read` ones.
    pub(super) fn forward(
        &mut self,
        state: &Tensor,
        turn: &Turn,
        mask: Option<&Tensor>,
        read: usize,
    ) -> Result<Tensor> {
        let queries = turn.apply(&self.queries.forward(state)?)?;
        let keys = turn.apply(&self.keys.forward(state)?)?;
        let values = self.values.forward(state)?.contiguous()?;
        let (heads, count, head) = queries.dims3()?;
        let (keys, values) = known(&mut self.known, &keys, read)?.extend(&keys, &values, read)?;
        let (key_heads, total, _) = keys.dims3()?;
        // The heads of queries that share a head of keys are taken as more rows for it, so that no key is copied.
        let group = heads / key_heads;
        let scores = (queries * self.scale)?.reshape((key_heads, group * count, head))?.matmul(&keys.t()?)?;
        let scores = match mask {
            None => scores,
            Some(mask) => scores.reshape((key_heads * group, count, total))?.broadcast_add(mask)?,
        };
        let shares = softmax_last_dim(&scores.reshape((key_heads, group * count, total))?)?;
        let taken = shares.matmul(&values)?.reshape((heads, count, head))?.transpose(0, 1)?;
        self.output.forward(&taken.reshape((count, heads * head))?)
    }
}

/// What makes queries, keys or values of a state.
struct Projection {
    linear: Linear,
    norm: Option<RmsNorm>,
    heads: usize,
    head: usize,
}

impl Projection {
    /// Reads the tensors `name` for `heads` heads.
    fn read(file: &mut Gguf, name: &str, heads: usize, shape: &Shape) -> Result<Self> {
        let size = heads * shape.head;
        let even = format!("{name}_norm.weight");
        Ok(Self {
            linear: Linear::read(file, name, [size, shape.width])?,
            norm: file.has(&even).then(|| norm(file, &even, shape.head, shape)).transpose()?,
            heads,
            head: shape.head,
        })
    }

    /// Returns heads, tokens, numbers.
    fn forward(&self, state: &Tensor) -> Result<Tensor> {
        let made = self.linear.forward(state)?;
        let made = made.reshape((made.dim(0)?, self.heads, self.head))?;
        let made = self.norm.as_ref().map_or_else(|| Ok(made.clone()), |norm| norm.forward(&made))?;
        made.transpose(0, 1)
    }
}

/// The keys and values of what was read, with room for more.
struct Known {
    keys: Tensor,
    values: Tensor,
}

/// Returns `known` with room for `more` keys after the first `read` ones.
fn known<'a>(known: &'a mut Option<Known>, more: &Tensor, read: usize) -> Result<&'a mut Known> {
    let (heads, count, head) = more.dims3()?;
    let roomy = known.take().map_or_else(|| Known::new(heads, read + count, head), |known| known.grow(read, count))?;
    Ok(known.insert(roomy))
}

impl Known {
    fn new(heads: usize, room: usize, head: usize) -> Result<Self> {
        let empty = || Tensor::zeros((heads, room.max(ROOM), head), DType::F32, &Device::Cpu);
        Ok(Self { keys: empty()?, values: empty()? })
    }

    /// Makes room for `count` tokens after the first `read` ones.
    fn grow(self, read: usize, count: usize) -> Result<Self> {
        let (heads, room, head) = self.keys.dims3()?;
        if read + count <= room {
            return Ok(self);
        }
        let grown = Self::new(heads, (read + count).max(2 * room), head)?;
        grown.keys.slice_set(&self.keys.narrow(1, 0, read)?.contiguous()?, 1, 0)?;
        grown.values.slice_set(&self.values.narrow(1, 0, read)?.contiguous()?, 1, 0)?;
        Ok(grown)
    }

    /// Puts keys and values after the first `read` ones; returns all up to them.
    fn extend(&mut self, keys: &Tensor, values: &Tensor, read: usize) -> Result<(Tensor, Tensor)> {
        self.keys.slice_set(keys, 1, read)?;
        self.values.slice_set(values, 1, read)?;
        let total = read + keys.dim(1)?;
        Ok((self.keys.narrow(1, 0, total)?, self.values.narrow(1, 0, total)?))
    }
}
