//! How thinking is requested from a server, and which settings it does not accept with it.

use serde::Serialize;

use super::dialect::{Dialect, Field, Target, ThinkingFields};
use crate::capability::{OpenAiCapabilities, ToolsInChat};
use crate::model::Request;
use crate::settings::{Settings, ThinkingLevel, Warnings};

/// The reason for a setting that the server has no field for.
pub(super) const NO_FIELD: &str = "the server has no field for it";
const NOT_ACCEPTED: &str = "the model does not accept it";
const NOT_WHILE_THINKING: &str = "the model does not accept it while thinking is on";

/// The thinking fields to send, and their effects on other settings.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    pub(super) fields: Fields<'a>,
    /// The reason if `temperature`, `top_p` and penalties are not sent.
    unsampled: Option<&'static str>,
    /// Whether stop sequences are sent.
    stops: bool,
    /// Whether a tool call may be forced.
    pub(super) forces: bool,
}

/// The sampling settings and stop sequences to send.
#[derive(Debug)]
pub(super) struct SamplingParams<'a> {
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    pub(super) presence_penalty: Option<f64>,
    pub(super) frequency_penalty: Option<f64>,
    pub(super) stop: &'a [String],
}

/// The thinking fields of a request; each server supports one or two of them.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Fields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_format: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Switch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<Variables>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_token_budget: Option<u32>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum ReasoningObject {
    Effort(&'static str),
    MaxTokens(u32),
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Switch {
    Enabled,
    Disabled,
}

/// The variables of chat templates: most templates use only one variable.
#[derive(Debug, PartialEq, Serialize)]
struct Variables {
    enable_thinking: bool,
    thinking: bool,
}

impl<'a> Plan<'a> {
    pub(super) fn new(target: Target<'a>, request: &Request<'_>, warnings: &mut Warnings) -> Self {
        let Target { model, dialect, capabilities, .. } = target;
        let (level, has_tools) = (request.settings.thinking, !request.tools.is_empty());
        let fields = Fields::new(&dialect.thinking, capabilities, level, has_tools);
        if let Some(level) = level {
            fields.warn(level, target, has_tools, warnings);
        }
        let thinks = !level.is_some_and(ThinkingLevel::is_off);
        let is_asked = level.is_some() && thinks;
        let forces = dialect.choice.is_some_and(|choice| choice.while_thinking || !thinks);
        let reason = if capabilities.may_think() { NOT_WHILE_THINKING } else { NOT_ACCEPTED };
        Self {
            unsampled: (!capabilities.samples(fields.reasoning_effort)).then_some(reason),
            stops: capabilities.stop,
            forces: forces && !(is_asked && drops_thoughts(dialect, model)),
            fields,
        }
    }

    /// Returns the sampling settings to send; records the remaining ones in `warnings`.
    pub(super) fn sampling<'s>(
        &self,
        settings: &'s Settings,
        dialect: &Dialect,
        warnings: &mut Warnings,
    ) -> SamplingParams<'s> {
        let (samples, reason) = (self.unsampled.is_none(), self.unsampled.unwrap_or_default());
        let penalizes = dialect.takes(Field::Penalties);
        let unpenalized = if penalizes { reason } else { NO_FIELD };
        let mut penalty = |name, value| warnings.accept(name, value, samples && penalizes, unpenalized);
        let presence_penalty = penalty("presence_penalty", settings.presence_penalty);
        let frequency_penalty = penalty("frequency_penalty", settings.frequency_penalty);
        let stop = Some(&*settings.stop).filter(|texts| !texts.is_empty());
        SamplingParams {
            temperature: warnings.accept("temperature", settings.temperature, samples, reason),
            top_p: warnings.accept("top_p", settings.top_p, samples, reason),
            presence_penalty,
            frequency_penalty,
            stop: warnings.accept("stop", stop, self.stops, NOT_ACCEPTED).unwrap_or_default(),
        }
    }
}

impl<'a> Fields<'a> {
    /// Returns the fields that request thinking, in the dialect of the server.
    fn new(
        thinking: &ThinkingFields,
        capabilities: &'a OpenAiCapabilities,
        level: Option<ThinkingLevel>,
        has_tools: bool,
    ) -> Self {
        let word = |level| capabilities.efforts.word(level);
        match thinking {
            ThinkingFields::Effort => Self {
                reasoning_effort: capabilities.effort_in_chat(level, has_tools),
                reasoning_format: capabilities.reasoning_format.as_deref(),
                ..Self::default()
            },
            ThinkingFields::Object => Self { reasoning: level.map(ReasoningObject::at), ..Self::default() },
            ThinkingFields::Switch => {
                let thinking = level.map(|level| if level.is_off() { Switch::Disabled } else { Switch::Enabled });
                let reasoning_effort = level.filter(|level| !level.is_off()).and_then(word);
                Self { reasoning_effort, thinking, ..Self::default() }
            }
            ThinkingFields::Template => level.map(|level| in_template(word(level), level)).unwrap_or_default(),
        }
    }

    /// Records how a level is sent, unless it is sent as it was set.
    fn warn(&self, level: ThinkingLevel, target: Target<'_>, has_tools: bool, warnings: &mut Warnings) {
        let Target { model, capabilities, .. } = target;
        let is_replaced = has_tools && capabilities.tools_in_chat == ToolsInChat::WithoutThinking;
        match self.reasoning_effort {
            Some("none") if is_replaced && !level.is_off() => {
                let how = format!(
                    "{level} sent as `none`: over chat completions the model calls tools only with thinking off; \
                     use `openai-responses:{model}`"
                );
                warnings.changed("thinking", how);
            }
            Some(word) => warnings.thinking_as(level, word),
            // Another field sends the exact level.
            None if *self != Self::default() && self.reasoning_format.is_none() => {}
            None if level.is_off() && !capabilities.is_thinking() => {}
            None => warnings.not_sent("thinking", "the model has no thinking levels"),
        }
    }
}

impl ReasoningObject {
    fn at(level: ThinkingLevel) -> Self {
        match level {
            ThinkingLevel::Tokens(tokens @ 1..) => Self::MaxTokens(tokens),
            ThinkingLevel::Off | ThinkingLevel::Tokens(0) => Self::Effort("none"),
            ThinkingLevel::Minimal => Self::Effort("minimal"),
            ThinkingLevel::Low => Self::Effort("low"),
            ThinkingLevel::Medium => Self::Effort("medium"),
            ThinkingLevel::High => Self::Effort("high"),
        }
    }
}

fn in_template(word: Option<&str>, level: ThinkingLevel) -> Fields<'_> {
    let thinks = !level.is_off();
    let tokens = match level {
        ThinkingLevel::Tokens(tokens @ 1..) => Some(tokens),
        _ => None,
    };
    Fields {
        // The template variables turn thinking off: not every version has a word for it.
        reasoning_effort: if thinks && tokens.is_none() { word } else { None },
        chat_template_kwargs: Some(Variables { enable_thinking: thinks, thinking: thinks }),
        thinking_token_budget: tokens,
        ..Fields::default()
    }
}

/// Whether a forced call disables thinking: Anthropic refuses both together, so OpenRouter silently drops the thinking.
/// See <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>.
fn drops_thoughts(dialect: &Dialect, model: &str) -> bool {
    matches!(dialect.thinking, ThinkingFields::Object) && model.contains("anthropic/")
}
