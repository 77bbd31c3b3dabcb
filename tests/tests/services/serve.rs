//! A service: runs that are started, watched and decided over HTTP, and that survive the end of its process.
#![allow(clippy::print_stdout, reason = "the figures of the kills")]

mod approvals;
mod attacks;
mod authority;
mod begun;
mod chats;
mod created;
mod crowded;
mod deployed;
mod described;
mod events;
mod failing_file;
mod hooked;
mod hybrids;
mod killed;
mod limits;
mod records;
mod runs;
mod scheduled;
mod spoken;
mod states;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do::context::CancellationToken;
use llm_do::event::{Clock, Timestamp};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::serve::{OpenService, Service};
use llm_do::testing::{Answer, FunctionModel};
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// The lines that were written.
#[derive(Clone, Debug, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// Whether `fail` fails.
#[derive(Clone, Debug, Default)]
struct Failing(Arc<AtomicBool>);

/// Write a line.
#[tool(effect = destructive)]
fn write_line(line: String, lines: State<Lines>) -> usize {
    let mut lines = lines.0.lock().unwrap();
    lines.push(line);
    lines.len()
}

/// Greet a person.
#[entry]
async fn greet(ctx: &CallContext, name: String) -> String {
    ctx.progress("greeting");
    format!("Hello, {name}!")
}

/// Writes lines, each of which needs approval.
#[entry(toolsets = [write_line])]
async fn write_lines(ctx: &CallContext<write_lines>, lines: Vec<String>) -> Result<usize> {
    let mut written = 0;
    for line in lines {
        written = ctx.call(write_line { line }).await?;
    }
    Ok(written)
}

/// Asks who the user is.
#[entry]
async fn meet(ctx: &CallContext) -> Result<String> {
    Ok(format!("You are {}.", ctx.request_user_input("Who are you?").await?))
}

/// Waits for an hour.
#[entry]
async fn nap(ctx: &CallContext) -> Result<String> {
    ctx.sleep(Duration::from_secs(60 * 60)).await?;
    Ok("rested".into())
}

/// Does nothing until it is cancelled.
#[tool(effect = read_only)]
async fn hang() {
    std::future::pending::<()>().await;
}

/// Never ends.
#[entry(toolsets = [hang])]
async fn stuck(ctx: &CallContext<stuck>) -> Result<()> {
    Ok(ctx.call(hang {}).await?)
}

/// Fails while the switch is on.
#[tool(effect = read_only)]
fn fail(failing: State<Failing>) -> Result<String> {
    if failing.0.load(Ordering::Relaxed) { Err("the disk is on fire".into()) } else { Ok("fine".into()) }
}

/// Fails with its tool.
#[entry(toolsets = [fail])]
async fn try_it(ctx: &CallContext<try_it>) -> Result<String> {
    Ok(ctx.call(fail {}).await?)
}

/// Answer.
#[worker]
async fn assistant(input: String) -> String;

/// A clock that tests set.
#[derive(Clone, Debug)]
struct TestClock(Arc<Mutex<Timestamp>>);

impl TestClock {
    fn new(time: &str) -> Self {
        Self(Arc::new(Mutex::new(time.parse().unwrap())))
    }

    fn advance(&self, time: Duration) {
        let mut now = self.0.lock().unwrap();
        *now += time;
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// What survives a restart.
struct Setup {
    folder: Arc<TempDir>,
    lines: Lines,
    failing: Failing,
    clock: TestClock,
}

/// A service with an address.
struct Server {
    address: String,
    http: reqwest::Client,
    shutdown: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
    /// The file is deleted after the service was stopped.
    _folder: Arc<TempDir>,
}

impl Setup {
    fn new() -> Self {
        let clock = TestClock::new("2026-11-25T08:00:00Z");
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self { folder, lines: Lines::default(), failing: Failing::default(), clock }
    }

    fn service(&self) -> Service {
        self.service_of(|runtime| runtime)
    }

    fn service_of(&self, configure: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Service {
        let model = FunctionModel::answering(|request| Answer::text(format!("{} messages", request.messages.len())));
        let builder = crate::own_builder().state(self.lines.clone()).state(self.failing.clone()).force_model(model);
        let service = Service::new(configure(builder).build().unwrap()).clock(self.clock.clone());
        service
            .park_after(Duration::from_millis(50))
            .poll_interval(Duration::from_millis(10))
            .requests_per_second(100_000)
    }

    async fn open(&self, service: Service) -> OpenService {
        service.open(self.folder.path().join("runs.db")).await.unwrap()
    }

    async fn serve(&self) -> Server {
        self.serve_with(|service| service).await
    }

    async fn serve_with(&self, configure: impl FnOnce(Service) -> Service) -> Server {
        self.serve_this(configure(self.service())).await
    }

    async fn serve_limited(&self, configure: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> Server {
        self.serve_this(self.service_of(configure)).await
    }

    async fn serve_this(&self, service: Service) -> Server {
        let service = self.open(service).await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shutdown = CancellationToken::new();
        let token = shutdown.clone();
        let serving = tokio::spawn(async move { service.serve(listener, token).await.unwrap() });
        let (http, folder) = (reqwest::Client::new(), Arc::clone(&self.folder));
        Server { address, http, shutdown, serving, _folder: folder }
    }
}

impl Server {
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http.request(method, format!("http://{}{path}", self.address))
    }

    async fn get(&self, path: &str) -> Value {
        let response = self.request(Method::GET, path).send().await.unwrap();
        json_of(response).await
    }

    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let response = self.request(Method::POST, path).json(&body).send().await.unwrap();
        (response.status(), json_of(response).await)
    }

    /// Starts a run and returns its id.
    async fn start(&self, entry: &str, arguments: Value) -> String {
        let (status, run) = self.post("/runs", json!({ "entry": entry, "arguments": arguments })).await;
        assert_eq!(status, StatusCode::CREATED, "{run}");
        run["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a run has this state.
    async fn reaches(&self, id: &str, state: &str) -> Value {
        let reached = async {
            loop {
                let run = self.get(&format!("/runs/{id}")).await;
                if run["state"] == state {
                    return run;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        if let Ok(run) = tokio::time::timeout(Duration::from_secs(30), reached).await {
            return run;
        }
        panic!("{} is not {state}", self.get(&format!("/runs/{id}")).await)
    }

    /// Waits until a run waits for a person, and no process drives it.
    async fn set_aside(&self, id: &str) -> Value {
        loop {
            let run = self.reaches(id, "waiting").await;
            if run["process"].is_null() {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits for something that waits for a person.
    async fn waiting(&self, path: &str) -> Value {
        loop {
            let list = self.get(path).await;
            if let Some(waiting) = list["waiting"].as_array().unwrap_or_else(|| panic!("{list}")).first() {
                return waiting.clone();
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Decides about an approval as it was shown.
    async fn decide(&self, shown: &Value, decision: Value) -> (StatusCode, Value) {
        let mut body = decision;
        body["digest"] = shown["digest"].clone();
        self.post(&format!("/approvals/{}", shown["id"].as_str().unwrap()), body).await
    }

    async fn stop(self) {
        self.shutdown.cancel();
        self.serving.await.unwrap();
    }
}

async fn json_of(response: Response) -> Value {
    let text = response.text().await.unwrap();
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("not JSON: {text}"))
}
