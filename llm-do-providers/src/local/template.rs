//! Chat templates: the Jinja programs in model files that render conversations.

mod functions;
mod json;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error};
use minijinja_contrib::pycompat::unknown_method_callback;
use serde::Serialize;
use serde_json::Value;

use super::fault;
use super::gguf::Gguf;
use super::vocabulary::Vocabulary;
use crate::error::ProviderError;

/// The keys of the general template, and of the one for conversations with tools.
const TEMPLATE_KEY: &str = "tokenizer.chat_template";
const TOOL_TEMPLATE_KEY: &str = "tokenizer.chat_template.tool_use";

/// The maximum number of steps of a template. Templates on the hub take some hundred per message; one that takes more
/// is broken or malicious.
const MAX_STEPS: u64 = 10_000_000;

/// The maximum recursion depth of a template: it shares the stack of its thread.
const MAX_DEPTH: usize = 64;

/// The template of models that have none but have the special tokens of `ChatML`
/// (<https://github.com/openai/openai-python/blob/release-v0.28.0/chatml.md>).
const CHATML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n\
    {% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

/// A chat template.
#[derive(Debug)]
pub(super) struct Template {
    name: &'static str,
    environment: Environment<'static>,
    bos_token: String,
    eos_token: String,
}

/// The input of a template.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RenderInput<'a> {
    pub(super) messages: &'a [Value],
    pub(super) tools: &'a [Value],
    /// Whether thinking is enabled, for templates with that switch.
    pub(super) thinking: Option<bool>,
    /// Whether the start of an answer is rendered too.
    pub(super) add_generation_prompt: bool,
}

/// The variables of a template.
#[derive(Serialize)]
struct Variables<'a> {
    messages: &'a [Value],
    tools: Option<&'a [Value]>,
    documents: (),
    #[serde(skip_serializing_if = "Option::is_none")]
    enable_thinking: Option<bool>,
    add_generation_prompt: bool,
    bos_token: &'a str,
    eos_token: &'a str,
}

impl Template {
    /// Returns the general template of a file, or that of `ChatML` if it is absent and `vocabulary` has its special
    /// tokens.
    pub(super) fn read(file: &Gguf, vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let special_tokens = vocabulary.special_tokens();
        let has_chatml = ["<|im_start|>", "<|im_end|>"].iter().all(|name| special_tokens.find(name).is_some());
        let source = file.text(TEMPLATE_KEY).or(has_chatml.then_some(CHATML)).ok_or_else(|| {
            let text = format!(
                "the model's file has no chat template (`{TEMPLATE_KEY}`) and no ChatML tokens; use a model that was trained for chat"
            );
            fault::configuration(text)
        })?;
        Self::new(TEMPLATE_KEY, source, vocabulary)
    }

    /// Returns the template for conversations with tools, if the file has one.
    pub(super) fn with_tools(file: &Gguf, vocabulary: &Vocabulary) -> Option<Result<Self, ProviderError>> {
        file.text(TOOL_TEMPLATE_KEY).map(|source| Self::new(TOOL_TEMPLATE_KEY, source, vocabulary))
    }

    fn new(name: &'static str, source: &str, vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let failed = |source| failure(name, source);
        let mut environment = Environment::new();
        // The settings of transformers: <https://huggingface.co/docs/transformers/main/en/chat_templating_writing>.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(failed)?);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.set_fuel(Some(MAX_STEPS));
        environment.set_recursion_limit(MAX_DEPTH);
        environment.add_function("raise_exception", functions::raise_exception);
        environment.add_function("strftime_now", functions::strftime_now);
        environment.add_filter("tojson", json::tojson);
        // Jinja normalizes line endings; some files were written on Windows.
        environment.add_template_owned(name, source.replace("\r\n", "\n")).map_err(failed)?;
        Ok(Self {
            name,
            environment,
            bos_token: vocabulary.bos_name().to_owned(),
            eos_token: vocabulary.name(vocabulary.end_token()).to_owned(),
        })
    }

    /// Renders `input`.
    pub(super) fn render(&self, input: RenderInput<'_>) -> Result<String, ProviderError> {
        self.try_render(input).map_err(|source| failure(self.name, source))
    }

    /// Renders `input`; returns the template's own error.
    pub(super) fn try_render(&self, input: RenderInput<'_>) -> Result<String, Error> {
        let variables = Variables {
            messages: input.messages,
            tools: Some(input.tools).filter(|tools| !tools.is_empty()),
            documents: (),
            enable_thinking: input.thinking,
            add_generation_prompt: input.add_generation_prompt,
            bos_token: &self.bos_token,
            eos_token: &self.eos_token,
        };
        self.environment.get_template(self.name)?.render(Serde(&variables))
    }
}

/// The template failed: it is untrusted code, or it rejects the conversation.
fn failure(name: &str, source: Error) -> ProviderError {
    let location = source.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    let reason = source.detail().map_or_else(|| source.kind().to_string(), str::to_owned);
    let text = format!(
        "the model's chat template (`{name}`) failed{location}: {reason}; check the conversation or use another model file"
    );
    fault::configuration(text).with_source(source)
}
