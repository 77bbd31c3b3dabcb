//! How a server is told to think, and what it does not take while it does.

use serde::Serialize;

use super::dialect::{Dialect, Field, Thinking};
use super::family::Family;
use crate::model::Request;
use crate::settings::{Settings, ThinkingLevel, Warnings};

/// Why a setting is not sent that the server has no place for.
pub(super) const NO_FIELD: &str = "the server has no field for it";
const NOT_ACCEPTED: &str = "the model does not accept it";

/// What is sent of thinking, and what else is.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) fields: Fields,
    /// Why `temperature`, `top_p` and penalties are not sent, if they are not.
    unsampled: Option<&'static str>,
    /// Whether texts to stop before are sent.
    stops: bool,
    /// Whether a call of a tool may be forced.
    pub(super) forces: bool,
}

/// The settings of how words are chosen, and where the answer stops, as far as they are sent.
#[derive(Debug)]
pub(super) struct Sampling<'a> {
    pub(super) temperature: Option<f64>,
    pub(super) top_p: Option<f64>,
    pub(super) presence_penalty: Option<f64>,
    pub(super) frequency_penalty: Option<f64>,
    pub(super) stop: &'a [String],
}

/// The fields of a request that say how to think; each server knows one or two of them.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Fields {
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_format: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Switch>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<Variables>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_token_budget: Option<u32>,
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Reasoning {
    Effort(&'static str),
    MaxTokens(u32),
}

#[derive(Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Switch {
    Enabled,
    Disabled,
}

/// The variables that templates of models have for it: most have one of them, and ignore the other.
#[derive(Debug, PartialEq, Serialize)]
struct Variables {
    enable_thinking: bool,
    thinking: bool,
}

impl Plan {
    pub(super) fn new(dialect: &Dialect, model: &str, request: &Request<'_>, warnings: &mut Warnings) -> Self {
        let level = request.settings.thinking;
        let plan = Self { fields: Fields::default(), unsampled: None, stops: true, forces: true };
        let plan = match &dialect.thinking {
            Thinking::Family => plan.by_family(&Family::of(model), level, !request.tools.is_empty()),
            Thinking::Effort(words) => {
                let words = words.iter().find(|(part, _)| model.contains(part)).map(|(_, words)| words);
                let reasoning_effort = level.and_then(|level| Some(words?.of(level)));
                let reasoning_format = words.filter(|words| words.parsed).map(|_| "parsed");
                plan.with(Fields { reasoning_effort, reasoning_format, ..Fields::default() })
            }
            Thinking::Object => plan.with(Fields { reasoning: level.map(Reasoning::at), ..Fields::default() }),
            Thinking::Switch(words) => {
                let thinking = level.map(|level| if is_off(level) { Switch::Disabled } else { Switch::Enabled });
                let reasoning_effort = level.filter(|level| !is_off(*level)).map(|level| words.of(level));
                plan.with(Fields { reasoning_effort, thinking, ..Fields::default() })
            }
            Thinking::Template(words) => {
                plan.with(level.map(|level| in_template(words.of(level), level)).unwrap_or_default())
            }
        };
        if let Some(level) = level {
            plan.fields.warn(level, dialect, model, warnings);
        }
        let thinks = !level.is_some_and(is_off);
        let is_asked = level.is_some() && thinks;
        let forces = dialect.choice.is_some_and(|choice| choice.while_thinking || !thinks);
        Self { forces: forces && !(is_asked && drops_thoughts(dialect, model)), ..plan }
    }

    fn with(self, fields: Fields) -> Self {
        Self { fields, ..self }
    }

    fn by_family(self, family: &Family, level: Option<ThinkingLevel>, has_tools: bool) -> Self {
        let reasoning_effort = family.effort_in_chat(level, has_tools);
        let reason = if family.may_think() { "the model does not accept it while it thinks" } else { NOT_ACCEPTED };
        let unsampled = (!family.samples(reasoning_effort)).then_some(reason);
        Self { unsampled, stops: family.takes_stop(), ..self }.with(Fields { reasoning_effort, ..Fields::default() })
    }

    /// Returns what is sent of the settings that not every model takes; the rest is recorded in `warnings`.
    pub(super) fn sampling<'a>(
        &self,
        settings: &'a Settings,
        dialect: &Dialect,
        warnings: &mut Warnings,
    ) -> Sampling<'a> {
        let (samples, reason) = (self.unsampled.is_none(), self.unsampled.unwrap_or_default());
        let penalizes = dialect.takes(Field::Penalties);
        let unpenalized = if penalizes { reason } else { NO_FIELD };
        let mut penalty = |name, value| warnings.accept(name, value, samples && penalizes, unpenalized);
        let presence_penalty = penalty("presence_penalty", settings.presence_penalty);
        let frequency_penalty = penalty("frequency_penalty", settings.frequency_penalty);
        let stop = Some(&*settings.stop).filter(|texts| !texts.is_empty());
        Sampling {
            temperature: warnings.accept("temperature", settings.temperature, samples, reason),
            top_p: warnings.accept("top_p", settings.top_p, samples, reason),
            presence_penalty,
            frequency_penalty,
            stop: warnings.accept("stop", stop, self.stops, NOT_ACCEPTED).unwrap_or_default(),
        }
    }
}

impl Fields {
    /// Records how a level is sent, unless it is sent as it was set.
    fn warn(&self, level: ThinkingLevel, dialect: &Dialect, model: &str, warnings: &mut Warnings) {
        let is_family = matches!(dialect.thinking, Thinking::Family);
        match self.reasoning_effort {
            Some("none") if is_family && !is_off(level) => {
                let how = format!(
                    "{level} sent as `none`: over chat completions the model calls tools only while it does not think; \
                     use `openai-responses:{model}`"
                );
                warnings.changed("thinking", how);
            }
            Some(word) => warnings.thinking_as(level, word),
            // Another field says it exactly.
            None if *self != Self::default() && self.reasoning_format.is_none() => {}
            None if is_off(level) && !(is_family && Family::of(model).may_think()) => {}
            None => warnings.not_sent("thinking", "the model has no levels of thinking"),
        }
    }
}

impl Reasoning {
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

fn in_template(word: &'static str, level: ThinkingLevel) -> Fields {
    let thinks = !is_off(level);
    let tokens = match level {
        ThinkingLevel::Tokens(tokens @ 1..) => Some(tokens),
        _ => None,
    };
    Fields {
        // Off is a matter of the template: not every version has a word for it.
        reasoning_effort: (thinks && tokens.is_none()).then_some(word),
        chat_template_kwargs: Some(Variables { enable_thinking: thinks, thinking: thinks }),
        thinking_token_budget: tokens,
        ..Fields::default()
    }
}

/// Whether thoughts that are asked for are not had where a call is forced: OpenRouter leaves them out without a word then, as
/// Anthropic refuses both, by <https://platform.claude.com/docs/en/agents-and-tools/tool-use/implement-tool-use>.
fn drops_thoughts(dialect: &Dialect, model: &str) -> bool {
    matches!(dialect.thinking, Thinking::Object) && model.contains("anthropic/")
}

fn is_off(level: ThinkingLevel) -> bool {
    matches!(level, ThinkingLevel::Off | ThinkingLevel::Tokens(0))
}
