//! A server of Restate, and workers of it in this process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use llm_do::context::CancellationToken;
use llm_do::prelude::*;
use llm_do::serve::{RestateEngine, RestateWorker};
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

/// One server, or a cluster of three, in processes of their own.
pub(super) struct Engine {
    installed: PathBuf,
    pub(super) nodes: Vec<Node>,
    folder: TempDir,
}

/// A server of an engine.
pub(super) struct Node {
    /// The name in a cluster.
    name: Option<String>,
    /// The script that started the server: the server itself, unless it is in a cluster.
    script: Child,
    server: String,
    pub(super) ingress: String,
    pub(super) admin: String,
}

/// Returns where the server is installed: the variable `LLM_DO_TEST_RESTATE`, or `restate` in the target folder.
pub(super) fn installed() -> Option<PathBuf> {
    let target = || Some(Path::new(env!("CARGO_BIN_EXE_restate_worker")).parent()?.parent()?.join("restate"));
    let folder = std::env::var_os("LLM_DO_TEST_RESTATE").map(PathBuf::from).or_else(target)?;
    if folder.join("node_modules/@restatedev").exists() {
        return Some(folder);
    }
    let message = format!("no server of Restate is in {}; run tests/restate/install {0}", folder.display());
    crate::required::missing("restate", &message);
    None
}

pub(super) fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("restate").join(name)
}

impl Engine {
    /// Starts a server with data of its own.
    pub(super) fn start(installed: &Path) -> Self {
        Self::start_nodes(installed, &[None])
    }

    /// Starts a cluster of three servers.
    pub(super) fn start_cluster(installed: &Path) -> Self {
        Self::start_nodes(installed, &["n1", "n2", "n3"].map(|name| Some(name.to_owned())))
    }

    fn start_nodes(installed: &Path, names: &[Option<String>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let nodes = names.iter().map(|name| Node::start(installed, folder.path(), name.clone())).collect();
        Self { installed: installed.to_owned(), nodes, folder }
    }

    /// Kills a server and starts it again, with the same data and ports.
    pub(super) fn restart(&mut self, n: usize) {
        self.nodes[n].kill();
        self.nodes[n] = Node::start(&self.installed, self.folder.path(), self.nodes[n].name.clone());
    }
}

impl Node {
    fn start(installed: &Path, data: &Path, name: Option<String>) -> Self {
        let mut command = Command::new(script(if name.is_some() { "cluster" } else { "start" }));
        command.arg(installed).arg(data);
        if let Some(name) = &name {
            command.arg(name);
        } else {
            let ports = std::fs::read_to_string(data.join("ports")).unwrap_or_default();
            command.args(ports.split_whitespace());
        }
        // What the shell reports when its server is killed.
        command.stderr(Stdio::null());
        let mut script = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(script.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let words: Vec<_> = line.split_whitespace().collect();
        let after = |word: &str| words.iter().position(|found| *found == word).map(|at| words[at + 1].to_owned());
        let server = after("pid").unwrap_or_else(|| script.id().to_string());
        let (ingress, admin) = (after("ingress").unwrap(), after("admin").unwrap());
        Self { name, script, server, ingress, admin }
    }

    fn kill(&mut self) {
        let _ = Command::new("kill").args(["-9", &self.server]).status();
        let _ = self.script.wait();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if self.script.try_wait().is_ok_and(|ended| ended.is_none()) {
            self.kill();
        }
    }
}

/// The engine that the tests of this process share; `None` if it is not installed.
pub(super) fn shared() -> Option<&'static (String, String)> {
    static SHARED: OnceLock<Option<(String, String)>> = OnceLock::new();
    SHARED
        .get_or_init(|| {
            let installed = installed()?;
            let data = std::env::temp_dir().join(format!("llm-do-restate-{}", std::process::id()));
            // The server ends when the standard input of the shell ends, with this process.
            let shell = "\"$0\" \"$1\" \"$2\" & server=$!; cat; kill -9 $server; rm -rf \"$2\"";
            let mut command = Command::new("sh");
            command.args(["-c", shell]).arg(script("start")).arg(installed).arg(data);
            let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut line = String::new();
            BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
            let mut words = line.split_whitespace().filter(|word| word.starts_with("http")).map(str::to_owned);
            // Kept until the process ends.
            std::mem::forget(process);
            Some((words.next()?, words.next()?))
        })
        .as_ref()
}

/// A worker in this process.
pub(super) struct Worker {
    name: String,
    http: reqwest::Client,
    ingress: String,
    admin: String,
    address: SocketAddr,
    shutdown: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
}

impl Worker {
    /// Serves a runtime as the service `name`; `None` if no engine is installed.
    pub(super) async fn serve(name: &str, runtime: Runtime) -> Option<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut worker = Self::client(name, listener.local_addr().unwrap())?;
        worker.serve_on(listener, runtime);
        worker.is_registered().await;
        Some(worker)
    }

