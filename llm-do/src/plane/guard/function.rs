//! A guard that is made of closures.

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

/// A guard that is made of closures, one for each hook that it needs.
///
/// They run on async threads, so they must be quick; one that waits for something is a [`Guard`] of its own.
///
/// # Examples
///
/// ```
/// use llm_do::guard::{FunctionGuard, Refusal};
/// use llm_do::{Effect, Runtime};
///
/// let read_only = FunctionGuard::new("read_only").before_call(|call| match call.effect() {
///     Effect::Destructive => Err(Refusal::tell("nothing may be destroyed here; look only")),
///     _ => Ok(()),
/// });
/// let builder = Runtime::builder().guard(read_only);
/// # let _ = builder;
/// ```
#[must_use = "a guard sees nothing until it is given to a `RuntimeBuilder`"]
pub struct FunctionGuard {
    name: String,
    before_call: Option<Box<BeforeCall>>,
    after_call: Option<Box<AfterCall>>,
    before_request: Option<Box<BeforeRequest>>,
    after_response: Option<Box<AfterResponse>>,
}

impl FunctionGuard {
    /// Returns a guard that lets everything pass.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), before_call: None, after_call: None, before_request: None, after_response: None }
    }

    /// Runs `f` as [`Guard::before_call`], in place of one given before.
    pub fn before_call(
        mut self,
        f: impl Fn(&mut GuardedCall<'_>) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.before_call = Some(Box::new(f));
        self
    }

    /// Runs `f` as [`Guard::after_call`], in place of one given before.
    pub fn after_call(
        mut self,
        f: impl Fn(&GuardedCall<'_>, &mut Result<ToolReturn, CallError>) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.after_call = Some(Box::new(f));
        self
    }

    /// Runs `f` as [`Guard::before_request`], in place of one given before.
    pub fn before_request(
        mut self,
        f: impl Fn(&mut GuardedRequest<'_>) -> Result<(), Refusal> + Send + Sync + 'static,
    ) -> Self {
        self.before_request = Some(Box::new(f));
        self
    }

    /// Runs `f` as [`Guard::after_response`], in place of one given before.
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
