//! How calls that need approval are decided, unless the approver decides.

/// How calls that need approval are decided.
///
/// Decisions of the mode are not recorded: a run that is resumed from a
/// [journal](crate::session::runtime::RuntimeBuilder::journal) follows the mode of the new process. A decision of the approver
/// is recorded, and holds for its call until the call begins; [`RejectAll`](Self::RejectAll) still rejects such a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApprovalMode {
    /// Asks the approver; without an approver, the call is denied.
    #[default]
    Prompt,
    /// Approves each call; [blocked](super::Rule::Blocked) calls stay blocked. The approver, if there is one, is asked about calls that
    /// [began](super::ApprovalRequest::began) before and may have had their effect; without one, they are [reported](crate::declare::tool::OnUnknown).
    ApproveAll,
    /// Denies each call; [pre-approved](super::Rule::PreApproved) calls still run. Calls that began before and may have had
    /// their effect are [reported](crate::declare::tool::OnUnknown).
    RejectAll,
}

impl ApprovalMode {
    /// Returns the mode under which fewer calls run.
    pub(super) fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::RejectAll, _) | (_, Self::RejectAll) => Self::RejectAll,
            (Self::Prompt, _) | (_, Self::Prompt) => Self::Prompt,
            (Self::ApproveAll, Self::ApproveAll) => Self::ApproveAll,
        }
    }
}
