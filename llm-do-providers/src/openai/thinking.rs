//! How a server is told to think, and what it does not take while it does.

use serde::Serialize;

use super::dialect::{Dialect, Thinking};
use super::family::Family;
use crate::model::Request;
use crate::settings::ThinkingLevel;

/// What is sent of thinking, and what else is.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) fields: Fields,
    /// Whether `temperature`, `top_p` and penalties are sent.
    pub(super) samples: bool,
    /// Whether texts to stop before are sent.
    pub(super) stops: bool,
    /// Whether a call of a tool may be forced.
    pub(super) forces: bool,
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
    pub(super) fn new(dialect: &Dialect, model: &str, request: &Request<'_>) -> Self {
        let level = request.settings.thinking;
        let plan = Self { fields: Fields::default(), samples: true, stops: true, forces: true };
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
        Self { samples: family.samples(reasoning_effort), stops: !family.is_thinking(), ..self }
            .with(Fields { reasoning_effort, ..Fields::default() })
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
