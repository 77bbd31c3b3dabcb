//! A loaded model: tokenizer, chat templates, decoder and grammars.

use std::path::Path;

use super::capabilities::TemplateCapabilities;
use super::decoder::Decoder;
use super::fault;
use super::gguf::Gguf;
use super::grammar::GrammarCompiler;
use super::template::Template;
use super::thinking::ThinkTokens;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;

/// The maximum number of tokens per forward pass: memory grows with its square, and a pass cannot be cancelled.
const BATCH: usize = 128;

/// A loaded model.
pub(super) struct Engine {
    pub(super) decoder: CachedDecoder,
    pub(super) vocabulary: Vocabulary,
    pub(super) chat: ChatFormat,
    /// The template for conversations with tools, if the file has a separate one.
    pub(super) tool_chat: Option<ChatFormat>,
    pub(super) think_tokens: Option<ThinkTokens>,
    pub(super) grammars: GrammarCompiler,
}

/// A chat template and its capabilities.
pub(super) struct ChatFormat {
    pub(super) template: Template,
    pub(super) capabilities: TemplateCapabilities,
}

impl ChatFormat {
    fn new(template: Template) -> Result<Self, ProviderError> {
        let capabilities = TemplateCapabilities::detect(&template)?;
        Ok(Self { template, capabilities })
    }
}

impl Engine {
    /// Loads the model from the file `path`.
    pub(super) fn load(path: &Path) -> Result<Self, ProviderError> {
        let unreadable = |source: candle_core::Error| {
            let reason = source.to_string();
            let reason = reason.lines().next().unwrap_or_default();
            let text = format!(
                "`{}` is not a supported model file: {reason}; download it again or use another model",
                path.display()
            );
            fault::configuration(text).with_source(source)
        };
        let mut file = Gguf::open(path).map_err(unreadable)?;
        let vocabulary = Vocabulary::read(&file)?;
        let chat = ChatFormat::new(Template::read(&file, &vocabulary)?)?;
        // A template that fails, or without a supported tool call format, is ignored.
        let tool_chat =
            Template::with_tools(&file, &vocabulary).and_then(|template| ChatFormat::new(template.ok()?).ok());
        let tool_chat = tool_chat.filter(|chat| chat.capabilities.tool_calls.is_some());
        let decoder = Decoder::read(&mut file, vocabulary.token_bytes().len()).map_err(unreadable)?;
        Ok(Self {
            decoder: CachedDecoder { decoder, tokens: Vec::new() },
            grammars: GrammarCompiler::new(&vocabulary)?,
            think_tokens: ThinkTokens::find(&vocabulary),
            vocabulary,
            chat,
            tool_chat,
        })
    }
}

/// The decoder and the tokens in its KV cache.
pub(super) struct CachedDecoder {
    decoder: Decoder,
    tokens: Vec<u32>,
}

impl CachedDecoder {
    /// Returns the context length: the maximum number of tokens of a prompt and its answer together.
    pub(super) fn context_length(&self) -> usize {
        self.decoder.context_length()
    }

    /// Truncates the KV cache to its common prefix with `prompt`; returns the length of that prefix, in tokens.
    pub(super) fn reuse_prefix(&mut self, prompt: &[u32]) -> usize {
        let common = self.tokens.iter().zip(prompt).take_while(|(cached, token)| cached == token).count();
        // The last token is always evaluated again: its logits are not cached.
        self.tokens.truncate(common.min(prompt.len().saturating_sub(1)));
        self.tokens.len()
    }

    /// Evaluates `tokens`, at least one; returns the logits of the next token.
    ///
    /// Returns a cancellation error once `wanted` is false; the tokens evaluated until then stay cached.
    pub(super) fn evaluate(&mut self, tokens: &[u32], wanted: impl Fn() -> bool) -> Result<Vec<f32>, ProviderError> {
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
        last.ok_or_else(|| fault::internal("no tokens to evaluate"))
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

    /// A model with a bias in every linear map.
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
        Engine::load(&tiny.write().0).expect("the file is valid")
    }

    /// Evaluates the part of `prompt` that is not cached, in chunks of `size`; returns the number of cached tokens
    /// and the logits.
    fn read(engine: &mut Engine, prompt: &[u32], size: usize) -> (usize, Vec<f32>) {
        let cached = engine.decoder.reuse_prefix(prompt);
        let mut logits = Vec::new();
        for piece in prompt[cached..].chunks(size) {
            logits = engine.decoder.evaluate(piece, || true).expect("the model can be computed");
        }
        (cached, logits)
    }

    fn difference(one: &[f32], other: &[f32]) -> f32 {
        one.iter().zip(other).map(|(one, other)| (one - other).abs()).fold(0.0, f32::max)
    }

    #[test]
    fn chunk_size_and_cached_tokens_do_not_change_the_logits() {
        for family in ["llama", "qwen2", "qwen3"] {
            let prompt: Vec<u32> = (3..250).chain(100..230).collect();
            let (_, whole) = read(&mut load(&tiny(family)), &prompt, prompt.len());
            let mut engine = load(&tiny(family));
            let other: Vec<u32> = prompt.iter().take(200).chain(&[7; 150]).copied().collect();
            assert_eq!(read(&mut engine, &other, 13).0, 0);
            let (cached, pieces) = read(&mut engine, &prompt, 1);
            assert_eq!(cached, 200, "{family}: the common prefix is not evaluated again");
            assert!(difference(&whole, &pieces) < 1e-4, "{family}: {}", difference(&whole, &pieces));
            assert_eq!(read(&mut engine, &prompt, 9).0, prompt.len() - 1, "{family}: only the last token is evaluated");
        }
    }

    #[test]
    fn a_cancelled_prompt_stops_early_and_keeps_its_evaluated_tokens() {
        let mut engine = load(&tiny("llama"));
        let prompt = vec![9; 5 * BATCH];
        let polls = Cell::new(0);
        let wanted = || {
            polls.set(polls.get() + 1);
            polls.get() <= 2
        };
        let error = engine.decoder.evaluate(&prompt, wanted).expect_err("the request is cancelled");
        assert_eq!(error.kind(), ErrorKind::Cancelled);
        assert_eq!(engine.decoder.reuse_prefix(&prompt), 2 * BATCH);
    }

    /// The five most likely tokens after the prompt below, as computed by llama.cpp for the same files: its server in
    /// the package
    /// `xllamacpp` 2026.10.11549, with `n_probs`.
    #[test]
    fn logits_agree_with_llama_cpp() {
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
            for ((token, chance), (expected_token, expected_chance)) in chances.into_iter().zip(expected) {
                assert_eq!(token, expected_token);
                assert!((chance - expected_chance).abs() < 5e-4, "{token}: {chance}, not {expected_chance}");
            }
        }
    }

    #[test]
    fn rope_frequency_divisors_and_linear_scaling_are_applied() {
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

        /// Any corruption gives an error or a model: no panic, no huge allocation.
        #[test]
        fn any_file_is_a_model_or_an_error(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), kept in any::<Option<prop::sample::Index>>()) {
            let (mut bytes, header) = tiny("qwen2").bytes();
            for (position, byte) in changes {
                bytes[position.index(header)] = byte;
            }
            if let Some(kept) = kept {
                bytes.truncate(kept.index(bytes.len()));
            }
            let _ = Engine::load(&Written::new(&bytes).0);
        }
    }
}
