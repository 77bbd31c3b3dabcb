//! Whose text a value may carry.

use serde::{Deserialize, Serialize};

/// Whose text a value may carry, by where it came from: lower labels compare as less.
///
/// As JSON: `"trusted"`, `"bounded"` or `"untrusted"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Label {
    /// That of the user and of the program only.
    #[default]
    Trusted,
    /// Only values of a fixed set, such as numbers: anyone may have chosen which.
    Bounded,
    /// Text of anyone, which may contain instructions.
    Untrusted,
}

impl Label {
    /// Returns the label of a value that is made from two.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        self.max(other)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_trusted(&self) -> bool {
        *self == Self::Trusted
    }
}
