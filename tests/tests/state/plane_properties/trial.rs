//! Runs plans, and collects the observations.

use std::collections::BTreeSet;
use std::future::IntoFuture;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use llm_do::approval::{ApprovalMode, Policy, WorkerRule};
use llm_do::context::CancellationToken;
use llm_do::event::{Delivery, Event, EventSink};
use llm_do::journal::{MemoryJournal, Record, StepKind};
use llm_do::runtime::{RunHandle, RuntimeBuilder};
use llm_do::testing::Recorder;
use llm_do::usage::{RunUsage, UsageTree};
use llm_do::worker::WorkerSpec;
use llm_do::{Limits, Runtime};
use proptest::prelude::*;
use serde_json::Value;
use tempfile::TempDir;

use super::plan::Plan;
use super::tools::{Reviewer, World, model};

/// The settings of the session.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) max_depth: u32,
    pub(crate) tool_calls: Option<u64>,
    pub(crate) return_denials: bool,
    pub(crate) asks_about_workers: bool,
    pub(crate) streams: bool,
    pub(crate) mode: ApprovalMode,
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
            mode: ApprovalMode::Prompt,
        },
    )
}

/// When the run is stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stop {
    Never,
    /// The future is dropped after this number of polls.
    Dropped(usize),
    /// The run is cancelled after this number of events.
    Cancelled(usize),
}

/// The observations of a run.
#[derive(Debug)]
pub(crate) struct Seen {
    /// `None` if the run was dropped.
    pub(crate) result: Option<Result<Value, String>>,
    pub(crate) events: Vec<Event>,
    pub(crate) usage: RunUsage,
    pub(crate) tree: UsageTree,
    /// The conversation of a root worker, as sent to a provider.
    pub(crate) history: Vec<llm_do::model::Message>,
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

/// Cancels a run after a number of events.
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

/// The state that survives a process: a journal, and a folder of run-time workers.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) journal: MemoryJournal,
    folder: Arc<TempDir>,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Self { journal: MemoryJournal::new(), folder: Arc::new(tempfile::tempdir().unwrap()) }
    }

    /// Returns the state after a crash with `at` records, possibly between writing a worker file and recording it.
    pub(crate) fn cut(&self, at: usize) -> Self {
        let (mut records, folder) = (self.journal.records(), tempfile::tempdir().unwrap());
        let is_made = |record: &&Record| record.kind == StepKind::Effect && &*record.name == "made";
        for made in records.iter().take(at + 1).filter(is_made) {
            let text = made.input.as_str().unwrap();
            let name = text.parse::<WorkerSpec>().unwrap().name().to_owned();
            std::fs::write(folder.path().join(format!("{name}.worker")), text).unwrap();
        }
        records.truncate(at);
        Self { journal: MemoryJournal::from_records(records), folder: Arc::new(folder) }
    }

    /// Returns the state as the next process loads it.
    pub(crate) fn replayed(&self) -> Self {
        Self { journal: self.journal.replayed(), folder: Arc::clone(&self.folder) }
    }
}

/// Runs a plan with a new runtime and a new world, as in a separate process.
pub(crate) fn run(plan: &Plan, setting: &Setting, stop: Stop, kept: Option<&Kept>) -> Seen {
    let (world, recorder, token) = (World::default(), Recorder::new(), CancellationToken::new());
    let mut builder = builder(setting, &world).cancellation(token.clone()).sink(recorder.clone());
    if let Stop::Cancelled(after) = stop {
        builder = builder.sink(Canceller { left: AtomicUsize::new(after), token });
    }
    let runtime = keeping(builder, kept).build().unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (result, handle) = tokio.block_on(root(&runtime, plan.clone(), stop));
    // Waits for running blocking tasks.
    drop(tokio);
    let history = handle.history().messages().to_vec();
    Seen { result, events: recorder.events(), usage: handle.usage(), tree: handle.usage_tree(), history, world }
}

/// Runs plans sequentially on one runtime, and returns their results.
pub(crate) fn run_all(plans: &[Plan], setting: &Setting, kept: Option<&Kept>) -> (Vec<Result<Value, String>>, World) {
    let world = World::default();
    let runtime = keeping(builder(setting, &world), kept).build().unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let run = |plan: &Plan| tokio.block_on(root(&runtime, plan.clone(), Stop::Never)).0.unwrap();
    let results = plans.iter().map(run).collect();
    drop(tokio);
    (results, world)
}

fn keeping(builder: RuntimeBuilder, kept: Option<&Kept>) -> RuntimeBuilder {
    let Some(Kept { journal, folder }) = kept else { return builder };
    builder.journal(journal.clone()).worker_store(folder.path()).worker_dir(folder.path())
}

fn builder(setting: &Setting, world: &World) -> RuntimeBuilder {
    let limits = setting.tool_calls.map_or_else(Limits::new, |calls| Limits::new().tool_calls(calls));
    let mut policy = Policy::new();
    if setting.asks_about_workers {
        policy = policy.workers(WorkerRule::new().calls(true));
    }
    crate::own_builder()
        .state(world.clone())
        .approver(Reviewer(world.clone()))
        .approval_mode(setting.mode)
        .policy(policy)
        .force_model(model(world.clone()))
        .max_depth(setting.max_depth)
        .limits(limits)
        .end_on_denial(!setting.return_denials)
        .streaming(setting.streams)
}

async fn root(runtime: &Runtime, plan: Plan, stop: Stop) -> (Option<Result<Value, String>>, RunHandle) {
    let start = runtime.start_named(plan.what.name(), plan.arguments());
    let handle = start.handle();
    let run = tokio::time::timeout(Duration::from_secs(60), start.into_future());
    let left = if let Stop::Dropped(polls) = stop { polls } else { usize::MAX };
    let result = while_polled(run, left).await.map(|in_time| in_time.expect("the run stalled"));
    (result.map(|result| result.map_err(|error| llm_do::error::chain(&error))), handle)
}

/// Runs a plan several times concurrently on one runtime.
pub(crate) fn run_concurrently(plan: &Plan, times: usize, setting: &Setting) -> World {
    let world = World::default();
    let runtime = builder(setting, &world).build().unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runs = (0..times).map(|_| root(&runtime, plan.clone(), Stop::Never));
    tokio.block_on(futures_util::future::join_all(runs));
    drop(tokio);
    world
}

/// Polls a future at most `left` times, and drops it if it is not ready by then.
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
