//! What a model's name says of how it wants to be asked: the models differ, and the API refuses what one does not take.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/thinking-troubleshooting>,
//! <https://platform.claude.com/docs/en/models/overview> and the migration guides there, as of 2026-11.

use crate::model::Profile;
use crate::server_side::ServerSideTool;

/// What all of Anthropic's models since 3.5 run on its servers.
const TOOLS: &[ServerSideTool] = &[ServerSideTool::WEB_SEARCH, ServerSideTool::WebFetch, ServerSideTool::CodeExecution];

/// What Opus 5 runs: <https://platform.claude.com/docs/en/models/opus-5/migration-guide> has no `web_fetch` with it.
const TOOLS_OF_OPUS_5: &[ServerSideTool] = &[ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution];

/// How the models of a family want to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// How many tokens an answer may have at most.
    pub(super) most_tokens: u32,
    pub(super) thinking: Thinking,
    pub(super) sampling: Sampling,
    /// Whether a request may force the use of a tool.
    pub(super) forces_tools: bool,
    /// Whether its thoughts are refused once anything before them has changed.
    pub(super) binds_thoughts: bool,
    pub(super) profile: Profile,
}

/// How a family is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It cannot.
    Never,
    /// By a number of tokens; it does not unless it is told to.
    Budget,
    /// By words; it does not unless it is told to, and shows a summary.
    Effort,
    /// By words, and its thoughts are empty unless a summary is asked for.
    Hidden(Off),
}

/// How a family is told not to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Off {
    Disabled,
    BetweenTools,
    /// It always thinks; it can be told to do so little.
    Never,
}

/// Which of `temperature` and `top_p` a family takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sampling {
    Both,
    /// One of them.
    Either,
    Neither,
}

/// The models of other makers, behind servers that speak the same API.
const OTHER: Family = Family {
    most_tokens: 8_192,
    thinking: Thinking::Budget,
    sampling: Sampling::Both,
    forces_tools: true,
    binds_thoughts: false,
    profile: Profile::NONE,
};

/// Claude 3 and before.
const THIRD: Family =
    Family { most_tokens: 4_096, thinking: Thinking::Never, sampling: Sampling::Both, forces_tools: true, ..OTHER };

/// Claude 3.7, 4 and 4.1.
const FOURTH: Family = Family {
    most_tokens: 64_000,
    thinking: Thinking::Budget,
    sampling: Sampling::Either,
    profile: Profile::NONE.with_server_side_tools(TOOLS),
    ..OTHER
};

/// Claude 4.5, the first with structured output.
const FOUR_FIVE: Family = Family { profile: Profile::NATIVE_OUTPUT.with_server_side_tools(TOOLS), ..FOURTH };

/// Claude 4.6, the first that decides by itself how much to think.
const FOUR_SIX: Family = Family { most_tokens: 128_000, thinking: Thinking::Effort, ..FOUR_FIVE };

/// Claude 4.7, 4.8 and 5.
const FIFTH: Family = Family { thinking: Thinking::Hidden(Off::Disabled), sampling: Sampling::Neither, ..FOUR_SIX };

/// Fable, Mythos, Opus 5.5, and whatever comes after: new models have only refused more than those before.
const NEWEST: Family = Family { thinking: Thinking::Hidden(Off::Never), forces_tools: false, ..FIFTH };

impl Family {
    /// Returns the family of `model`, however a server prefixes and dates its name.
    pub(super) fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let Some((_, name)) = model.rsplit_once("claude") else { return OTHER };
        let tier = ["opus", "sonnet", "haiku", "fable", "mythos"].into_iter().find(|tier| name.contains(tier));
        let version = version(name);
        let family = match (tier, version) {
            (Some("fable" | "mythos"), _) => NEWEST,
            (_, Some((..3, _) | (3, 0..=4))) => THIRD,
            (_, Some((3, 5 | 6))) => Self { most_tokens: 8_192, profile: FOURTH.profile, ..THIRD },
            (Some("opus"), Some((4, 0..=4))) => Self { most_tokens: 32_000, ..FOURTH },
            (_, Some((3, _) | (4, 0..=4))) => FOURTH,
            (_, Some((4, 5))) => FOUR_FIVE,
            (_, Some((4, 6))) => FOUR_SIX,
            (Some("opus"), Some((5, 0))) => {
                Self { profile: Profile::NATIVE_OUTPUT.with_server_side_tools(TOOLS_OF_OPUS_5), ..FIFTH }
            }
            (_, Some((4, _) | (5, 0..=4))) | (Some("haiku"), Some((5, 5))) => FIFTH,
            (Some("sonnet"), Some((5, 5))) => Self { thinking: Thinking::Hidden(Off::BetweenTools), ..NEWEST },
            _ => NEWEST,
        };
        // By <https://platform.claude.com/docs/en/build-with-claude/preserved-thinking/prefix-checks>.
        Self { binds_thoughts: version >= Some((5, 1)), ..family }
    }
}

