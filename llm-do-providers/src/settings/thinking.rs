//! How much a model thinks.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much a model thinks before it answers; in JSON a word, or a number of tokens.
///
/// Providers have words or numbers for it, and each model some of them: a level goes as the nearest that its provider has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ThinkingLevel {
    /// Not at all, where the model can do without.
    Off,
    /// As little as it can.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// Up to so many tokens.
    #[serde(untagged)]
    Tokens(u32),
}

impl fmt::Display for ThinkingLevel {
    /// Writes the level as in JSON: `off`, or `1024 tokens`.
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
    /// Whether the model is to answer without thinking.
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
