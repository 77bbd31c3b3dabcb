//! How strict the rule about where values came from is.

use serde::{Deserialize, Serialize};

/// How strict the rule about where the values of calls came from is, where a [source](super::Policy::source) is declared.
///
/// As JSON: `"strict"`, `"lenient"` or `"off"`. More lenient modes compare as less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowMode {
    /// Values have no labels, and no call needs approval because of where its values came from.
    Off,
    /// As strict, but untrusted text may leave in data arguments, and the model of a code-mode worker sees what its code returns.
    Lenient,
    /// A call needs approval if an untrusted value would steer it, if untrusted text would leave to other people, or if a private value would.
    #[default]
    Strict,
}

impl FlowMode {
    /// All modes, from the most lenient to the strictest.
    pub const ALL: [Self; 3] = [Self::Off, Self::Lenient, Self::Strict];

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Lenient => "lenient",
            Self::Strict => "strict",
        }
    }
}
