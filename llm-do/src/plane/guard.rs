//! Functions of the application before and after every call and every request to a model.

mod call;
mod function;
mod refusal;
mod request;
mod row;

use std::fmt::Debug;

use async_trait::async_trait;
use llm_do_providers::Response;

pub use self::call::GuardedCall;
pub use self::function::FunctionGuard;
pub use self::refusal::Refusal;
pub use self::request::GuardedRequest;
pub(crate) use self::request::Wording;
pub(crate) use self::row::Guards;
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;

#[doc = include_str!("../../docs/guard.md")]
#[async_trait]
pub trait Guard: Debug + Send + Sync {
    /// Returns the name that events and refusals say; asked for once, when the runtime is built.
    fn name(&self) -> &str;

    /// Sees a call whose arguments are decoded, before anybody is asked to approve of it; may change the arguments.
    ///
    /// Changed arguments are checked against the tool's schema and decoded again; those that do not fit are refused in this
    /// guard's name, and the caller is told. What an approver puts in their place afterwards is shown to all
    /// guards again; if one changes that, the approver is asked about it. Default: lets it pass.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] is the call's error; nothing runs.
    async fn before_call(&self, call: &mut GuardedCall<'_>) -> Result<(), Refusal> {
        let _ = call;
        Ok(())
    }

    /// Sees how a call that ran has ended, before it is reported; may put another result or error in its place.
    ///
    /// Default: lets it pass.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] is the call's error, in place of the result. What the call changed stays changed.
    async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: &mut Result<ToolReturn, CallError>,
    ) -> Result<(), Refusal> {
        let _ = (call, result);
        Ok(())
    }

    /// Sees what a worker is about to ask its model; may change it for this request.
    ///
    /// The worker's own history stays as it was, so that the next request shows the original again. Default: lets it pass.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] is the error of the worker's call; nothing is asked.
    async fn before_request(&self, request: &mut GuardedRequest<'_>) -> Result<(), Refusal> {
        let _ = request;
        Ok(())
    }

    /// Sees what the model answered, before the worker goes on by it; may change it.
    ///
    /// What it leaves is what the worker's history holds. Default: lets it pass.
    ///
    /// # Errors
    ///
    /// [`Refusal::tell`] tells the model, and asks it again as for an answer that is not valid: it spends one of the
    /// worker's `retries`, and no call of the answer is made. [`Refusal::stop`] is the error of the worker's call.
    async fn after_response(&self, request: &GuardedRequest<'_>, response: &mut Response) -> Result<(), Refusal> {
        let _ = (request, response);
        Ok(())
    }
}
