//! A chat template: what a model's file says of how a conversation is written down.

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

/// Where a file has the template that is for all conversations, and where that for those with tools, if it is another.
const NAME: &str = "tokenizer.chat_template";
const WITH_TOOLS: &str = "tokenizer.chat_template.tool_use";

/// How many steps a template may take: those of the hub take some hundred for a message. One that takes more is broken, or
/// means harm.
const FUEL: u64 = 10_000_000;

/// How deep a template may call itself: the stack is that of any thread.
const DEPTH: usize = 64;

/// The template of models that carry none but have the marks of `ChatML`
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

/// What a template writes down.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chat<'a> {
    pub(super) messages: &'a [Value],
    pub(super) tools: &'a [Value],
    /// Whether the model is to think, where the template lets one choose.
    pub(super) thinking: Option<bool>,
    /// Whether the beginning of an answer is written, too.
    pub(super) answering: bool,
}

/// The names by which templates know all that.
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
    /// Returns the template of a file for all conversations, or that of `ChatML` if it has none but `vocabulary` has its
    /// marks.
    pub(super) fn read(file: &Gguf, vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let marks = vocabulary.marks();
        let speaks_chatml = ["<|im_start|>", "<|im_end|>"].iter().all(|mark| marks.called(mark).is_some());
        let source = file.text(NAME).or(speaks_chatml.then_some(CHATML)).ok_or_else(|| {
            let text = format!(
                "the model's file has no chat template (`{NAME}`), nor the marks of ChatML; take one that was trained to chat"
            );
            fault::configuration(text)
        })?;
        Self::new(NAME, source, vocabulary)
    }

    /// Returns the template of a file for conversations with tools, if it has one.
    pub(super) fn with_tools(file: &Gguf, vocabulary: &Vocabulary) -> Option<Result<Self, ProviderError>> {
        file.text(WITH_TOOLS).map(|source| Self::new(WITH_TOOLS, source, vocabulary))
    }

    fn new(name: &'static str, source: &str, vocabulary: &Vocabulary) -> Result<Self, ProviderError> {
        let broken = |source| broken(name, source);
        let mut environment = Environment::new();
        // As transformers has it: <https://huggingface.co/docs/transformers/main/en/chat_templating_writing>.
        let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
        environment.set_syntax(syntax.map_err(broken)?);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_unknown_method_callback(unknown_method_callback);
        environment.set_fuel(Some(FUEL));
        environment.set_recursion_limit(DEPTH);
        environment.add_function("raise_exception", functions::raise_exception);
        environment.add_function("strftime_now", functions::strftime_now);
        environment.add_filter("tojson", json::tojson);
        // Jinja reads all ends of lines as this one; some files were written on Windows.
        environment.add_template_owned(name, source.replace("\r\n", "\n")).map_err(broken)?;
        Ok(Self {
            name,
            environment,
            bos_token: vocabulary.first_name().to_owned(),
            eos_token: vocabulary.name(vocabulary.end()).to_owned(),
        })
    }

    /// Returns `chat` as the model is to read it.
    pub(super) fn render(&self, chat: Chat<'_>) -> Result<String, ProviderError> {
        self.written(chat).map_err(|source| broken(self.name, source))
    }

    /// Returns `chat` as the model is to read it, unless the template has no words for it.
    pub(super) fn written(&self, chat: Chat<'_>) -> Result<String, Error> {
        let variables = Variables {
            messages: chat.messages,
            tools: Some(chat.tools).filter(|tools| !tools.is_empty()),
            documents: (),
            enable_thinking: chat.thinking,
            add_generation_prompt: chat.answering,
            bos_token: &self.bos_token,
            eos_token: &self.eos_token,
        };
        self.environment.get_template(self.name)?.render(Serde(&variables))
    }
}

/// The template failed: it is foreign code, or it refuses the conversation.
fn broken(name: &str, source: Error) -> ProviderError {
    let place = source.line().map(|line| format!(" in line {line}")).unwrap_or_default();
    let said = source.detail().map_or_else(|| source.kind().to_string(), str::to_owned);
    let text = format!("the model's chat template (`{name}`) failed{place}: {said}; take another file of the model");
    fault::configuration(text).with_source(source)
}
