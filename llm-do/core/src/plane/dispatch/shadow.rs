//! Shadows: workers that run in the background alongside a tool, to check that both return equal results.

mod drift;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use llm_do_worker_file::did_you_mean;
use serde_json::Value;
use tokio::sync::Semaphore;

use self::drift::Drift;
use super::pipeline::{Call, CallResult, Next, Wrapper};
use super::{origins, report, signature};
use crate::base::agreement::Agreement;
use crate::base::error::chain;
use crate::observe::event::{Caller, EventKind, EventValue, Outcome};
use crate::plane::context::{CallContext, CallFrame, GivenArguments};
use crate::plane::declared::Callee;
use crate::plane::registry::{Prepared, Registry};

/// A worker that is called alongside a tool, with the same arguments, to check that the tool returns the same result.
///
/// The tool returns to its caller first. Then the worker runs in the background, and an [`EventKind::Shadowed`] of the tool's
/// call reports whether both results agree.
///
/// - The worker's usage counts for the run and its limits, but not for the tool's callers. In events, it is a separate call
///   below the tool's.
/// - The root call waits for shadows in flight before it returns. They are stopped by the run's deadline, by the worker's
///   timeout and limits, and when the run is cancelled.
/// - A shadow never asks for approval or input: it may call what is pre-approved, and the approval mode does not approve
///   anything else. Questions to the user fail. A worker that itself needs approval never runs as a shadow.
/// - Shadows are not in the journal. A call is not shadowed if its result was replayed from a journal, if a shadow made it, if
///   it was refused, cancelled, or stopped by a limit, or in a [dry run](https://docs.rs/llm-do/latest/llm_do/dry_run/index.html).
///
/// # Examples
///
/// See [the guide to hardening](https://docs.rs/llm-do/latest/llm_do/harden/index.html#shadows).
#[derive(Clone, Debug)]
#[must_use = "pass the shadow to `Runtime::builder().shadow(..)`"]
pub struct Shadow {
    tool: String,
    worker: String,
    every: u64,
    max_concurrent: usize,
    agreement: Agreement,
    /// The share of disagreements above which there is an alert.
    alert_over: Option<f64>,
}

impl Shadow {
    /// Creates a shadow that calls `worker` alongside `tool`, both by their registered names.
    pub fn of(tool: impl Into<String>, worker: impl Into<String>) -> Self {
        let (tool, worker, agreement) = (tool.into(), worker.into(), Agreement::new());
        Self { tool, worker, every: 1, max_concurrent: 4, agreement, alert_over: None }
    }

    /// Calls the worker at every `n`-th call of the tool in the session: the `n`-th, the `2n`-th, and so on. Default: 1.
    ///
    /// Calls are counted, not sampled at random, so tests can rely on it. 0 is treated as 1.
    pub fn every(mut self, n: u64) -> Self {
        self.every = n.max(1);
        self
    }

    /// Sets the maximum number of concurrent calls of the worker in the session; more wait in the background. Default: 4.
    ///
    /// 0 is treated as 1.
    pub fn max_concurrent(mut self, calls: usize) -> Self {
        self.max_concurrent = calls.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Reports an [`EventKind::Drifted`] when the share of disagreements rises above this, from 0 to 1. Default: never.
    ///
    /// The latest 100 comparisons of the session count, and there must be at least 10.
    pub fn alert_over(mut self, share: f64) -> Self {
        self.alert_over = Some(share);
        self
    }

    /// Ignores a field of the results, as [`Agreement::ignore`] does. Default: none.
    pub fn ignore(mut self, pointer: &str) -> Self {
        self.agreement = self.agreement.ignore(pointer);
        self
    }
}

/// The shadows of a session, by tool.
#[derive(Debug, Default)]
pub(crate) struct Shadows(HashMap<String, Vec<Arc<ShadowState>>>);

/// A shadow with its counters.
#[derive(Debug)]
struct ShadowState {
    shadow: Shadow,
    /// The number of calls of the tool so far.
    calls: AtomicU64,
    permits: Arc<Semaphore>,
    drift: Option<Drift>,
}

impl Shadows {
    /// Registers the shadows, or returns their unknown names.
    pub(crate) fn new(mut shadows: Vec<Shadow>, registry: &Registry) -> Result<Self, Vec<String>> {
        // The server of such a tool was not needed for these runs, or could not be used.
        shadows.retain(|shadow| ![&shadow.tool, &shadow.worker].into_iter().any(|name| registry.lacks(name)));
        let faults: Vec<_> = shadows.iter().flat_map(|shadow| faults(shadow, registry)).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut by_tool: HashMap<_, Vec<_>> = HashMap::new();
        for shadow in shadows {
            let permits = Arc::new(Semaphore::new(shadow.max_concurrent));
            let drift = shadow.alert_over.map(Drift::over);
            let state = ShadowState { calls: AtomicU64::new(0), permits, drift, shadow };
            by_tool.entry(state.shadow.tool.clone()).or_default().push(Arc::new(state));
        }
        Ok(Self(by_tool))
    }

