//! The model at work: what it knows, and what it has read.

use std::path::Path;

use super::decoder::Decoder;
use super::dialect::Dialect;
use super::fault;
use super::gguf::Gguf;
use super::grammar::Grammars;
use super::template::Template;
use super::thought::Thoughts;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;

/// How many tokens are read at once: more would take memory with the square of them, and none of it can be cancelled.
const BATCH: usize = 128;

/// A loaded model.
pub(super) struct Engine {
    pub(super) reader: Reader,
    pub(super) vocabulary: Vocabulary,
    pub(super) speech: Speech,
    /// How it speaks of tools, if that is another way.
    pub(super) with_tools: Option<Speech>,
    pub(super) thoughts: Option<Thoughts>,
    pub(super) grammars: Grammars,
}

/// How a model's conversations are written down.
pub(super) struct Speech {
    pub(super) template: Template,
    pub(super) dialect: Dialect,
}

impl Speech {
    fn of(template: Template) -> Result<Self, ProviderError> {
        let dialect = Dialect::of(&template)?;
        Ok(Self { template, dialect })
    }
}

impl Engine {
    /// Loads the model of the file `path`.
    pub(super) fn load(path: &Path) -> Result<Self, ProviderError> {
        let unreadable = |source: candle_core::Error| {
            let said = source.to_string();
            let said = said.lines().next().unwrap_or_default();
            let text = format!("`{}` is not a model file that can be read; fetch it anew: {said}", path.display());
            fault::configuration(text).with_source(source)
        };
        let mut file = Gguf::open(path).map_err(unreadable)?;
        let vocabulary = Vocabulary::read(&file)?;
        let speech = Speech::of(Template::read(&file, &vocabulary)?)?;
        // One that fails, or whose calls have no form that could be kept to, is of no use.
        let with_tools = Template::with_tools(&file, &vocabulary).and_then(|template| Speech::of(template.ok()?).ok());
        let with_tools = with_tools.filter(|speech| speech.dialect.calls.is_some());
        let decoder = Decoder::read(&mut file, vocabulary.pieces().len()).map_err(unreadable)?;
        Ok(Self {
            reader: Reader { decoder, tokens: Vec::new() },
            grammars: Grammars::new(&vocabulary)?,
            thoughts: Thoughts::of(&vocabulary),
            vocabulary,
            speech,
            with_tools,
        })
    }
}

/// A model's weights, and the conversation that they read last.
pub(super) struct Reader {
    decoder: Decoder,
    tokens: Vec<u32>,
}

impl Reader {
    /// Returns how many tokens a prompt and its answer may have together.
    pub(super) fn context(&self) -> usize {
        self.decoder.context()
    }

    /// Forgets all that is not the beginning of `prompt`; returns how many of its tokens need not be read again.
    pub(super) fn recall(&mut self, prompt: &[u32]) -> usize {
        let same = self.tokens.iter().zip(prompt).take_while(|(known, token)| known == token).count();
        // The last token is read anew even if it is known: what follows it is not remembered.
        self.tokens.truncate(same.min(prompt.len().saturating_sub(1)));
        self.tokens.len()
    }

