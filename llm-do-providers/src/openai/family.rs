//! What a name of OpenAI's models says of how they want to be asked: the API refuses what a family does not take.
//!
//! By <https://developers.openai.com/api/docs/guides/reasoning>, <https://platform.openai.com/docs/guides/structured-outputs>
//! and the pages of the models, as of 2026-11.

use super::dialect::step;
use crate::model::Profile;
use crate::settings::ThinkingLevel;

/// How the models of a family want to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of requests that is taken or refused")]
pub(crate) struct Family {
    thinks: Thinks,
    /// The words for a level, from `off` to `high`.
    words: [&'static str; 5],
    calls: Calls,
    /// Whether it follows the schema of an answer.
    native_output: bool,
    /// Whether it takes `temperature`, `top_p` and penalties at all.
    sampled: bool,
    /// Whether it takes `parallel_tool_calls`.
    parallel: bool,
    /// Whether it takes `stop`.
    stops: bool,
}

/// Whether a family thinks; while it does, it takes no `temperature`, `top_p` and penalties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thinks {
    /// The model is not one of OpenAI's, so that its server knows best.
    Perhaps,
    Never,
    IfAsked,
    UnlessAsked,
    Always,
}

/// Whether a family calls tools over chat completions, where the API has come to want its newer protocol for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    Freely,
    /// While it does not think.
    Unthinking,
    Never,
}

const OTHER: Family = Family {
    thinks: Thinks::Perhaps,
    words: ["none", "minimal", "low", "medium", "high"],
    calls: Calls::Freely,
    native_output: true,
    sampled: true,
    parallel: true,
    stops: true,
};
/// GPT-4 and before, but for GPT-4o and GPT-4.1.
const FOUR: Family = Family { native_output: false, ..FOUR_O };
/// GPT-4o and 4.1, the first with structured output.
const FOUR_O: Family = Family { thinks: Thinks::Never, ..OTHER };
/// Those of GPT-4o that search the web for every answer.
const SEARCH: Family = Family { sampled: false, ..FOUR_O };
/// GPT-5, the only one with a word for `minimal`.
const FIVE: Family = Family { words: ["minimal", "minimal", "low", "medium", "high"], ..NEWEST };
/// GPT-5.1 to 5.3.
const FIVE_ONE: Family = Family { thinks: Thinks::IfAsked, words: ["none", "low", "low", "medium", "high"], ..NEWEST };
const FIVE_FOUR: Family = Family { calls: Calls::Unthinking, ..FIVE_ONE };
/// GPT-5.5, 5.6, and of GPT-6 those that can do without. GPT-6.1 Terra has the efforts `none` to `max`, and thinks with
/// `medium` by default, by its model page as <https://apidog.com/blog/gpt-6-1-terra-api/> quotes it (read 2026-11-22).
const FIVE_FIVE: Family = Family { thinks: Thinks::UnlessAsked, ..FIVE_FOUR };
/// GPT-5.3 Codex, the first Codex with the effort `none`; with it, it takes what GPT-5.2 takes then:
/// <https://github.com/anomalyco/models.dev/blob/f3fc6922/providers/openai/models/gpt-5.3-codex.toml> (read 2026-11-22).
const CODEX_FIVE_THREE: Family = Family { thinks: Thinks::UnlessAsked, ..FIVE_ONE };
/// Those that are for chats, and think as much as they do.
const CHATS: Family = Family { words: [""; 5], ..NEWEST };
/// GPT-6 Astra, GPT-6.1 Sol and GPT-6.2 Sol, which refuses the effort `none` and calls tools over the Responses API:
/// <https://developers.openai.com/api/docs/models/gpt-6.2-sol> (read 2026-11-22).
const SIX: Family = Family { calls: Calls::Never, ..NEWEST };
/// GPT-5 Pro, whose only word is `high`.
const FIVE_PRO: Family = Family { words: ["high"; 5], ..NEWEST };
/// The Pros after it, which have none for less than `medium`.
const PRO: Family = Family { words: ["medium", "medium", "medium", "medium", "high"], ..NEWEST };
/// The o-series. OpenAI names `o3` and `o4-mini` as refusing `stop`, by
/// <https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop> (read 2026-11-22).
const O_SERIES: Family = Family { parallel: false, ..NEWEST };
/// The first of the o-series, and `o3-mini`, which take `stop`.
const O_STOPPING: Family = Family { stops: true, ..O_SERIES };
/// Codex, and what is not known yet: new models have only refused more than those before.
///
/// From GPT-5 on they refuse `stop`: <https://github.com/huggingface/smolagents/issues/1671>,
/// <https://github.com/huggingface/smolagents/issues/1893> (read 2026-11-22).
const NEWEST: Family =
    Family { thinks: Thinks::Always, words: ["low", "low", "low", "medium", "high"], stops: false, ..OTHER };

