//! What a run costs on the engine Restate, and each of its steps, beside the engine's own SDK with the same steps.
//!
//! `LLM_DO_TEST_RESTATE=FOLDER cargo bench -p llm-do-tests --features restate --bench restate`, with the folder of
//! `tests/restate/install`. The engine syncs each step to disk, so the disk decides; `TMPDIR=/dev/shm` shows the rest. Rounds
//! alternate, and each figure is the median of its rounds. Runs of two lengths separate the cost of a step from that of a run.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by a panic")]
#![allow(clippy::print_stdout, reason = "the figures")]
#![allow(missing_docs, reason = "the macro of the SDK makes undocumented functions")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use llm_do::context::CancellationToken;
use llm_do::prelude::*;
use llm_do::serve::RestateWorker;
use restate_sdk::prelude::{Context, ContextSideEffects, Endpoint, HandlerError, HttpServer, RunFuture};
use serde_json::{Value, json};
use tokio::net::TcpListener;

const STEPS: u64 = 5;
/// The steps of long runs.
const MANY_STEPS: u64 = 25;
const ROUNDS: usize = 9;
/// How many runs are made one after the other in a round.
const ALONE: u32 = 100;
/// How many runs are made by each of the tasks of a round.
const EACH: u32 = 10;
const TASKS: u32 = 64;

/// Makes steps, each of which returns a number.
#[entry]
async fn add_up(ctx: &CallContext, steps: u64) -> Result<u64> {
    let mut sum = 0;
    for step in 0..steps {
        sum += ctx.effect("step", step, async move { Ok(step) }).await?;
    }
    Ok(sum)
}

/// The same, as a service of the SDK.
struct Plain;

#[restate_sdk::service]
impl Plain {
    #[handler]
    async fn run(&self, ctx: Context<'_>, steps: u64) -> Result<u64, HandlerError> {
        let mut sum = 0;
        for step in 0..steps {
            sum += ctx.run(|| async move { Ok(step) }).name("step").await?;
        }
        Ok(sum)
    }
}

/// A server of the engine, which ends with this process.
struct Engine {
    server: Child,
    ingress: String,
    admin: String,
    _data: tempfile::TempDir,
}

impl Engine {
    fn start(installed: &Path) -> Self {
        let data = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("restate/start");
        let mut command = Command::new(script);
        let mut server = command.arg(installed).arg(data.path()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let mut addresses = line.split_whitespace().filter(|word| word.starts_with("http")).map(str::to_owned);
        let (ingress, admin) = (addresses.next().unwrap(), addresses.next().unwrap());
        Self { server, ingress, admin, _data: data }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// A way to make a run.
struct Side {
    name: &'static str,
    uri: String,
    /// What it sends, for a number of steps.
    body: fn(u64) -> Value,
    alone: Vec<Duration>,
    /// Runs of many steps, alone.
    long: Vec<Duration>,
    together: Vec<Duration>,
}

impl Side {
    fn new(name: &'static str, uri: String, body: fn(u64) -> Value) -> Self {
        Self { name, uri, body, alone: Vec::new(), long: Vec::new(), together: Vec::new() }
    }

    async fn run(&self, http: &reqwest::Client, steps: u64) {
        let request = http.post(&self.uri).header("content-type", "application/json");
        let response = request.body((self.body)(steps).to_string()).send().await.unwrap();
        let (status, text) = (response.status(), response.text().await.unwrap());
        let sum = (steps * (steps - 1) / 2).to_string();
        assert!(status.is_success() && text.contains(&sum), "{status}: {text}");
    }

    /// Returns the time of a run alone.
    async fn time(&self, http: &reqwest::Client, steps: u64) -> Duration {
        let begun = Instant::now();
        for _ in 0..ALONE {
            self.run(http, steps).await;
        }
        begun.elapsed() / ALONE
    }

    /// Measures a round: the time of a run alone, of a long one, and a run's share of the time of many.
    async fn measure(&mut self, http: &reqwest::Client) {
        self.alone.push(self.time(http, STEPS).await);
        self.long.push(self.time(http, MANY_STEPS).await);
        let begun = Instant::now();
        let this = &*self;
        let task = |_| async move {
            for _ in 0..EACH {
                this.run(http, STEPS).await;
            }
        };
        join_all((0..TASKS).map(task)).await;
        self.together.push(begun.elapsed() / (EACH * TASKS));
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times[times.len() / 2]
}

#[tokio::main]
async fn main() {
    let Some(installed) = std::env::var_os("LLM_DO_TEST_RESTATE") else {
        println!("skipped: set LLM_DO_TEST_RESTATE to the folder of tests/restate/install");
        return;
    };
    let engine = Engine::start(Path::new(&installed));
    let http = reqwest::Client::new();
    let plain = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let plain_uri = format!("http://{}", plain.local_addr().unwrap());
    tokio::spawn(HttpServer::new(Endpoint::builder().bind(Plain).build()).serve(plain));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let worker = RestateWorker::new("ours", Runtime::builder().build().unwrap()).unwrap().register(&engine.admin);
    tokio::spawn(worker.serve(listener, CancellationToken::new()));
    while http
        .get(format!("{}/services/ours", engine.admin))
        .send()
        .await
        .map_or(true, |found| !found.status().is_success())
    {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let deployment = json!({ "uri": plain_uri }).to_string();
    let request = http.post(format!("{}/deployments", engine.admin)).header("content-type", "application/json");
    assert!(request.body(deployment).send().await.unwrap().status().is_success());

    let mut sides = [
        Side::new("SDK", format!("{}/Plain/run", engine.ingress), |steps| json!(steps)),
        Side::new(
            "llm-do",
            format!("{}/ours/run", engine.ingress),
            |steps| json!({ "entry": "add_up", "arguments": { "steps": steps } }),
        ),
    ];
    for _ in 0..=ROUNDS {
        for side in &mut sides {
            side.measure(&http).await;
        }
    }
    let figures = sides.each_ref().map(Figures::of);
    for (side, Figures { alone, step, together }) in sides.iter().zip(&figures) {
        println!(
            "{:>7}: {alone:.2?} per run of {STEPS} steps alone, {step:.3?} per further step, {together:.2?} per run of {TASKS} at a time",
            side.name
        );
    }
    let [plain, ours] = figures;
    let overhead = |ours: Duration, plain: Duration| (ours.as_secs_f64() / plain.as_secs_f64() - 1.0) * 100.0;
    println!(
        "overhead: {:.0} % of a run alone, {:.0} % of a further step, {:.0} % of a run among many",
        overhead(ours.alone, plain.alone),
        overhead(ours.step, plain.step),
        overhead(ours.together, plain.together)
    );
}

/// The medians of a side.
struct Figures {
    alone: Duration,
    step: Duration,
    together: Duration,
}

impl Figures {
    fn of(side: &Side) -> Self {
        // The first round warms up.
        let [alone, long, together] = [&side.alone, &side.long, &side.together].map(|times| median(&times[1..]));
        let further = u32::try_from(MANY_STEPS - STEPS).unwrap();
        Self { alone, step: long.saturating_sub(alone) / further, together }
    }
}
