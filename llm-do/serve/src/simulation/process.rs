//! A simulated process: the service, with a condition.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use fastrand::Rng;
use futures_util::future::try_join;
use jiff::Timestamp;
use llm_do_core::base::clock::Clock;
use llm_do_core::base::error::Result;
use llm_do_core::declare::tool::Effect;
use llm_do_core::observe::database::simulated::{Condition, SimulatedFile};
use llm_do_core::observe::journal::SqliteJournal;
use llm_do_core::plane::context::CallContext;
use llm_do_core::plane::function_tool::FunctionTool;
use llm_do_core::session::runtime::Runtime;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::Instant;

use super::plan::{self, Stage};
use super::world::World;
use crate::store::Store;
use crate::{OpenService, Service};

/// How long a process may be silent.
pub(super) const LEASE: Duration = Duration::from_secs(15);

/// The simulated time.
#[derive(Clone, Copy, Debug)]
pub(super) struct SimulatedClock(Instant);

/// A process that runs the service.
pub(super) struct Process {
    condition: watch::Sender<Condition>,
    service: OpenService,
}

/// Where the tools of a process run.
#[derive(Clone)]
struct Host {
    world: World,
    condition: watch::Receiver<Condition>,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(crate = "::schemars")]
struct Work {
    run: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
#[schemars(crate = "::schemars")]
struct Request {
    run: u32,
    effect: u32,
}

impl SimulatedClock {
    /// Starts a clock at an arbitrary time.
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    pub(super) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}

impl Clock for SimulatedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap().checked_add(self.elapsed()).unwrap()
    }
}

impl Process {
    pub(super) fn start(file: &SimulatedFile, world: &World, clock: SimulatedClock, name: String) -> Self {
        let (sender, condition) = watch::channel(Condition::Running);
        let database = file.open(condition.clone());
        let store = Store::new(database.clone()).unwrap();
        let journal = SqliteJournal::on(database).unwrap().with_clock(clock);
        let host = Host { world: world.clone(), condition };
        let runtime = Runtime::builder().tool(work(host.clone())).tool(effect(host)).build().unwrap();
        let service = Service::new(runtime)
            .entries(["work"])
            .unwrap()
            .clock(clock)
            .poll_interval(Duration::from_secs(1))
            .park_after(Duration::from_secs(5))
            .take_over_after(LEASE)
            .keep_finished(Duration::from_mins(3));
        Self { condition: sender, service: service.start(store, journal, name, None) }
    }

    /// Ends the process immediately; what it has not committed is lost.
    pub(super) fn crash(self) {
        self.condition.send_replace(Condition::Dead);
        // So that its tasks end, which can neither write nor request anything any longer.
        self.service.shared.shutdown.cancel();
    }

    pub(super) fn stall(&self) {
        self.condition.send_replace(Condition::Stalled);
    }

    pub(super) fn go_on(&self) {
        self.condition.send_replace(Condition::Running);
    }

    /// Ends the process in order, as for a deploy.
    pub(super) async fn close(self) {
        self.service.close().await;
    }
}

/// The entry: makes the effects of its run.
fn work(host: Host) -> FunctionTool {
    let work = move |ctx: CallContext, Work { run }: Work| {
        let host = host.clone();
        async move {
            let attempt = host.world.attempt(run, host.condition.clone());
            let result = while_running(host.condition, make(&ctx, run)).await;
            drop(attempt);
            result
        }
    };
    FunctionTool::typed("work", "Works.", Effect::Idempotent, work).pre_approved()
}

async fn make(ctx: &CallContext, run: u32) -> Result<u64> {
    let (mut sum, mut next) = (0, 0..);
    let mut effect = || ctx.call_tool("effect", json!({ "run": run, "effect": next.next() }));
    for stage in plan::plan(run) {
        match stage {
            Stage::Effect => sum += effect().await?.as_u64().unwrap(),
            Stage::Together => {
                let (first, second) = try_join(effect(), effect()).await?;
                sum += first.as_u64().unwrap() + second.as_u64().unwrap();
            }
            Stage::Sleep(seconds) => ctx.sleep(Duration::from_secs(seconds)).await?,
            Stage::Ask => sum += ctx.request_user_input("How many?").await?.parse::<u64>()?,
        }
    }
    Ok(sum)
}

/// The tool whose effects are outside.
fn effect(host: Host) -> FunctionTool {
    let effect = move |ctx: CallContext, Request { run, effect }: Request| {
        let host = host.clone();
        async move {
            host.world.request(run, effect, &ctx.idempotency_key());
            let millis = Rng::with_seed(plan::value(run, effect)).u64(200..4_000);
            tokio::time::sleep(Duration::from_millis(millis)).await;
            Ok(plan::value(run, effect))
        }
    };
    FunctionTool::typed("effect", "Has an effect.", Effect::Idempotent, effect).pre_approved()
}

/// Polls a future only while its process runs.
async fn while_running<F: Future>(mut condition: watch::Receiver<Condition>, future: F) -> F::Output {
    let mut future = pin!(future);
    loop {
        if condition.wait_for(|condition| *condition == Condition::Running).await.is_err() {
            std::future::pending::<()>().await;
        }
        tokio::select! {
            biased;
            _ = condition.changed() => {}
            output = &mut future => return output,
        }
    }
}
