//! Hooks of the application that run before and after every call and every request to a model.

mod call;
mod chain;
mod function;
mod refusal;
mod request;

use std::fmt::Debug;

use async_trait::async_trait;
use llm_do_providers::Response;

pub use self::call::GuardedCall;
pub(crate) use self::call::GuardedItem;
pub(crate) use self::chain::Guards;
pub use self::function::FunctionGuard;
pub use self::refusal::Refusal;
pub(crate) use self::request::ChangeableParts;
pub use self::request::GuardedRequest;
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;

#[doc = include_str!("../../docs/guard.md")]
#[async_trait]
pub trait Guard: Debug + Send + Sync {
    /// Returns the name of the guard in events and errors; read once, when the runtime is built.
    fn name(&self) -> &str;

    /// Runs before a call, once its arguments are decoded and before approval; may change the arguments.
    ///
    /// Changed arguments are validated against the tool's schema and decoded again; if they are invalid, the call is refused
    /// with an error that names this guard. If an approver then replaces the arguments, all guards run again on the new ones;
    /// if a guard changes those, the approver is asked again. Default: does nothing.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] becomes the error of the call, which does not run.
    async fn before_call(&self, call: &mut GuardedCall<'_>) -> Result<(), Refusal> {
        let _ = call;
        Ok(())
    }

    /// Runs after a call, before its result is reported; may replace the result or the error.
    ///
    /// Default: does nothing.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] becomes the error of the call, in place of its result. The effects of the call are not undone.
    async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: &mut Result<ToolReturn, CallError>,
    ) -> Result<(), Refusal> {
        let _ = (call, result);
        Ok(())
    }

    /// Runs before a worker's request to its model; may change this request.
    ///
    /// The worker's history does not change, so the next request starts from the original again. Default: does nothing.
    ///
    /// # Errors
    ///
    /// A [`Refusal`] becomes the error of the worker's call; the request is not sent.
    async fn before_request(&self, request: &mut GuardedRequest<'_>) -> Result<(), Refusal> {
        let _ = request;
        Ok(())
    }

    /// Runs after the model's response, before the worker uses it; may change the response.
    ///
    /// The worker's history contains the changed response. Default: does nothing.
    ///
    /// # Errors
    ///
    /// [`Refusal::reject`] sends the reason to the model and asks again, as for an invalid answer: it uses one of the worker's
    /// `retries`, and the tool calls of the response do not run. [`Refusal::stop`] becomes the error of the worker's call.
    async fn after_response(&self, request: &GuardedRequest<'_>, response: &mut Response) -> Result<(), Refusal> {
        let _ = (request, response);
        Ok(())
    }
}