/// The version in what of a name follows `claude`, such as `-opus-4-5-20251101` or `-3-7-sonnet-latest`: a date is none.
fn version(name: &str) -> Option<(u32, u32)> {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    let mut words = words.map(|word| word.parse().ok().filter(|number| *number < 100)).skip_while(Option::is_none);
    Some((words.next()??, words.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::{Family, Off, Sampling, Thinking, version};
    use crate::model::Profile;
    use crate::server_side::ServerSideTool;

    #[test]
    fn a_version_is_read_wherever_it_stands() {
        let versions = [
            ("-opus-4-5-20251101", Some((4, 5))),
            ("-3-7-sonnet-latest", Some((3, 7))),
            ("-sonnet-4-20250514", Some((4, 0))),
            ("-2.1", Some((2, 1))),
            ("-fable-5", Some((5, 0))),
            ("-haiku-4-5@20251001", Some((4, 5))),
            ("-mythos-preview", None),
        ];
        for (name, expected) in versions {
            assert_eq!(version(name), expected, "{name}");
        }
    }

    #[test]
    fn each_family_thinks_in_its_own_way() {
        let manners = [
            ("claude-3-5-haiku-latest", Thinking::Never),
            ("claude-3-7-sonnet-20250219", Thinking::Budget),
            ("claude-sonnet-4-0", Thinking::Budget),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", Thinking::Budget),
            ("claude-opus-4-6", Thinking::Effort),
            ("claude-opus-4-8", Thinking::Hidden(Off::Disabled)),
            ("claude-opus-5", Thinking::Hidden(Off::Disabled)),
            ("claude-haiku-5-5", Thinking::Hidden(Off::Disabled)),
            ("anthropic/claude-sonnet-5-5", Thinking::Hidden(Off::BetweenTools)),
            ("claude-opus-5-5", Thinking::Hidden(Off::Never)),
            ("claude-mythos-preview", Thinking::Hidden(Off::Never)),
            ("claude-opus-7", Thinking::Hidden(Off::Never)),
            ("glm-5", Thinking::Budget),
        ];
        for (model, expected) in manners {
            assert_eq!(Family::of(model).thinking, expected, "{model}");
        }
    }

    #[test]
    fn newer_models_refuse_more() {
        let refused = [
            ("claude-3-haiku-20240307", Sampling::Both, true),
            ("claude-sonnet-4-5", Sampling::Either, true),
            ("claude-opus-4-7", Sampling::Neither, true),
            ("claude-fable-5", Sampling::Neither, false),
            ("claude-sonnet-5-5", Sampling::Neither, false),
        ];
        for (model, sampling, forces) in refused {
            let family = Family::of(model);
            assert_eq!((family.sampling, family.forces_tools), (sampling, forces), "{model}");
        }
    }

    #[test]
    fn thoughts_are_bound_to_what_stands_before_them_since_5_1() {
        for model in ["claude-fable-5-1", "claude-mythos-5-1", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-6"]
        {
            assert!(Family::of(model).binds_thoughts, "{model}");
        }
        for model in
            ["claude-fable-5", "claude-opus-5", "claude-mythos-preview", "claude-haiku-4-5-20251001", "glm-5.5"]
        {
            assert!(!Family::of(model).binds_thoughts, "{model}");
        }
    }

    #[test]
    fn structured_output_came_with_4_5_and_server_side_tools_with_3_5() {
        assert!(!Family::of("claude-opus-4-1").profile.native_output);
        assert!(Family::of("claude-opus-4-5").profile.native_output);
        assert!(!Family::of("claude-3-opus-latest").profile.runs(&ServerSideTool::WebFetch));
        assert!(Family::of("claude-3-5-haiku-latest").profile.runs(&ServerSideTool::WEB_SEARCH));
        let (opus, next) = (Family::of("claude-opus-5").profile, Family::of("claude-opus-5-5").profile);
        assert!(opus.native_output && !opus.runs(&ServerSideTool::WebFetch) && next.runs(&ServerSideTool::WebFetch));
        assert_eq!(Family::of("kimi-k3").profile, Profile::NONE);
    }

    #[test]
    fn each_family_writes_so_much_at_most() {
        let limits = [
            ("claude-3-opus-latest", 4_096),
            ("claude-3-5-sonnet-latest", 8_192),
            ("claude-opus-4-1", 32_000),
            ("claude-sonnet-4", 64_000),
            ("claude-opus-5-5", 128_000),
            ("deepseek-chat", 8_192),
        ];
        for (model, tokens) in limits {
            assert_eq!(Family::of(model).most_tokens, tokens, "{model}");
        }
    }
}
