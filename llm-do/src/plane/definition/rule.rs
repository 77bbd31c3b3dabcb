//! What an item or a toolset says of approval in the source.

/// Whether a call needs approval, as a macro registers it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclaredRule {
    /// Somebody is asked.
    Ask,
    /// It runs.
    PreApproved,
    /// It does not run; the reason.
    Blocked(&'static str),
}
