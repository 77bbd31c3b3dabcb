//! One run of a plan, and all that was seen of it.

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use llm_do::testing::Recorder;
use llm_do::{
    CancellationToken, Delivery, Event, EventSink, FromReturn, Limits, MemoryJournal, Policy, RunUsage, Runtime, Tool,
    UsageTree, WorkerRule,
};
use proptest::prelude::*;
use serde_json::Value;

use super::plan::{Plan, What};
use super::tools::{Reviewer, World, agent, composite, model};

/// What the session says.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) max_depth: u32,
    pub(crate) tool_calls: Option<u64>,
    pub(crate) return_denials: bool,
    pub(crate) asks_about_workers: bool,
    pub(crate) streams: bool,
}

pub(crate) fn settings() -> impl Strategy<Value = Setting> {
    let tool_calls = prop::option::weighted(0.3, 0..12_u64);
    (1..9_u32, tool_calls, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(max_depth, tool_calls, return_denials, asks_about_workers, streams)| Setting {
            max_depth,
            tool_calls,
            return_denials,
            asks_about_workers,
            streams,
        },
    )
}

/// When the run is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    Never,
    /// Its future is dropped after so many polls.
    Dropped(usize),
    /// It is cancelled when so many things have happened.
    Cancelled(usize),
}

/// What was seen of a run.
#[derive(Debug)]
pub(crate) struct Seen {
    /// None if it was dropped.
    pub(crate) result: Option<Result<Value, String>>,
    pub(crate) events: Vec<Event>,
    pub(crate) usage: RunUsage,
    pub(crate) tree: UsageTree,
    /// What was said in a root worker, as a provider accepts it.
    pub(crate) history: Vec<llm_do::Message>,
    pub(crate) world: World,
}

impl Seen {
    pub(crate) fn effects(&self) -> Vec<u32> {
        let mut effects = self.world.effects.lock().unwrap().clone();
        effects.sort_unstable();
        effects
    }

    pub(crate) fn approved(&self) -> BTreeSet<u32> {
        self.world.approved.lock().unwrap().clone()
    }

    pub(crate) fn requests(&self) -> usize {
        self.world.requests.load(Ordering::Relaxed)
    }
}

/// Cancels a run when so many things have happened.
#[derive(Debug)]
struct Canceller {
    left: AtomicUsize,
    token: CancellationToken,
}

impl EventSink for Canceller {
    fn emit(&self, _: &Arc<Event>) {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            self.token.cancel();
        }
    }

    fn delivery(&self) -> Delivery {
        Delivery::Inline
    }
}

/// Runs a plan in a process of its own, so to say: a runtime and a world that know of no other run.
pub(crate) fn run(plan: &Plan, setting: &Setting, stop: Stop, journal: Option<MemoryJournal>) -> Seen {
    let (world, recorder, token) = (World::default(), Recorder::new(), CancellationToken::new());
    let limits = setting.tool_calls.map_or_else(Limits::new, |calls| Limits::new().tool_calls(calls));
    let mut policy = Policy::new();
    if setting.asks_about_workers {
        policy = policy.workers(WorkerRule::new().calls(true));
    }
    let mut builder = Runtime::builder()
        .state(world.clone())
        .approver(Reviewer(world.clone()))
        .policy(policy)
        .force_model(model(world.clone()))
        .max_depth(setting.max_depth)
        .limits(limits)
        .return_permission_errors(setting.return_denials)
        .streaming(setting.streams)
        .cancellation(token.clone())
        .sink(recorder.clone());
    if let Stop::Cancelled(after) = stop {
        builder = builder.sink(Canceller { left: AtomicUsize::new(after), token });
    }
    if let Some(journal) = journal {
        builder = builder.journal(journal);
    }
    let runtime = builder.build().unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let plan = plan.clone();
    let (result, handle) = match plan.what {
        What::Agent => tokio.block_on(root(&runtime, agent { plan }, stop)),
        _ => tokio.block_on(root(&runtime, composite { plan }, stop)),
    };
    // Waits for what still runs off the async threads.
    drop(tokio);
    let history = handle.history().messages().to_vec();
    Seen { result, events: recorder.events(), usage: handle.usage(), tree: handle.usage_tree(), history, world }
}

async fn root<T>(runtime: &Runtime, call: T, stop: Stop) -> (Option<Result<Value, String>>, llm_do::RunHandle)
where
    T: Tool<Output: FromReturn + Into<Value>>,
{
    let start = runtime.start(call);
    let handle = start.handle();
    let run = tokio::time::timeout(Duration::from_secs(60), start.into_future());
    let left = if let Stop::Dropped(polls) = stop { polls } else { usize::MAX };
    let result = while_polled(run, left).await.map(|in_time| in_time.expect("the run has come to a halt"));
    (result.map(|result| result.map(Into::into).map_err(|error| llm_do::chain(&error))), handle)
}

/// Polls a future so many times, and drops it if it is not done by then.
async fn while_polled<F: Future>(future: F, mut left: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}
