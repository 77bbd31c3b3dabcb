//! Who decides about calls, and what guards may change or refuse.

use std::sync::Arc;

use super::RuntimeBuilder;
#[cfg(feature = "cli")]
use crate::plane::approval::Approvals;
use crate::plane::approval::{ApprovalMode, ApprovalRequest, Approver, ByFunction, Decision, Policy};
use crate::plane::guard::Guard;
#[cfg(feature = "cli")]
use crate::plane::registry::Registry;
#[cfg(feature = "cli")]
use crate::session::runtime::BuildError;

impl RuntimeBuilder {
    /// Sets how calls that need approval are decided. Default: [`ApprovalMode::Prompt`].
    pub fn approval_mode(mut self, mode: ApprovalMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets the approval mode, unless one was set.
    #[cfg(feature = "project")]
    pub(crate) fn fallback_mode(mut self, mode: ApprovalMode) -> Self {
        self.mode.get_or_insert(mode);
        self
    }

    /// Adds rules that apply before those of the policy.
    #[cfg(feature = "cli")]
    pub(crate) fn preferred_policy(mut self, policy: Policy) -> Self {
        self.policy = policy.or(self.policy);
        self
    }

    /// Adds the rules of a project, which apply where the policy has none.
    #[cfg(feature = "project")]
    pub(crate) fn fallback_policy(mut self, policy: Policy) -> Self {
        self.policy = self.policy.or(policy.of_project());
        self
    }

    /// Sets the approver that decides about calls that need approval. Default: none, and such calls are denied.
    pub fn approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets a function that decides about calls that need approval, one at a time; see [`approver`](Self::approver).
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::approval::Decision;
    /// use llm_do::Runtime;
    ///
    /// # fn main() -> llm_do::Result<()> {
    /// let runtime = Runtime::builder()
    ///     .approve_with(|request| async move {
    ///         if request.caller.starts_with("trusted_") { Decision::approve() } else { Decision::deny("not trusted") }
    ///     })
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok(())
    /// # }
    /// ```
    pub fn approve_with<F, D>(self, approve: F) -> Self
    where
        F: Fn(ApprovalRequest) -> D + Send + Sync + 'static,
        D: Future<Output = Decision> + Send + 'static,
    {
        self.approver(ByFunction(approve))
    }

    /// Sets rules for which calls need approval, which override those of tools, toolsets and effects. Default: no
    /// rules.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets whether a worker's model is informed of a denied call and may continue. Default: false, a denial fails the
    /// run.
    pub fn return_permission_errors(mut self, yes: bool) -> Self {
        self.config.return_permission_errors = yes;
        self
    }

    /// Adds a guard, which sees every call and every request to a model, and may change or refuse it. Default: none.
    ///
    /// Before a call or request, guards run in the order in which they were added; afterwards, in reverse order.
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Sets the approver, unless one is set.
    #[cfg(feature = "cli")]
    pub(crate) fn default_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver.get_or_insert_with(|| Arc::new(approver));
        self
    }

    /// Returns whether calls that need approval would be denied, because no approver is set.
    #[cfg(feature = "cli")]
    pub(crate) fn has_no_approver(&self) -> bool {
        self.mode.unwrap_or_default() == ApprovalMode::Prompt && self.approver.is_none()
    }

    /// Returns whether the approver decides about calls that need approval.
    #[cfg(feature = "cli")]
    pub(crate) fn asks_approver(&self) -> bool {
        self.mode.unwrap_or_default() == ApprovalMode::Prompt && self.approver.is_some()
    }

    /// Returns the approvals of a session over this registry.
    #[cfg(feature = "cli")]
    pub(crate) fn approvals(self, registry: &Registry) -> Result<Approvals, BuildError> {
        Approvals::new(self.mode.unwrap_or_default(), self.approver, self.policy, registry).map_err(BuildError::Policy)
    }
}
