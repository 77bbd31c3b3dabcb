//! The methods of a call's context about dry runs.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::CallContext;
use crate::base::error::{CallError, Fault};
use crate::plane::plan::Plan;

impl<S> CallContext<S> {
    /// Returns whether the run is a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html), for a tool that can show what it would change.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::prelude::*;
    ///
    /// /// Sums up the day, and returns whether the summary is kept.
    /// #[entry]
    /// async fn sum_up(ctx: &CallContext) -> Result<bool> {
    ///     // The code of an entry runs in a dry run too.
    ///     Ok(!ctx.is_dry_run())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// assert!(!runtime.start(sum_up {}).dry_run().await?);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        self.scope.host.dry_run().is_some()
    }

    /// Returns the plan of the dry run so far; `None` for other runs.
    pub(crate) fn plan(&self) -> Option<Plan> {
        self.scope.host.dry_run().map(|dry_run| dry_run.plan())
    }

    /// Adds an effect of the call to the plan of a dry run, and returns its result; `None` if the effect runs.
    #[doc(hidden)]
    #[must_use]
    pub fn plan_effect<T: DeserializeOwned>(&self, name: &str, input: &Value) -> Option<Result<T, CallError>> {
        if !self.is_dry_run() {
            return None;
        }
        let planned = self.scope.host.plan_effect(&self.declaring(), name, input)?;
        let read = |value| {
            serde_json::from_value(value).map_err(|error| CallError::Result {
                tool: name.to_owned(),
                message: Fault::reading(&error).to_string(),
            })
        };
        Some(planned.and_then(read))
    }
}