    /// Returns a client of the service `name`, which is served at this address; `None` if no engine is installed.
    pub(super) fn client(name: &str, address: SocketAddr) -> Option<Self> {
        let (ingress, admin) = shared()?.clone();
        let (http, shutdown, serving) = (reqwest::Client::new(), CancellationToken::new(), tokio::spawn(async {}));
        Some(Self { name: name.to_owned(), http, ingress, admin, address, shutdown, serving })
    }

    /// Waits until the engine knows the service.
    pub(super) async fn is_registered(&self) {
        let service = format!("{}/services/{}", self.admin, self.name);
        wait_for(async || self.http.get(&service).send().await.is_ok_and(|found| found.status().is_success())).await;
    }

    fn serve_on(&mut self, listener: TcpListener, runtime: Runtime) {
        self.shutdown = CancellationToken::new();
        let worker = RestateWorker::new(&self.name, runtime).unwrap().register(&self.admin);
        let worker = worker.park_after(Duration::from_millis(200));
        let token = self.shutdown.clone();
        self.serving = tokio::spawn(async move { worker.serve(listener, token).await.unwrap() });
    }

    /// Returns where the runs of the worker live.
    pub(super) fn engine(&self) -> RestateEngine {
        RestateEngine::new(&self.name).unwrap().ingress(&self.ingress).admin(&self.admin)
    }

    /// Ends the worker as if its machine had died.
    pub(super) async fn stop(&mut self) {
        self.shutdown.cancel();
        (&mut self.serving).await.unwrap();
    }

    /// Serves again, at the same address.
    pub(super) async fn serve_again(&mut self, runtime: Runtime) {
        self.serve_on(TcpListener::bind(self.address).await.unwrap(), runtime);
    }

    pub(super) async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let request = self.http.post(format!("{}/{path}", self.ingress)).header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        (response.status(), json_of(response).await)
    }

    /// Starts a run and returns its id.
    pub(super) async fn start(&self, entry: &str, arguments: Value) -> String {
        let body = json!({ "entry": entry, "arguments": arguments });
        let (status, sent) = self.post(&format!("{}/run/send", self.name), body).await;
        assert_eq!(status, StatusCode::ACCEPTED, "{sent}");
        sent["invocationId"].as_str().unwrap().to_owned()
    }

    /// Waits for the end of a run.
    pub(super) async fn end(&self, id: &str) -> (StatusCode, Value) {
        let response = self.http.get(format!("{}/restate/invocation/{id}/attach", self.ingress)).send().await.unwrap();
        (response.status(), json_of(response).await)
    }

    /// Runs an entry to its end.
    pub(super) async fn run(&self, entry: &str, arguments: Value) -> Value {
        let id = self.start(entry, arguments).await;
        let (status, outcome) = self.end(&id).await;
        assert_eq!(status, StatusCode::OK, "{outcome}");
        outcome
    }

    /// Returns what waits for a person.
    pub(super) async fn waiting(&self) -> Vec<Value> {
        let (_, list) = self.post(&format!("{}.inbox/all/list", self.name), Value::Null).await;
        list["waiting"].as_array().cloned().unwrap_or_default()
    }

    /// Waits for the first question of a run.
    pub(super) async fn question(&self, run: &str) -> Value {
        let mut found = None;
        wait_for(async || {
            found = self.waiting().await.into_iter().find(|question| question["run"] == run);
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    /// Answers a question as it was shown.
    pub(super) async fn answer(&self, question: &Value, answer: Value) -> (StatusCode, Value) {
        let mut body = answer;
        body["id"] = question["id"].clone();
        if body["digest"].is_null() {
            body["digest"] = question["asked"]["digest"].clone();
        }
        self.post(&format!("{}.inbox/all/answer", self.name), body).await
    }

    pub(super) async fn cancel(&self, id: &str) {
        let request = self.http.patch(format!("{}/invocations/{id}/cancel", self.admin));
        assert!(request.send().await.unwrap().status().is_success());
    }

    /// Asks the engine about invocations.
    pub(super) async fn query(&self, sql: &str) -> Vec<Value> {
        query(&self.http, &self.admin, sql).await.unwrap()
    }
}

pub(super) async fn query(http: &reqwest::Client, admin: &str, sql: &str) -> Option<Vec<Value>> {
    let request = http.post(format!("{admin}/query")).header("content-type", "application/json");
    let request = request.header("accept", "application/json").body(json!({ "query": sql }).to_string());
    json_of(request.send().await.ok()?).await["rows"].as_array().cloned()
}

pub(super) async fn json_of(response: reqwest::Response) -> Value {
    let text = response.text().await.unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_else(|_| Value::String(text))
}

/// Waits until a condition holds.
pub(super) async fn wait_for(mut holds: impl AsyncFnMut() -> bool) {
    let waited = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waited).await.expect("it holds within a minute");
}