/// The families by what the names of their models begin with; the first that fits counts.
const FAMILIES: [(&str, Family); 32] = [
    ("gpt-oss", OTHER),
    ("gpt-3", FOUR),
    ("gpt-4o-2024-05-13", FOUR),
    ("gpt-4o-search", SEARCH),
    ("gpt-4o-mini-search", SEARCH),
    ("gpt-4o", FOUR_O),
    ("gpt-4.", FOUR_O),
    ("gpt-4", FOUR),
    ("chatgpt-4o", FOUR),
    ("gpt-5-chat", FOUR_O),
    ("gpt-5-search", OTHER),
    ("gpt-5.1-chat", CHATS),
    ("gpt-5.1", FIVE_ONE),
    ("gpt-5.2-chat", CHATS),
    ("gpt-5.2", FIVE_ONE),
    ("gpt-5.3-chat", CHATS),
    ("gpt-5.3", FIVE_ONE),
    ("gpt-5.4", FIVE_FOUR),
    ("gpt-5.5", FIVE_FIVE),
    ("gpt-5.6", FIVE_FIVE),
    ("gpt-6-astra", SIX),
    ("gpt-6-sol", FIVE_FIVE),
    ("gpt-6-luna", FIVE_FIVE),
    ("gpt-6.1-sol", SIX),
    ("gpt-6.1-terra", FIVE_FIVE),
    ("gpt-6.2-sol", SIX),
    ("gpt-5.", NEWEST),
    ("gpt-5", FIVE),
    ("gpt-", NEWEST),
    ("o1", O_STOPPING),
    ("o3-mini", O_STOPPING),
    ("o", O_SERIES),
];

impl Family {
    /// Returns the family of `model`, whoever is put in front of its name, and however it was tuned.
    pub(crate) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let name = name.strip_prefix("ft:").unwrap_or(name);
        // `o3` is of the series, and `our-model` is not.
        let is_named = |start: &str| start != "o" || name[1..].starts_with(|next: char| next.is_ascii_digit());
        let known = FAMILIES.into_iter().find(|(start, _)| name.starts_with(start) && is_named(start));
        match known {
            Some((start, family)) if start.starts_with("gpt-") && family.is_thinking() => family.of_kind(name),
            Some((_, family)) => family,
            None => OTHER,
        }
    }

    /// Returns the family of those of `name`'s kind, where that says more than its beginning.
    fn of_kind(self, name: &str) -> Self {
        let is = |kind: &str| name.split('-').any(|word| word == kind);
        match () {
            () if name.starts_with("gpt-5-pro") => FIVE_PRO,
            () if name.starts_with("gpt-5.3-codex") => CODEX_FIVE_THREE,
            () if is("codex") => NEWEST,
            () if is("pro") => PRO,
            () => self,
        }
    }

    /// Returns the word that is sent for a level, if any.
    pub(crate) fn effort(&self, level: Option<ThinkingLevel>) -> Option<&'static str> {
        let word = level.map(|level| self.words[step(level)])?;
        (self.may_think() && !word.is_empty()).then_some(word)
    }

    /// Returns the word that chat completions are sent for a level, with or without tools to call.
    pub(super) fn effort_in_chat(&self, level: Option<ThinkingLevel>, has_tools: bool) -> Option<&'static str> {
        if has_tools && self.calls == Calls::Unthinking { Some("none") } else { self.effort(level) }
    }

    /// Whether it may think; the others refuse to be asked for thoughts that can be sent back.
    pub(crate) fn may_think(&self) -> bool {
        self.thinks != Thinks::Never
    }

    /// Whether it takes `temperature` and the like, with that effort.
    pub(crate) fn samples(&self, effort: Option<&str>) -> bool {
        match self.thinks {
            Thinks::Perhaps | Thinks::Never => self.sampled,
            Thinks::IfAsked => effort.is_none_or(|effort| effort == "none"),
            Thinks::UnlessAsked => effort == Some("none"),
            Thinks::Always => false,
        }
    }

    /// What its models can do.
    pub(crate) fn profile(&self) -> Profile {
        if self.native_output { Profile::NATIVE_OUTPUT } else { Profile::NONE }
    }

    /// Whether OpenAI lets it call tools over chat completions, if need be without thinking.
    pub(super) fn calls_in_chat(&self) -> bool {
        self.calls != Calls::Never
    }

    /// Whether it can be told to make one call at a time.
    pub(super) fn takes_parallel_tool_calls(&self) -> bool {
        self.parallel
    }

    /// Whether it takes texts to stop before.
    pub(super) fn takes_stop(&self) -> bool {
        self.stops
    }

    /// Whether it is known to think, and so knows only the newer name of the limit on tokens.
    pub(super) fn is_thinking(&self) -> bool {
        !matches!(self.thinks, Thinks::Perhaps | Thinks::Never)
    }
}

