//! The approvals and the guards of a session.

use std::sync::Arc;

use super::RuntimeBuilder;
use crate::declare::tool::OnUnknown;
use crate::plane::approval::Approvals;
use crate::plane::approval::{ApprovalMode, ApprovalRequest, Approver, ByFunction, Decision, FlowMode, Policy};
use crate::plane::guard::Guard;
use crate::plane::registry::Registry;
use crate::session::runtime::BuildError;

impl RuntimeBuilder {
    /// Sets how calls that need approval are decided. Default: [`ApprovalMode::Prompt`].
    pub fn approval_mode(mut self, mode: ApprovalMode) -> Self {
        self.mode = Some(mode);
        self
    }

    /// Sets the approval mode, unless one was set.
    #[doc(hidden)]
    pub fn fallback_mode(mut self, mode: ApprovalMode) -> Self {
        self.mode.get_or_insert(mode);
        self
    }

    /// Sets how strict the rule about where values came from is, in place of [what policies set](Policy::flow). Default: the mode of the
    /// policy, or else [`FlowMode::Strict`].
    ///
    /// Without a declared [source](Policy::source), no mode changes anything.
    pub fn flow(mut self, mode: FlowMode) -> Self {
        self.flow = Some(mode);
        self
    }

    /// Adds rules that apply before those of the policy.
    #[doc(hidden)]
    pub fn preferred_policy(mut self, policy: Policy) -> Self {
        self.policy = policy.or(self.policy);
        self
    }

    /// Adds the rules of a project, which apply where the policy has none.
    #[doc(hidden)]
    pub fn fallback_policy(mut self, policy: Policy) -> Self {
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

    /// Sets whether a denied call ends the run. Default: false, the model that made the call receives the reason and
    /// continues.
    ///
    /// The model gets `{"error", "tool_name", "error_type": "permission"}` as the result of the call. That holds for a denial
    /// of the approver, for one of [`ApprovalMode::RejectAll`], and for a call that a rule [blocks](crate::plane::approval::Rule::Blocked).
    /// A denial uses up none of the worker's retries, but a worker gives up once equal calls were denied in four of its turns.
    ///
    /// In any case, the run ends if the approver [stops it](Decision::DeniedAndStopped), and if there is
    /// [no decision](Decision::Undecided), such as without an approver. Code that makes a call gets its denial as an error.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::approval::Decision;
    /// use llm_do::json;
    /// use llm_do::testing::ScriptedModel;
    ///
    /// /// Delete a file.
    /// #[tool(effect = destructive)]
    /// fn delete(path: String) {
    ///     let _ = path;
    /// }
    ///
    /// /// Tidy up.
    /// #[worker(toolsets = [delete])]
    /// async fn tidy(input: String) -> String;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let model = || ScriptedModel::new().call("delete", json!({ "path": "a" })).text("I kept it.");
    /// let builder = || Runtime::builder().force_model(model()).approve_with(|_| async { Decision::deny("I need it") });
    /// let runtime = builder().build()?;
    /// assert_eq!(runtime.run(tidy { input: "Tidy up.".into() }).await?, "I kept it.");
    /// let strict = builder().end_on_denial(true).build()?;
    /// assert!(strict.run(tidy { input: "Tidy up.".into() }).await.unwrap_err().is_denied());
    /// # Ok(())
    /// # }
    /// ```
    pub fn end_on_denial(mut self, ends: bool) -> Self {
        self.config.end_on_denial = ends;
        self
    }

    /// Sets what happens to a call that began and has an unknown outcome, such as after its process died in it. Default:
    /// [`OnUnknown::Ask`].
    ///
    /// It applies to tools that are neither `read_only` nor `idempotent`, and for which neither a
    /// [policy](Policy::on_unknown) nor their source has a setting.
    pub fn on_unknown(mut self, setting: OnUnknown) -> Self {
        self.config.on_unknown = setting;
        self
    }

    /// Returns what is done about unknown outcomes where a tool has no setting.
    #[doc(hidden)]
    #[must_use]
    pub fn default_on_unknown(&self) -> OnUnknown {
        self.config.on_unknown
    }

    /// Adds a guard, which sees every call and every request to a model, and may change or refuse it. Default: none.
    ///
    /// Before a call or request, guards run in the order in which they were added; afterwards, in reverse order.
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Sets the approver, unless one is set.
    #[doc(hidden)]
    pub fn default_approver(mut self, approver: impl Approver + 'static) -> Self {
        self.approver.get_or_insert_with(|| Arc::new(approver));
        self
    }

    /// Returns whether calls that need approval would be denied, because no approver is set.
    #[doc(hidden)]
    #[must_use]
    pub fn has_no_approver(&self) -> bool {
        self.mode.unwrap_or_default() == ApprovalMode::Prompt && self.approver.is_none()
    }

    /// Returns whether the approver decides about calls that need approval.
    #[doc(hidden)]
    #[must_use]
    pub fn asks_approver(&self) -> bool {
        self.mode.unwrap_or_default() == ApprovalMode::Prompt && self.approver.is_some()
    }

    /// Returns the approvals of a session over this registry.
    #[doc(hidden)]
    pub fn approvals(self, registry: &Registry) -> Result<Approvals, BuildError> {
        let policy = self.policy.with_flow_mode(self.flow);
        Approvals::new(self.mode.unwrap_or_default(), self.approver, policy, registry).map_err(BuildError::Policy)
    }
}
