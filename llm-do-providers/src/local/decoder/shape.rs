//! The sizes of a model.

use candle_core::{Result, bail};

use crate::local::gguf::Gguf;

/// How many tokens a prompt and its answer may have together, whatever a file says: more take gigabytes, and hours.
const LONGEST: usize = 1 << 15;

/// A family of models that differ in their sizes alone.
struct Family {
    /// Its name in the header.
    name: &'static str,
    /// Whether a rotation pairs a number with the one half a head away, not with its neighbour. What is what is in
    /// llama.cpp (`llama_model_rope_type`, <https://github.com/ggml-org/llama.cpp/blob/master/src/llama-model.cpp>).
    pairs_halves: bool,
    /// The tensors of each layer without which it would be another family.
    marks: &'static [&'static str],
}

/// The families that run here; Mistral's and `SmolLM`'s models say `llama`.
const FAMILIES: [Family; 3] = [
    Family { name: "llama", pairs_halves: false, marks: &[] },
    Family { name: "qwen2", pairs_halves: true, marks: &["attn_q.bias", "attn_k.bias", "attn_v.bias"] },
    Family { name: "qwen3", pairs_halves: true, marks: &["attn_q_norm.weight", "attn_k_norm.weight"] },
];

/// The sizes of a model, all above 0 and fitting each other.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) family: String,
    pub(super) layers: usize,
    pub(super) width: usize,
    pub(super) inner: usize,
    pub(super) heads: usize,
    /// Heads of keys and values, each of which several heads of queries share.
    pub(super) key_heads: usize,
    pub(super) head: usize,
    pub(super) context: usize,
    pub(super) epsilon: f64,
    pub(super) pairs_halves: bool,
}

impl Shape {
    /// Reads the sizes from a header.
    pub(super) fn read(file: &Gguf) -> Result<Self> {
        let family = family(file)?;
        let name = family.name;
        let wanted = |key: &str| match file.wanted(&format!("{name}.{key}"))? {
            0 => bail!("`{name}.{key}` is 0"),
            count => Ok(count),
        };
        let optional = |key: &str| file.count(&format!("{name}.{key}"));
        let (width, heads) = (wanted("embedding_length")?, wanted("attention.head_count")?);
        let head = optional("attention.key_length").unwrap_or(width / heads);
        let shape = Self {
            family: name.to_owned(),
            layers: wanted("block_count")?,
            width,
            inner: wanted("feed_forward_length")?,
            heads,
            key_heads: optional("attention.head_count_kv").unwrap_or(heads),
            head,
            context: wanted("context_length")?.min(LONGEST),
            epsilon: file.number(&format!("{name}.attention.layer_norm_rms_epsilon")).unwrap_or(1e-5).into(),
            pairs_halves: family.pairs_halves,
        };
        let value = optional("attention.value_length").unwrap_or(head);
        let rotated = optional("rope.dimension_count").unwrap_or(head);
        if optional("expert_count").unwrap_or(0) > 0 {
            bail!("it is a mixture of experts, which does not run here")
        }
        if (value, rotated) != (head, head) || !shape.is_sound() {
            bail!("its sizes do not fit each other: {shape:?}")
        }
        Ok(shape)
    }

    fn is_sound(&self) -> bool {
        let sizes = [self.head, self.key_heads].iter().all(|size| *size > 0);
        sizes
            && self.heads.is_multiple_of(self.key_heads)
            && self.head.is_multiple_of(2)
            && self.heads.checked_mul(self.head).is_some()
    }
}

/// Returns the family of a model.
fn family(file: &Gguf) -> Result<&'static Family> {
    let name = file.text("general.architecture").unwrap_or_default();
    let Some(family) = FAMILIES.iter().find(|family| family.name == name) else {
        let known = FAMILIES.map(|family| format!("`{}`", family.name)).join(", ");
        bail!("its architecture is `{name}`, and only these run here: {known}")
    };
    if let Some(mark) = family.marks.iter().find(|mark| !file.has(&format!("blk.0.{mark}"))) {
        bail!("there is no tensor `blk.0.{mark}`, which every model of `{name}` has")
    }
    Ok(family)
}