    /// Returns the shadows of a call; empty for most calls.
    fn of<'a>(&'a self, call: &Call<'_>) -> &'a [Arc<ShadowState>] {
        if self.0.is_empty() || call.ctx.frame().is_shadow || call.run.settings.dry_run.is_some() {
            return &[];
        }
        self.0.get(call.tool.name()).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Starts the shadows of a call once it has finished.
pub(super) const WRAPPER: Wrapper = Wrapper { applies: |call| !call.run.plane.shadows.of(call).is_empty(), around };

fn around<'c>(call: &'c mut Call<'_>, prepared: Prepared, next: Next) -> BoxFuture<'c, CallResult> {
    let arguments = prepared.arguments().map(|arguments| arguments.value().clone()).ok();
    Box::pin(async move {
        let result = next.run(call, prepared).await;
        let is_replayed = call.open.as_ref().is_some_and(|open| open.is_replayed);
        // The result is reported before the events of the shadows.
        let labels = origins::finish(call, &result);
        report::finish(call, &result, labels);
        if let Some(arguments) = arguments.filter(|_| !is_replayed) {
            spawn(call, &arguments, &result);
        }
        result
    })
}

/// Starts the shadows of a finished call that are due.
fn spawn(call: &Call<'_>, arguments: &Value, result: &CallResult) {
    let (run, ctx) = (call.run, call.ctx);
    let answer = match result {
        Ok(returned) => Outcome::Result(EventValue::from_json(returned.content.clone())),
        // The worker answers the call in any case.
        Err(_) if run.plane.hybrids.is_attempt(ctx) => return,
        Err(error) if error.is_recoverable() && !error.is_timeout() => Outcome::Error(chain(error)),
        Err(_) => return,
    };
    for state in run.plane.shadows.of(call).iter().filter(|state| state.is_due()) {
        let comparison = Comparison { state: Arc::clone(state), arguments: arguments.clone(), answer: answer.clone() };
        let detached = ctx.detached();
        origins::carry_over(call, arguments, &detached);
        run.background.shadows.spawn(comparison.run(ctx.clone(), detached));
    }
}

fn faults(shadow: &Shadow, registry: &Registry) -> Vec<String> {
    let Shadow { tool, worker, .. } = shadow;
    let unknown = |name: &&String| registry.get(name).is_none();
    let names = || registry.iter().map(|item| item.name());
    let missing = [tool, worker].into_iter().filter(unknown);
    let mut faults: Vec<_> =
        missing.map(|name| format!("unknown name `{name}`{}", did_you_mean(name, names()))).collect();
    if tool == worker {
        faults.push(format!("`{tool}` cannot be its own shadow"));
    }
    if faults.is_empty()
        && let (Some(tool), Some(worker)) = (registry.get(tool), registry.get(worker))
        && let Some(fault) = signature::argument_fault(worker, tool)
    {
        faults.push(format!("`{}` cannot be a shadow of `{}`: {fault}", worker.name(), tool.name()));
    }
    faults
}

impl ShadowState {
    /// Counts a call, and returns whether the worker runs for it.
    fn is_due(&self) -> bool {
        (self.calls.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(self.shadow.every)
    }
}

/// A pending call of a worker, whose result is compared with the tool's.
struct Comparison {
    state: Arc<ShadowState>,
    arguments: Value,
    answer: Outcome,
}

impl Comparison {
    async fn run(self, ctx: CallContext, detached: CallContext) {
        let permits = Arc::clone(&self.state.permits);
        let _permit = tokio::select! {
            biased;
            _ = detached.stopped() => return,
            permit = permits.acquire_owned() => permit,
        };
        let Shadow { worker, agreement, .. } = &self.state.shadow;
        let other =
            match detached.dispatch(Callee::Item(worker), GivenArguments::Value(self.arguments), Caller::Code).await {
                Ok(returned) => Outcome::Result(EventValue::from_json(returned.content)),
                // A cancelled worker has no result to compare.
                Err(error) if error.is_cancelled() => return,
                Err(error) => Outcome::Error(chain(&error)),
            };
        let agrees = match (&self.answer, &other) {
            (Outcome::Result(answer), Outcome::Result(other)) => agreement.holds(&answer.value(), &other.value()),
            _ => false,
        };
        ctx.emit(|| EventKind::Shadowed { worker: worker.clone(), agrees, answer: self.answer, other });
        if let Some((disagree, of)) = self.state.drift.as_ref().and_then(|drift| drift.note(agrees)) {
            ctx.emit(|| EventKind::Drifted { worker: worker.clone(), disagree, of });
        }
    }
}

impl CallContext {
    /// Returns a copy of this call directly below the user's call. It outlives its callers, counts for the run but not
    /// for them, and asks for no approval or input.
    fn detached(&self) -> CallContext {
        let mut user = self;
        while let Some(caller) = user.caller() {
            user = caller;
        }
        let own = self.frame();
        user.clone().into_child_of(
            Arc::clone(self.host()),
            CallFrame {
                depth: own.depth,
                nesting: own.nesting,
                is_shadow: true,
                is_unguarded: own.is_unguarded,
                ..CallFrame::new(own.call, Arc::clone(&own.name), own.by)
            },
        )
    }
}