    /// Reads `tokens`, at least one; returns the likelihood (logits) of each token to come next.
    ///
    /// What was read before nobody wanted it any more is remembered.
    pub(super) fn feed(&mut self, tokens: &[u32], wanted: impl Fn() -> bool) -> Result<Vec<f32>, ProviderError> {
        let mut last = None;
        for batch in tokens.chunks(BATCH) {
            if !wanted() {
                return Err(fault::cancelled());
            }
            match self.decoder.forward(batch, self.tokens.len()) {
                Ok(logits) => last = Some(logits),
                Err(source) => {
                    self.tokens.clear();
                    return Err(fault::arithmetic(source));
                }
            }
            self.tokens.extend_from_slice(batch);
        }
        last.ok_or_else(|| fault::broken("nothing to read"))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::{BATCH, Engine};
    use crate::error::ErrorKind;
    use crate::local::tiny::{Tiny, Value, Written, bytes};

    fn tiny(family: &str) -> Tiny {
        Tiny::of_bytes(family, bytes(&["<|im_start|>", "<|im_end|>"], &["<think>"]))
    }

    /// A model whose every product has something added to it.
    fn biased() -> Tiny {
        let products = [
            ("attn_q", 32),
            ("attn_k", 16),
            ("attn_v", 16),
            ("attn_output", 32),
            ("ffn_gate", 48),
            ("ffn_up", 48),
            ("ffn_down", 32),
        ];
        let names = (0..2).flat_map(|layer| products.map(|(name, size)| (format!("blk.{layer}.{name}.bias"), size)));
        names.fold(tiny("llama"), |tiny, (name, size)| tiny.with_chance(&name, &[size]))
    }

    fn load(tiny: &Tiny) -> Engine {
        Engine::load(&tiny.write().0).expect("the file is sound")
    }

    /// Reads what of `prompt` is not remembered, in pieces of `size`; returns how much was, and what comes next.
    fn read(engine: &mut Engine, prompt: &[u32], size: usize) -> (usize, Vec<f32>) {
        let remembered = engine.reader.recall(prompt);
        let mut logits = Vec::new();
        for piece in prompt[remembered..].chunks(size) {
            logits = engine.reader.feed(piece, || true).expect("the model can be computed");
        }
        (remembered, logits)
    }

    fn difference(one: &[f32], other: &[f32]) -> f32 {
        one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn how_a_prompt_is_cut_up_and_what_was_read_before_changes_nothing() {
        for family in ["llama", "qwen2", "qwen3"] {
            let prompt: Vec<u32> = (3..250).chain(100..230).collect();
            let (_, whole) = read(&mut load(&tiny(family)), &prompt, prompt.len());
            let mut engine = load(&tiny(family));
            let other: Vec<u32> = prompt.iter().take(200).chain(&[7; 150]).copied().collect();
            assert_eq!(read(&mut engine, &other, 13).0, 0);
            let (remembered, pieces) = read(&mut engine, &prompt, 1);
            assert_eq!(remembered, 200, "{family}: what is the same is not read again");
            assert!(difference(&whole, &pieces) < 1e-4, "{family}: {}", difference(&whole, &pieces));
            assert_eq!(read(&mut engine, &prompt, 9).0, prompt.len() - 1, "{family}: only the last token is read");
        }
    }

    #[test]
    fn a_prompt_that_nobody_wants_is_not_read_to_its_end_and_what_was_read_is_remembered() {
        let mut engine = load(&tiny("llama"));
        let prompt = vec![9; 5 * BATCH];
        let asked = Cell::new(0);
        let wanted = || {
            asked.set(asked.get() + 1);
            asked.get() <= 2
        };
        let error = engine.reader.feed(&prompt, wanted).expect_err("nobody wants it");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(engine.reader.recall(&prompt), 2 * BATCH);
    }

    /// The six likeliest tokens after the prompt below, as llama.cpp has them for the same files: its server in the package
    /// `xllamacpp` 2026.10.11549, asked for `n_probs`.
    #[test]
    fn what_comes_next_is_what_llama_cpp_says() {
        let scaled = tiny("llama")
            .with("llama.rope.scaling.type", Value::Text("linear".into()))
            .with("llama.rope.scaling.factor", Value::Number(4.0));
        let divided = tiny("llama").with_tensor("rope_freqs.weight", &[4], vec![1.0, 1.5, 2.0, 8.0]);
        let expected = [
            (tiny("llama"), [(149, -4.280_5), (217, -4.383_6), (132, -4.455_3), (176, -4.484_5), (135, -4.501_1)]),
            (biased(), [(244, -4.244_0), (140, -4.380_3), (162, -4.416_8), (173, -4.433_6), (156, -4.452_9)]),
            (tiny("qwen2"), [(140, -4.322_6), (162, -4.346_6), (244, -4.380_9), (173, -4.488_0), (205, -4.511_3)]),
            (tiny("qwen3"), [(217, -4.224_2), (176, -4.409_8), (102, -4.413_9), (149, -4.473_1), (132, -4.494_1)]),
            (divided, [(149, -4.307_8), (217, -4.334_1), (176, -4.451_2), (132, -4.480_5), (135, -4.485_7)]),
            (scaled, [(149, -4.258_9), (132, -4.327_1), (217, -4.341_1), (135, -4.444_5), (176, -4.478_0)]),
        ];
        let prompt: Vec<u32> = (3..40).chain(60..90).collect();
        for (tiny, expected) in expected {
            let (_, logits) = read(&mut load(&tiny), &prompt, prompt.len());
            let total = logits.iter().map(|logit| logit.exp()).sum::<f32>().ln();
            let mut chances: Vec<_> = (0..).zip(&logits).map(|(token, logit)| (token, logit - total)).collect();
            chances.sort_by(|one, other| other.1.total_cmp(&one.1));
            for ((token, chance), (wanted, told)) in chances.into_iter().zip(expected) {
                assert_eq!(token, wanted);
                assert!((chance - told).abs() < 5e-4, "{token}: {chance}, not {told}");
            }
        }
    }

    #[test]
    fn divisors_of_the_paces_are_heeded() {
        let prompt: Vec<u32> = (3..60).collect();
        let logits = |tiny: &Tiny| read(&mut load(tiny), &prompt, 99).1;
        let plain = logits(&tiny("llama"));
        let ones = logits(&tiny("llama").with_tensor("rope_freqs.weight", &[4], vec![1.0; 4]));
        let divided = logits(&tiny("llama").with_tensor("rope_freqs.weight", &[4], vec![1.0, 1.0, 2.0, 8.0]));
        assert!(difference(&plain, &ones) < 1e-6);
        assert!(difference(&plain, &divided) > 1e-4);
        let stretched = tiny("llama")
            .with("llama.rope.scaling.type", Value::Text("linear".into()))
            .with("llama.rope.scaling.factor", Value::Number(4.0));
        assert!(difference(&plain, &logits(&stretched)) > 1e-4);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

        /// No panic, no gigabytes: an error, or a model.
        #[test]
        fn any_file_is_a_model_or_an_error(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), kept in any::<Option<prop::sample::Index>>()) {
            let (mut bytes, header) = tiny("qwen2").bytes();
            for (place, byte) in changes {
                bytes[place.index(header)] = byte;
            }
            if let Some(kept) = kept {
                bytes.truncate(kept.index(bytes.len()));
            }
            let _ = Engine::load(&Written::new(&bytes).0);
        }
    }
}
