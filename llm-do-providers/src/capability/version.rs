//! Versions in the names of models.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

/// Major and minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(u32, u32);

impl Version {
    /// Reads `4` or `4.5`.
    fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        Some(Self(major.parse().ok()?, minor.parse().ok()?))
    }

    /// Returns the version in the name of one of Anthropic's models: `-opus-4-5-20251101` and `-3-7-sonnet-latest` follow
    /// `claude`. A number above 99 is a date.
    pub(super) fn from_claude_name(name: &str) -> Option<Self> {
        let (_, name) = name.rsplit_once("claude")?;
        let words = name.split(|letter: char| !letter.is_ascii_alphanumeric());
        let numbers = words.map(|word| word.parse().ok().filter(|number| *number < 100));
        let mut numbers = numbers.skip_while(Option::is_none);
        Some(Self(numbers.next()??, numbers.next().flatten().unwrap_or(0)))
    }

    /// Returns the version that directly follows `gemini-`.
    pub(super) fn from_gemini_name(name: &str) -> Option<Self> {
        Self::parse(name.strip_prefix("gemini-")?.split('-').next()?)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fault = || de::Error::custom(format!("invalid version `{text}`: expected a text such as `4` or `4.5`"));
        Self::parse(&text).ok_or_else(fault)
    }
}

/// The inclusive range of versions that a row applies to. Without either end, it contains all versions and names
/// without one.
#[derive(Clone, Copy, Debug)]
pub(super) struct VersionRange {
    pub(super) from: Option<Version>,
    pub(super) to: Option<Version>,
}

impl VersionRange {
    pub(super) fn contains(&self, version: Option<Version>) -> bool {
        match version {
            Some(version) => self.from.is_none_or(|from| version >= from) && self.to.is_none_or(|to| version <= to),
            None => self.from.is_none() && self.to.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn a_version_is_read_wherever_it_stands() {
        let versions = [
            ("claude-opus-4-5-20251101", Some(Version(4, 5))),
            ("claude-3-7-sonnet-latest", Some(Version(3, 7))),
            ("claude-sonnet-4-20250514", Some(Version(4, 0))),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", Some(Version(4, 5))),
            ("claude-mythos-preview", None),
            ("claude-2.1", Some(Version(2, 1))),
            ("claude-fable-5", Some(Version(5, 0))),
            ("claude-haiku-4-5@20251001", Some(Version(4, 5))),
            ("glm-5", None),
        ];
        for (name, expected) in versions {
            assert_eq!(Version::from_claude_name(name), expected, "{name}");
        }
        assert_eq!(Version::from_gemini_name("gemini-2.5-flash-preview-09-2025"), Some(Version(2, 5)));
        assert_eq!(Version::from_gemini_name("gemini-3-pro-preview"), Some(Version(3, 0)));
        assert_eq!(Version::from_gemini_name("gemini-flash-latest"), None);
        assert_eq!(Version::from_gemini_name("gemma-3-27b-it"), None);
    }
}
