//! Whether a call needs approval.

use serde::{Deserialize, Serialize};

use crate::plane::definition::DeclaredRule;

/// Whether calls of a tool need approval.
///
/// As JSON: `"ask"`, `"pre_approved"` or `{"blocked": {"reason": ".."}}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// Calls are refused, regardless of other rules, the mode and the approver.
    Blocked {
        /// The reason; models may see it.
        reason: String,
    },
    /// Calls run without approval.
    PreApproved,
    /// Calls need approval: the run's [`ApprovalMode`](super::ApprovalMode) decides, by default by asking the approver.
    Ask,
}

impl Rule {
    /// Returns the rule that refuses calls; the caller's error contains `reason`.
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

    /// Returns the rank among rules of the same precedence: the highest wins.
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

/// Returns the first rule that blocks, or else the first.
pub(super) fn first_or_block<T>(rules: impl IntoIterator<Item = T>, is_blocked: impl Fn(&T) -> bool) -> Option<T> {
    let mut rules = rules.into_iter();
    let first = rules.next()?;
    if is_blocked(&first) {
        return Some(first);
    }
    Some(rules.find(is_blocked).unwrap_or(first))
}
