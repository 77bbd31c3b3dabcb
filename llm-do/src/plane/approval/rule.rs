//! Whether a call needs approval.

use serde::{Deserialize, Serialize};

use crate::plane::definition::DeclaredRule;

/// Whether calls of a tool need approval.
///
/// As JSON: `"ask"`, `"pre_approved"` or `{"blocked": {"reason": ".."}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// They do not run, whatever else a rule, a mode or an approver says.
    Blocked {
        /// Why, in words fit to show to a model.
        reason: String,
    },
    /// They run, and nobody is asked.
    PreApproved,
    /// The run's [`ApprovalMode`](super::ApprovalMode) decides, and by default the approver is asked.
    Ask,
}

impl Rule {
    /// Returns the rule that refuses calls; `reason` is what a model is told.
    #[must_use]
    pub fn blocked(reason: impl Into<String>) -> Self {
        Self::Blocked { reason: reason.into() }
    }

    /// Returns [`Rule::Ask`] or [`Rule::PreApproved`].
    pub(super) fn asking(asks: bool) -> Self {
        if asks { Self::Ask } else { Self::PreApproved }
    }

    pub(super) fn is_blocked(&self) -> bool {
        matches!(self, Self::Blocked { .. })
    }

    /// Returns how much it forbids, to choose among rules of equal standing.
    pub(super) fn strictness(&self) -> u8 {
        match self {
            Self::PreApproved => 0,
            Self::Ask => 1,
            Self::Blocked { .. } => 2,
        }
    }
}

impl From<DeclaredRule> for Rule {
    fn from(declared: DeclaredRule) -> Self {
        match declared {
            DeclaredRule::Ask => Self::Ask,
            DeclaredRule::PreApproved => Self::PreApproved,
            DeclaredRule::Blocked(reason) => Self::blocked(reason),
        }
    }
}
