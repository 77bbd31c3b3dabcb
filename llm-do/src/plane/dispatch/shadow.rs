//! Shadows: workers that are asked alongside a tool, off its caller's path, to see whether it still does what they would.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Value;
use tokio::sync::Semaphore;

use super::Run;
use crate::base::agreement::Agreement;
use crate::base::error::{CallError, chain};
use crate::declare::tool::ToolReturn;
use crate::observe::event::{Caller, EventKind, Outcome};
use crate::plane::context::{CallContext, CallFrame};
use crate::plane::declared::Callee;
use crate::plane::registry::{Prepared, Registered, Registry, did_you_mean};

/// A worker that is asked alongside a tool, with the same arguments, to see whether the tool does what it would.
///
/// The tool answers its caller at once. Then the worker is asked in the background, and an
/// [`EventKind::Shadowed`] of the tool's call says whether both came to the same.
///
/// - What the worker uses counts for the run, and towards its limits, but not for the tool's callers. It is a call of its
///   own below the tool's in events.
/// - The root call waits for the shadows under way when it ends; they end by the run's deadline, by the worker's timeout and
///   limits, and when the run is cancelled.
/// - Nobody is asked on its account: it may call what is pre-approved, and no mode approves the rest. What asks the user
///   fails. A worker that is itself asked about by the policy is never asked.
/// - It is in no journal. A call whose result a journal had is not shadowed, nor is a call that a shadow makes, nor one that
///   was refused, cancelled, or ended by a limit.
///
/// # Examples
///
/// See [the guide to hardening](crate::harden#shadows).
#[derive(Clone, Debug)]
#[must_use = "a shadow is given to `Runtime::builder().shadow(..)`"]
pub struct Shadow {
    tool: String,
    worker: String,
    every: u64,
    at_once: usize,
    agreement: Agreement,
}

impl Shadow {
    /// Has `worker` asked alongside `tool`, both by their registered names.
    pub fn of(tool: impl Into<String>, worker: impl Into<String>) -> Self {
        Self { tool: tool.into(), worker: worker.into(), every: 1, at_once: 4, agreement: Agreement::new() }
    }

    /// Asks the worker at each `n`-th call of the tool in the session: the `n`-th, the `2n`-th, and so on. Default: 1.
    ///
    /// It is counted, not left to chance, so that a test can rely on it; 0 is taken for 1.
    pub fn every(mut self, n: u64) -> Self {
        self.every = n.max(1);
        self
    }

    /// Asks at most so many at once in the session; more wait in the background. Default: 4; 0 is taken for 1.
    pub fn at_once(mut self, calls: usize) -> Self {
        self.at_once = calls.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Ignores a field of the results, as [`Agreement::ignore`] does. Default: nothing.
    pub fn ignore(mut self, pointer: &str) -> Self {
        self.agreement = self.agreement.ignore(pointer);
        self
    }
}

/// The shadows of a session, by tool.
#[derive(Debug, Default)]
pub(crate) struct Shadows(HashMap<String, Vec<Arc<Watch>>>);

/// A shadow, and how far it is.
#[derive(Debug)]
struct Watch {
    shadow: Shadow,
    /// How many calls of the tool came so far.
    calls: AtomicU64,
    places: Arc<Semaphore>,
}

/// A call that may be shadowed once it has ended.
pub(super) struct Shadowing<'a> {
    watches: &'a [Arc<Watch>],
    arguments: Value,
}

impl Shadows {
    /// Takes the shadows, or says which of their names stand for nothing.
    pub(crate) fn new(shadows: Vec<Shadow>, registry: &Registry) -> Result<Self, Vec<String>> {
        let faults: Vec<_> = shadows.iter().flat_map(|shadow| faults(shadow, registry)).collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut by_tool: HashMap<_, Vec<_>> = HashMap::new();
        for shadow in shadows {
            let places = Arc::new(Semaphore::new(shadow.at_once));
            let watch = Watch { calls: AtomicU64::new(0), places, shadow };
            by_tool.entry(watch.shadow.tool.clone()).or_default().push(Arc::new(watch));
        }
        Ok(Self(by_tool))
    }

