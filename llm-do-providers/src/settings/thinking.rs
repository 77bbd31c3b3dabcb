//! Thinking levels.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a model thinks before it answers; in JSON a word, or a number of tokens.
///
/// Each provider and model accepts some words or numbers: the level is sent as the nearest one that it accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ThinkingLevel {
    /// No thinking, if the model supports that.
    Off,
    /// The minimum.
    Minimal,
    /// Little.
    Low,
    /// Medium.
    Medium,
    /// Much.
    High,
    /// A budget in tokens.
    #[serde(untagged)]
    Tokens(u32),
}

impl fmt::Display for ThinkingLevel {
    /// Formats the level as `` `off` `` or `1024 tokens`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Off => "`off`",
            Self::Minimal => "`minimal`",
            Self::Low => "`low`",
            Self::Medium => "`medium`",
            Self::High => "`high`",
            Self::Tokens(tokens) => return write!(f, "{tokens} tokens"),
        })
    }
}

impl ThinkingLevel {
    /// Returns whether thinking is disabled.
    #[cfg(any(feature = "http", feature = "local"))]
    pub(crate) fn is_off(self) -> bool {
        matches!(self, Self::Off | Self::Tokens(0))
    }
}

impl From<u32> for ThinkingLevel {
    fn from(tokens: u32) -> Self {
        Self::Tokens(tokens)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::ThinkingLevel;

    #[test]
    fn a_level_is_a_word_or_a_number_of_tokens() {
        for (level, written) in [(ThinkingLevel::Off, json!("off")), (ThinkingLevel::Tokens(1024), json!(1024))] {
            assert_eq!(serde_json::to_value(level).unwrap(), written);
            assert_eq!(serde_json::from_value::<ThinkingLevel>(written).unwrap(), level);
        }
        assert!(serde_json::from_value::<ThinkingLevel>(json!("very")).is_err());
    }
}