#[cfg(test)]
mod tests {
    use super::{
        CHATS, CODEX_FIVE_THREE, FIVE, FIVE_FIVE, FIVE_FOUR, FIVE_ONE, FIVE_PRO, FOUR, FOUR_O, Family, NEWEST,
        O_SERIES, O_STOPPING, OTHER, PRO, SEARCH, SIX,
    };
    use crate::settings::ThinkingLevel;

    #[test]
    fn a_name_says_its_family() {
        let families = [
            ("gpt-3.5-turbo", FOUR),
            ("gpt-4-turbo-2024-04-09", FOUR),
            ("gpt-4o-2024-05-13", FOUR),
            ("gpt-4o-mini", FOUR_O),
            ("gpt-4.1-nano", FOUR_O),
            ("gpt-5-chat-latest", FOUR_O),
            ("gpt-4o-search-preview-2025-03-11", SEARCH),
            ("openai/gpt-4o-mini-search-preview", SEARCH),
            ("o1", O_STOPPING),
            ("o1-2024-12-17", O_STOPPING),
            ("o3-mini", O_STOPPING),
            ("o3", O_SERIES),
            ("openai/o4-mini", O_SERIES),
            ("o3-pro", O_SERIES),
            ("gpt-5-pro-2025-10-06", FIVE_PRO),
            ("gpt-5-codex", NEWEST),
            ("gpt-5-nano-2025-08-07", FIVE),
            ("gpt-5.1", FIVE_ONE),
            ("gpt-5.1-codex-max", NEWEST),
            ("gpt-5.2-chat-latest", CHATS),
            ("gpt-5.2-pro", PRO),
            ("gpt-5.2-codex", NEWEST),
            ("gpt-5.3-codex", CODEX_FIVE_THREE),
            ("gpt-5.3-codex-spark", CODEX_FIVE_THREE),
            ("gpt-5.4-mini", FIVE_FOUR),
            ("gpt-5.5-pro", PRO),
            ("gpt-5.6-terra", FIVE_FIVE),
            ("gpt-6-astra", SIX),
            ("gpt-6-sol", FIVE_FIVE),
            ("gpt-6.1-sol", SIX),
            ("gpt-6.1-terra", FIVE_FIVE),
            ("gpt-6.2-sol", SIX),
            ("gpt-7", NEWEST),
            ("gpt-oss-20b", OTHER),
            ("ft:gpt-4o-mini:acme:our-pro", FOUR_O),
            ("olmo-3", OTHER),
            ("o", OTHER),
            ("qwen3-4b", OTHER),
            ("", OTHER),
        ];
        for (model, family) in families {
            assert_eq!(Family::of(model), family, "{model}");
        }
    }

    #[test]
    fn a_level_goes_as_a_word_that_the_family_has() {
        let words = [
            ("gpt-4o", ThinkingLevel::Low, None),
            ("gpt-5-mini", ThinkingLevel::Off, Some("minimal")),
            ("o3", ThinkingLevel::Off, Some("low")),
            ("gpt-5.2", ThinkingLevel::Off, Some("none")),
            ("gpt-5.2", ThinkingLevel::Minimal, Some("low")),
            ("gpt-5.2-chat-latest", ThinkingLevel::High, None),
            ("gpt-5-pro", ThinkingLevel::Off, Some("high")),
            ("gpt-5-pro", ThinkingLevel::Medium, Some("high")),
            ("gpt-5.2-pro", ThinkingLevel::Low, Some("medium")),
            ("gpt-5.2-pro", ThinkingLevel::High, Some("high")),
            ("gpt-5.3-codex", ThinkingLevel::Off, Some("none")),
            ("gpt-5.2-codex", ThinkingLevel::Off, Some("low")),
            ("gpt-6.1-terra", ThinkingLevel::Off, Some("none")),
            ("gpt-6.2-sol", ThinkingLevel::Off, Some("low")),
            ("gpt-6-astra", ThinkingLevel::Tokens(0), Some("low")),
            ("qwen3-4b", ThinkingLevel::Minimal, Some("minimal")),
            ("qwen3-4b", ThinkingLevel::Tokens(9000), Some("high")),
        ];
        for (model, level, word) in words {
            assert_eq!(Family::of(model).effort(Some(level)), word, "{model}");
        }
        assert_eq!(Family::of("gpt-5.6").effort(None), None);
        let codex = Family::of("gpt-5.3-codex");
        assert!(codex.samples(Some("none")) && !codex.samples(None) && !codex.samples(Some("low")));
    }
}
