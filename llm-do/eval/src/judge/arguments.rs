//! The arguments of `LLMJudge`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// The maximum number of votes.
const MAX_VOTES: u32 = 25;

/// Whether the output follows a rubric, as a model judges.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgeArguments {
    /// What the output must be.
    pub(crate) rubric: String,
    /// The model, `provider:model`. Default: that of the runtime of the judge.
    #[serde(default)]
    pub(crate) model: Option<String>,
    /// Whether the judge sees the inputs. Default: false.
    #[serde(default)]
    pub(super) include_input: bool,
    /// Whether the judge sees the expected output. Default: false.
    #[serde(default)]
    pub(super) include_expected_output: bool,
    /// How many votes are taken, each with a seed of its own: an odd number up to 25. Default: 1.
    #[serde(default = "one")]
    pub(crate) votes: u32,
    /// The score to report, from 0 to 1. Default: none.
    #[serde(default)]
    score: Part,
    /// The assertion to report. Default: with its reason.
    #[serde(default = "with_reason")]
    assertion: Part,
    /// Not supported.
    #[serde(default)]
    #[schemars(skip)]
    model_settings: Option<Value>,
}

/// A part of the verdict: `false` to leave it out, or how to report it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Part {
    Reported(OutputConfig),
    LeftOut(bool),
}

/// How a part of the verdict is reported.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputConfig {
    /// The name in reports. Default: `LLMJudge`; `LLMJudge_score` and `LLMJudge_pass` if both are reported.
    #[serde(default)]
    pub(super) evaluation_name: Option<String>,
    /// Whether the reason is reported. Default: false.
    #[serde(default)]
    pub(super) include_reason: bool,
}

impl Default for Part {
    fn default() -> Self {
        Self::LeftOut(false)
    }
}

fn one() -> u32 {
    1
}

fn with_reason() -> Part {
    Part::Reported(OutputConfig { evaluation_name: None, include_reason: true })
}

impl Part {
    fn config(&self) -> Option<&OutputConfig> {
        match self {
            Self::Reported(config) => Some(config),
            Self::LeftOut(_) => None,
        }
    }
}

impl JudgeArguments {
    pub(super) fn score(&self) -> Option<&OutputConfig> {
        self.score.config()
    }

    pub(super) fn assertion(&self) -> Option<&OutputConfig> {
        self.assertion.config()
    }

    /// Returns the fault of the arguments, if any.
    pub(crate) fn fault(&self) -> Option<String> {
        let is_true = |part: &Part| matches!(part, Part::LeftOut(true));
        if self.rubric.trim().is_empty() {
            return Some("`rubric` is blank: write what the output must be".to_owned());
        }
        if self.votes.is_multiple_of(2) || self.votes > MAX_VOTES {
            return Some(format!("`votes`: expected an odd number from 1 to {MAX_VOTES}, found {}", self.votes));
        }
        if self.model_settings.is_some() {
            return Some("`model_settings` is not supported: set them on the runtime of the judge".to_owned());
        }
        if is_true(&self.score) || is_true(&self.assertion) {
            return Some(
                "`score` and `assertion`: expected `false` or a map, such as `{include_reason: true}`".to_owned(),
            );
        }
        if self.score().is_none() && self.assertion().is_none() {
            return Some("`score` and `assertion` are both `false`: report one of the two".to_owned());
        }
        None
    }
}