    /// Returns whether calls of the tool may be shadowed.
    pub(super) fn watch(&self, tool: &Registered) -> bool {
        self.0.contains_key(tool.name())
    }

    /// Returns what is needed to shadow a call after it has run; none if nothing shadows it.
    pub(super) fn of(&self, tool: &Registered, ctx: &CallContext, prepared: &Prepared) -> Option<Shadowing<'_>> {
        if self.0.is_empty() || ctx.frame().is_shadow {
            return None;
        }
        let watches = self.0.get(tool.name())?;
        Some(Shadowing { watches, arguments: prepared.arguments().ok()?.into_owned() })
    }
}

fn faults(shadow: &Shadow, registry: &Registry) -> Vec<String> {
    let Shadow { tool, worker, .. } = shadow;
    let unknown = |name: &&String| registry.get(name).is_none();
    let names = || registry.iter().map(|item| item.name());
    let missing = [tool, worker].into_iter().filter(unknown);
    let mut faults: Vec<_> = missing.map(|name| format!("`{name}`{}", did_you_mean(name, names()))).collect();
    if tool == worker {
        faults.push(format!("`{tool}`, which cannot be its own shadow"));
    }
    faults
}

impl Watch {
    /// Counts a call, and returns whether the worker is to be asked at it.
    fn is_due(&self) -> bool {
        (self.calls.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(self.shadow.every)
    }
}

impl Run {
    /// Has the worker asked at an ended call, if it is its turn.
    pub(super) fn shadow(&self, of: &Shadowing<'_>, ctx: &CallContext, result: &Result<ToolReturn, CallError>) {
        let answer = match result {
            Ok(returned) => Outcome::Result(returned.value.clone()),
            Err(error) if error.is_recoverable() && !error.is_timeout() => Outcome::Error(chain(error)),
            Err(_) => return,
        };
        for watch in of.watches.iter().filter(|watch| watch.is_due()) {
            let asked = Asked { watch: Arc::clone(watch), arguments: of.arguments.clone(), answer: answer.clone() };
            self.shadows.spawn(asked.ask(ctx.clone()));
        }
    }

    /// Waits until the shadows under way have ended.
    pub(super) async fn end_shadows(&self) {
        self.shadows.close();
        self.shadows.wait().await;
    }
}

/// A worker that is to be asked what a tool has answered.
struct Asked {
    watch: Arc<Watch>,
    arguments: Value,
    answer: Outcome,
}

impl Asked {
    async fn ask(self, ctx: CallContext) {
        let shade = ctx.shade();
        let places = Arc::clone(&self.watch.places);
        let _place = tokio::select! {
            biased;
            _ = shade.stopped() => return,
            place = places.acquire_owned() => place,
        };
        let Shadow { worker, agreement, .. } = &self.watch.shadow;
        let other = match shade.dispatch(Callee::Item(worker), Ok(self.arguments), Caller::Code).await {
            Ok(returned) => Outcome::Result(returned.value),
            // It came to nothing that says whether they agree.
            Err(error) if error.is_cancelled() => return,
            Err(error) => Outcome::Error(chain(&error)),
        };
        let agrees = match (&self.answer, &other) {
            (Outcome::Result(answer), Outcome::Result(other)) => agreement.holds(answer, other),
            _ => false,
        };
        ctx.emit(|| EventKind::Shadowed { worker: worker.clone(), agrees, answer: self.answer, other });
    }
}

impl CallContext {
    /// Returns what stands for this call, but below the user's alone: so that it outlives its callers, counts for the run
    /// and not for them, and asks nobody.
    fn shade(&self) -> CallContext {
        let mut user = self;
        while let Some(caller) = user.caller() {
            user = caller;
        }
        let own = self.frame();
        user.clone().into_child(CallFrame {
            depth: own.depth,
            nesting: own.nesting,
            is_shadow: true,
            is_unguarded: own.is_unguarded,
            ..CallFrame::new(own.call, Arc::clone(&own.name), own.by)
        })
    }
}
