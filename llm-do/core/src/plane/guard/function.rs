//! A guard built from closures.

use std::fmt;

use async_trait::async_trait;
use llm_do_providers::Response;

use super::{Guard, GuardedCall, GuardedRequest, Refusal};
use crate::base::error::CallError;
use crate::declare::tool::ToolReturn;

type BeforeCall = dyn Fn(&mut GuardedCall<'_>) -> Result<(), Refusal> + Send + Sync;
type AfterCall = dyn Fn(&GuardedCall<'_>, &mut Result<ToolReturn, CallError>) -> Result<(), Refusal> + Send + Sync;
type BeforeRequest = dyn Fn(&mut GuardedRequest<'_>) -> Result<(), Refusal> + Send + Sync;
type AfterResponse = dyn Fn(&GuardedRequest<'_>, &mut Response) -> Result<(), Refusal> + Send + Sync;

/// A guard built from closures, one for each hook.
///
/// The closures run on async threads, so they must not block; implement [`Guard`] for a guard that awaits something.
///
/// # Examples
///
/// ```
/// use llm_do::guard::{FunctionGuard, Refusal};
/// use llm_do::{Effect, Runtime};
///
/// let read_only = FunctionGuard::new("read_only").before_call(|call| match call.effect() {
///     Effect::Destructive => Err(Refusal::reject("destructive calls are not allowed; use read-only tools")),
///     _ => Ok(()),
/// });
/// let builder = Runtime::builder().guard(read_only);
/// # let _ = builder;
/// ```
#[must_use = "a guard does nothing until it is passed to `RuntimeBuilder::guard`"]
pub struct FunctionGuard {
    name: String,
    before_call: Option<Box<BeforeCall>>,
    after_call: Option<Box<AfterCall>>,
    before_request: Option<Box<BeforeRequest>>,
    after_response: Option<Box<AfterResponse>>,
}

impl FunctionGuard {
    /// Creates a guard without hooks, which does nothing.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), before_call: None, after_call: None, before_request: None, after_response: None }
    }

    /// Runs `f` as [`Guard::before_call`], replacing an earlier closure.
    pub fn before_call(
        mut self,
        f: impl Fn(&mut GuardedCall<'_>) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.before_call = Some(Box::new(f));
        self
    }

    /// Runs `f` as [`Guard::after_call`], replacing an earlier closure.
    pub fn after_call(
        mut self,
        f: impl Fn(&GuardedCall<'_>, &mut Result<ToolReturn, CallError>) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.after_call = Some(Box::new(f));
        self
    }

    /// Runs `f` as [`Guard::before_request`], replacing an earlier closure.
    pub fn before_request(
        mut self,
        f: impl Fn(&mut GuardedRequest<'_>) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.before_request = Some(Box::new(f));
        self
    }

    /// Runs `f` as [`Guard::after_response`], replacing an earlier closure.
    pub fn after_response(
        mut self,
        f: impl Fn(&GuardedRequest<'_>, &mut Response) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.after_response = Some(Box::new(f));
        self
    }
}

#[async_trait]
impl Guard for FunctionGuard {
    fn name(&self) -> &str {
        &self.name
    }

    async fn before_call(&self, call: &mut GuardedCall<'_>) -> Result<(), Refusal> {
        self.before_call.as_ref().map_or(Ok(()), |f| f(call))
    }

    async fn after_call(
        &self,
        call: &GuardedCall<'_>,
        result: &mut Result<ToolReturn, CallError>,
    ) -> Result<(), Refusal> {
        self.after_call.as_ref().map_or(Ok(()), |f| f(call, result))
    }

    async fn before_request(&self, request: &mut GuardedRequest<'_>) -> Result<(), Refusal> {
        self.before_request.as_ref().map_or(Ok(()), |f| f(request))
    }

    async fn after_response(&self, request: &GuardedRequest<'_>, response: &mut Response) -> Result<(), Refusal> {
        self.after_response.as_ref().map_or(Ok(()), |f| f(request, response))
    }
}

impl fmt::Debug for FunctionGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FunctionGuard").field("name", &self.name).finish_non_exhaustive()
    }
}
