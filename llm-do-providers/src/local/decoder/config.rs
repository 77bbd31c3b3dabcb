//! The hyperparameters of a model.

use candle_core::{Result, bail};

use crate::local::gguf::Gguf;

/// The maximum context length, for any model file: a longer one takes gigabytes, and hours.
const MAX_CONTEXT: usize = 1 << 15;

/// A supported model architecture.
struct Architecture {
    /// The value of `general.architecture`.
    name: &'static str,
    /// Whether the rotary embedding pairs element `i` with `i + head_dim / 2` (the layout of GPT-NeoX) instead of
    /// neighbouring elements: as in llama.cpp (`llama_model_rope_type`,
    /// <https://github.com/ggml-org/llama.cpp/blob/master/src/llama-model.cpp>).
    is_neox: bool,
    /// Tensors of each layer that identify the architecture.
    required_tensors: &'static [&'static str],
}

/// The supported architectures; files of Mistral and `SmolLM` models have `llama`.
const ARCHITECTURES: [Architecture; 3] = [
    Architecture { name: "llama", is_neox: false, required_tensors: &[] },
    Architecture { name: "qwen2", is_neox: true, required_tensors: &["attn_q.bias", "attn_k.bias", "attn_v.bias"] },
    Architecture { name: "qwen3", is_neox: true, required_tensors: &["attn_q_norm.weight", "attn_k_norm.weight"] },
];

/// The hyperparameters of a model, checked to be positive and consistent.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) architecture: String,
    pub(super) layers: usize,
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) heads: usize,
    /// The number of key and value heads; several query heads share one.
    pub(super) kv_heads: usize,
    pub(super) head_dim: usize,
    pub(super) context_length: usize,
    pub(super) rms_norm_eps: f64,
    pub(super) is_neox: bool,
}

impl Config {
    /// Reads the hyperparameters from a header.
    pub(super) fn read(file: &Gguf) -> Result<Self> {
        let architecture = architecture(file)?;
        let name = architecture.name;
        let required = |key: &str| match file.required_count(&format!("{name}.{key}"))? {
            0 => bail!("`{name}.{key}` is 0: expected a positive number"),
            count => Ok(count),
        };
        let optional = |key: &str| file.count(&format!("{name}.{key}"));
        let (hidden_size, heads) = (required("embedding_length")?, required("attention.head_count")?);
        let head_dim = optional("attention.key_length").unwrap_or(hidden_size / heads);
        let config = Self {
            architecture: name.to_owned(),
            layers: required("block_count")?,
            hidden_size,
            intermediate_size: required("feed_forward_length")?,
            heads,
            kv_heads: optional("attention.head_count_kv").unwrap_or(heads),
            head_dim,
            context_length: required("context_length")?.min(MAX_CONTEXT),
            rms_norm_eps: file.number(&format!("{name}.attention.layer_norm_rms_epsilon")).unwrap_or(1e-5).into(),
            is_neox: architecture.is_neox,
        };
        let value_dim = optional("attention.value_length").unwrap_or(head_dim);
        let rotary_dim = optional("rope.dimension_count").unwrap_or(head_dim);
        if optional("expert_count").unwrap_or(0) > 0 {
            bail!("unsupported model: it is a mixture of experts, and only dense models are supported")
        }
        if (value_dim, rotary_dim) != (head_dim, head_dim) || !config.is_consistent() {
            bail!("inconsistent model sizes in the header: {config:?}")
        }
        Ok(config)
    }

    fn is_consistent(&self) -> bool {
        let positive = [self.head_dim, self.kv_heads].iter().all(|size| *size > 0);
        positive
            && self.heads.is_multiple_of(self.kv_heads)
            && self.head_dim.is_multiple_of(2)
            && self.heads.checked_mul(self.head_dim).is_some()
    }
}

/// Returns the architecture of a model.
fn architecture(file: &Gguf) -> Result<&'static Architecture> {
    let name = file.text("general.architecture").unwrap_or_default();
    let Some(architecture) = ARCHITECTURES.iter().find(|architecture| architecture.name == name) else {
        let known = ARCHITECTURES.map(|architecture| format!("`{}`", architecture.name)).join(", ");
        bail!("unsupported architecture `{name}`: expected one of {known}")
    };
    if let Some(tensor) = architecture.required_tensors.iter().find(|tensor| !file.has(&format!("blk.0.{tensor}"))) {
        bail!("missing tensor `blk.0.{tensor}`, which every `{name}` model has")
    }
    Ok(architecture)
}
