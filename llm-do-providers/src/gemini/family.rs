//! What a model can do, by its name.

use crate::model::Profile;
use crate::server_side::ServerSideTool;

/// How much a model's thinking can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not at all.
    No,
    /// Whether its thoughts are shown, and nothing else.
    Shown,
    /// By a number of tokens in this range, and perhaps not at all.
    Budget { least: u32, most: u32, off: bool },
    /// By a level: `low` and `high`, and perhaps others.
    Level { minimal: bool, medium: bool },
}

/// What the name of a model says of it.
///
/// Names are of the form `gemini-2.5-flash-lite`, perhaps with more behind them; one without a number, such as
/// `gemini-flash-latest`, is of a model that is not older than those known here, as is one with a number that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Family {
    /// Major and minor; none if the name is not one of Gemini's.
    version: Option<(u32, u32)>,
    is_pro: bool,
    is_lite: bool,
    /// Whether it makes images.
    is_image: bool,
}

const NEWEST: (u32, u32) = (u32::MAX, 0);
const SEARCH_AND_CODE: &[ServerSideTool] = &[ServerSideTool::WEB_SEARCH, ServerSideTool::CodeExecution];
const ALL: &[ServerSideTool] = &[ServerSideTool::WEB_SEARCH, ServerSideTool::WebFetch, ServerSideTool::CodeExecution];
const IMAGES: &[ServerSideTool] = &[ServerSideTool::ImageGeneration];
const SEARCH_AND_IMAGES: &[ServerSideTool] = &[ServerSideTool::WEB_SEARCH, ServerSideTool::ImageGeneration];

impl Family {
    pub(super) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let has = |word: &str| name.split('-').any(|part| part == word);
        let rest = name.strip_prefix("gemini-");
        Self {
            version: rest.map(|rest| version(rest).unwrap_or(NEWEST)),
            is_pro: has("pro"),
            is_lite: has("lite"),
            is_image: has("image"),
        }
    }

    /// Whether it is of version 3 or newer.
    pub(super) fn is_third(self) -> bool {
        self.version.is_some_and(|version| version >= (3, 0))
    }

    /// Whether functions, Google's tools and an output schema go together in one request: before version 3, any two of
    /// them are refused. Of a name that is not known, the server knows best.
    pub(super) fn combines(self) -> bool {
        self.is_third() || self.version.is_none()
    }

    pub(super) fn makes_images(self) -> bool {
        self.is_image
    }

    /// By <https://ai.google.dev/gemini-api/docs/thinking>.
    pub(super) fn thinking(self) -> Thinking {
        match self.version {
            Some(version) if version >= (3, 0) && self.is_image => Thinking::Shown,
            Some(version) if version >= (3, 0) => Thinking::Level {
                minimal: !self.is_pro && version < (3, 7),
                medium: !(self.is_pro && version == (3, 0)),
            },
            Some((2, 5)) if self.is_image => Thinking::No,
            Some((2, 5)) if self.is_pro => Thinking::Budget { least: 128, most: 32_768, off: false },
            Some((2, 5)) if self.is_lite => Thinking::Budget { least: 512, most: 24_576, off: true },
            Some((2, 5)) => Thinking::Budget { least: 1, most: 24_576, off: true },
            _ => Thinking::No,
        }
    }

    /// Whether it takes penalties: of those known here only version 2.0, by <https://github.com/google-gemini/cookbook/issues/1290>.
    pub(super) fn penalizes(self) -> bool {
        self.version.is_none_or(|version| version == (2, 0))
    }

    pub(super) fn profile(self) -> Profile {
        let profile = Profile { native_output_with_tools: self.combines(), ..Profile::NATIVE_OUTPUT };
        match self.version {
            Some(version) if self.is_image && version >= (3, 0) => profile.with_server_side_tools(SEARCH_AND_IMAGES),
            // It calls no functions, by <https://cloud.google.com/vertex-ai/generative-ai/docs/models/gemini/2-5-flash-image>.
            Some(_) if self.is_image => Profile::TEXT.with_server_side_tools(IMAGES),
            Some(version) if version >= (2, 5) => profile.with_server_side_tools(ALL),
            Some((2, _)) => profile.with_server_side_tools(SEARCH_AND_CODE),
            _ => profile,
        }
    }
}

/// The version that what follows `gemini-` begins with.
fn version(rest: &str) -> Option<(u32, u32)> {
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_how_thinking_is_set() {
        let cases = [
            ("gemini-2.5-pro", Thinking::Budget { least: 128, most: 32_768, off: false }),
            ("gemini-2.5-flash-preview-09-2025", Thinking::Budget { least: 1, most: 24_576, off: true }),
            ("models/gemini-2.5-flash-lite", Thinking::Budget { least: 512, most: 24_576, off: true }),
            ("gemini-3-pro-preview", Thinking::Level { minimal: false, medium: false }),
            ("gemini-3.1-pro-preview", Thinking::Level { minimal: false, medium: true }),
            ("gemini-3-flash-preview", Thinking::Level { minimal: true, medium: true }),
            ("gemini-3.1-flash-lite", Thinking::Level { minimal: true, medium: true }),
            ("gemini-3.7-flash", Thinking::Level { minimal: false, medium: true }),
            ("gemini-flash-latest", Thinking::Level { minimal: false, medium: true }),
            ("gemini-4-argon", Thinking::Level { minimal: false, medium: true }),
            ("gemini-3-pro-image-preview", Thinking::Shown),
            ("gemini-2.5-flash-image", Thinking::No),
            ("gemini-2.0-flash", Thinking::No),
            ("gemma-3-27b-it", Thinking::No),
        ];
        for (name, thinking) in cases {
            assert_eq!(Family::of(name).thinking(), thinking, "{name}");
        }
    }

    #[test]
    fn a_name_says_what_goes_together() {
        for (name, combines) in [("gemini-2.5-pro", false), ("gemini-3-flash", true), ("tunedModels/ours", true)] {
            assert_eq!(Family::of(name).profile().native_output_with_tools, combines, "{name}");
        }
    }

    #[test]
    fn a_name_says_which_tools_google_runs() {
        let runs = |name: &str, tool: &ServerSideTool| Family::of(name).profile().runs(tool);
        for name in ["gemini-2.5-flash", "gemini-3.1-pro-preview", "gemini-flash-latest"] {
            assert!(ALL.iter().all(|tool| runs(name, tool)), "{name}");
            assert!(!runs(name, &ServerSideTool::ImageGeneration), "{name}");
        }
        assert!(runs("gemini-2.5-flash-image", &ServerSideTool::ImageGeneration));
        assert!(runs("gemini-3-pro-image-preview", &ServerSideTool::WEB_SEARCH));
        assert!(!runs("gemini-2.0-flash", &ServerSideTool::WebFetch));
        assert!(!runs("gemini-1.5-pro", &ServerSideTool::WEB_SEARCH));
    }
}
