//! The approvals of a run, as its calls see them.

use crate::plane::approval::ApprovalOverview;
use crate::plane::context::CallContext;
use crate::plane::dispatch::Run;

impl<S> CallContext<S> {
    /// Returns the current approvals of the run: its pending requests, and the remembered approvals.
    ///
    /// A journal does not record them: display them, but do not let them decide which calls to make.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    /// use llm_do::approval::{ApprovalScope, Decision};
    ///
    /// /// Delete a file.
    /// #[tool(effect = destructive)]
    /// fn delete(path: String) {
    ///     let _ = path;
    /// }
    ///
    /// /// Cleans up, and returns what may be deleted again.
    /// #[entry(toolsets = [delete])]
    /// async fn clean(ctx: &CallContext<clean>) -> Result<Vec<String>> {
    ///     ctx.call(delete { path: "old.txt".into() }).await?;
    ///     let remembered = ctx.approvals().remembered;
    ///     Ok(remembered.iter().map(|approval| approval.arguments["path"].to_string()).collect())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let always = |_| async { Decision::approve_for(ApprovalScope::Session) };
    /// let runtime = Runtime::builder().approve_with(always).build()?;
    /// assert_eq!(runtime.run(clean {}).await?, ["\"old.txt\""]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn approvals(&self) -> ApprovalOverview {
        let run = Run::of(self);
        run.approvals().overview(&run.approved)
    }
}
