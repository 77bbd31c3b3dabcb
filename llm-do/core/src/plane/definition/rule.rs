//! Approval rules in the source of an item or a toolset.

/// Whether a call needs approval, as registered by a macro.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredRule {
    /// The approver is asked.
    Ask,
    /// The call runs.
    PreApproved,
    /// The call is denied, with this reason.
    Blocked(&'static str),
}
