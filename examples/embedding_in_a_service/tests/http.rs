//! The server over HTTP.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::time::Duration;

use embedding_in_a_service::{User, router};
use llm_do::event::{Event, EventKind};
use llm_do::testing::ScriptedModel;
use llm_do::{Runtime, Value, json};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use tempfile::TempDir;

/// A running server with the folders of its users `ann` and `bob`.
struct TestServer {
    address: String,
    client: Client,
    ann: TempDir,
    bob: TempDir,
}

impl TestServer {
    /// Starts a server whose model calls `take_note` once and then answers.
    async fn start() -> Self {
        let model = ScriptedModel::new().call("take_note", json!({ "line": "buy milk" })).text("Noted.").repeat_last();
        Self::with(Runtime::builder().force_model(model).build().unwrap()).await
    }

    async fn with(runtime: Runtime) -> Self {
        let (ann, bob) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let user = |name: &str, folder: &TempDir| {
            let user = User { name: name.to_owned(), folder: folder.path().to_owned() };
            (format!("{name}s-token"), user)
        };
        let users = [user("ann", &ann), user("bob", &bob)];
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router(runtime, users)).await });
        Self { address, client: Client::new(), ann, bob }
    }

    fn request(&self, user: &str, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.address));
        request.bearer_auth(format!("{user}s-token")).timeout(Duration::from_secs(20))
    }

    async fn get(&self, user: &str, path: &str) -> Response {
        self.request(user, Method::GET, path).send().await.unwrap()
    }

    async fn post(&self, user: &str, path: &str, body: Value) -> Response {
        let request = self.request(user, Method::POST, path).header("content-type", "application/json");
        request.body(body.to_string()).send().await.unwrap()
    }

    /// Starts a run, and returns its path.
    async fn start_run(&self, user: &str) -> String {
        run_of(self.post(user, "/runs", json!({ "question": "Note: buy milk." })).await).await
    }

    /// Waits until a run has finished, and returns its state.
    async fn finished(&self, user: &str, run: &str) -> Value {
        loop {
            let state = read(self.get(user, run).await).await;
            if state["state"] != "running" {
                return state;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// Returns the path of the run that a request started.
async fn run_of(started: Response) -> String {
    assert_eq!(started.status(), StatusCode::CREATED);
    let started = read(started).await;
    format!("/runs/{}", started["id"].as_str().unwrap())
}

async fn read(response: Response) -> Value {
    serde_json::from_slice(&response.bytes().await.unwrap()).unwrap()
}

/// The events of a run, as they arrive.
struct Events {
    response: Response,
    text: String,
}

impl Events {
    async fn subscribe(served: &TestServer, user: &str, run: &str) -> Self {
        let response = served.get(user, &format!("{run}/events")).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// Returns the next event, decoded, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let data: String = event.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
                if !data.is_empty() {
                    return Some(serde_json::from_str(&data).unwrap());
                }
                continue;
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn next_where(&mut self, matches: impl Fn(&EventKind) -> bool) -> Event {
        loop {
            let event = self.next().await.expect("the stream ended before the expected event");
            if matches(&event.kind) {
                return event;
            }
        }
    }

    async fn rest(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// Waits for an approval request of a run, and returns its number.
async fn approval_number(served: &TestServer, user: &str, run: &str, events: &mut Events) -> u64 {
    events.next_where(|kind| matches!(kind, EventKind::ApprovalAsked { .. })).await;
    loop {
        let approvals = read(served.get(user, &format!("{run}/approvals")).await).await;
        if let Some(approval) = approvals.as_array().unwrap().first() {
            assert_eq!(approval["summary"], "note: buy milk");
            return approval["number"].as_u64().unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_streams_events_waits_for_approval_and_answers() {
    let served = TestServer::start().await;
    let run = served.start_run("ann").await;
    let mut events = Events::subscribe(&served, "ann", &run).await;
    let number = approval_number(&served, "ann", &run, &mut events).await;
    assert_eq!(read(served.get("ann", &run).await).await["state"], "running");
    let answered = served.post("ann", &format!("{run}/approvals/{number}"), json!({ "approve": true })).await;
    assert_eq!(answered.status(), StatusCode::NO_CONTENT);
    let rest = events.rest().await;
    assert!(rest.iter().all(|event| run.ends_with(&*event.run)));
    assert!(matches!(rest.last().unwrap().kind, EventKind::Usage { used, .. } if used.model.requests == 2));
    let finished = served.finished("ann", &run).await;
    assert_eq!((&finished["state"], &finished["answer"]), (&json!("done"), &json!("Noted.")));
    assert_eq!(std::fs::read_to_string(served.ann.path().join("notes.txt")).unwrap(), "buy milk\n");
    assert!(!served.bob.path().join("notes.txt").exists());
}

#[tokio::test]
async fn users_cannot_see_or_approve_runs_of_other_users() {
    let served = TestServer::start().await;
    let (anns, bobs) = (served.start_run("ann").await, served.start_run("bob").await);
    for path in [bobs.clone(), format!("{bobs}/events"), format!("{bobs}/approvals")] {
        assert_eq!(served.get("ann", &path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let decided = served.post("ann", &format!("{bobs}/approvals/1"), json!({ "approve": true })).await;
    assert_eq!(decided.status(), StatusCode::NOT_FOUND);
    assert_eq!(served.request("eve", Method::GET, &anns).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_denied_call_ends_its_run() {
    let served = TestServer::start().await;
    let run = served.start_run("bob").await;
    let mut events = Events::subscribe(&served, "bob", &run).await;
    let number = approval_number(&served, "bob", &run, &mut events).await;
    served.post("bob", &format!("{run}/approvals/{number}"), json!({ "approve": false })).await;
    let is_denied = |event: &Event| matches!(&event.kind, EventKind::CallRefused { error, .. } if error.ends_with("the user denied it"));
    assert!(events.rest().await.iter().any(is_denied));
    assert!(!served.bob.path().join("notes.txt").exists());
}

#[tokio::test]
async fn a_cancelled_run_ends_its_events_and_is_removed() {
    let served = TestServer::start().await;
    let run = served.start_run("ann").await;
    let mut events = Events::subscribe(&served, "ann", &run).await;
    approval_number(&served, "ann", &run, &mut events).await;
    let cancelled = served.request("ann", Method::DELETE, &run).send().await.unwrap();
    assert_eq!(cancelled.status(), StatusCode::NO_CONTENT);
    events.rest().await;
    assert_eq!(served.get("ann", &run).await.status(), StatusCode::NOT_FOUND);
    assert!(!served.ann.path().join("notes.txt").exists());
}

#[tokio::test]
async fn an_answer_is_streamed_while_it_is_written() {
    let served = TestServer::with(Runtime::builder().model("demo:assistant").build().unwrap()).await;
    let response = served.post("ann", "/answers", json!({ "question": "Hello!" })).await;
    let text = response.text().await.unwrap();
    let parts: Vec<String> =
        text.lines().filter_map(|line| Some(serde_json::from_str(line.strip_prefix("data: ")?).unwrap())).collect();
    let whole = "I note what follows `Note: `.";
    assert!(parts.iter().all(|part| whole.starts_with(part)), "{parts:?}");
    assert_eq!(parts.last().map(String::as_str), Some(whole));
}

/// A command of the README: method, path and body.
fn curl(line: &str) -> (Method, &str, Value) {
    let path = line.split_whitespace().find_map(|word| word.strip_prefix("localhost:3000")).unwrap();
    let body = line.split('\'').nth(1).map_or(Value::Null, |body| serde_json::from_str(body).unwrap());
    let method = match (line.contains("-X DELETE"), body.is_null()) {
        (true, _) => Method::DELETE,
        (false, true) => Method::GET,
        (false, false) => Method::POST,
    };
    (method, path, body)
}

#[tokio::test]
async fn the_commands_of_the_readme_work_with_the_offline_model() {
    let served = TestServer::with(Runtime::builder().model("demo:assistant").build().unwrap()).await;
    let readme = include_str!("../README.md");
    let mut commands = readme.lines().filter(|line| line.starts_with("curl ")).map(curl);
    let (method, path, question) = commands.next().unwrap();
    assert_eq!((method, path), (Method::POST, "/runs"));
    let run = run_of(served.post("ann", "/runs", question).await).await;
    let mut events = Events::subscribe(&served, "ann", &run).await;
    // The events are already being streamed.
    for (method, path, body) in commands.filter(|(_, path, _)| !path.ends_with("/events")) {
        let path = path.replace("/runs/$RUN", &run);
        if path.ends_with("/approvals") {
            assert_eq!(approval_number(&served, "ann", &run, &mut events).await, 1);
        } else if method == Method::POST {
            assert_eq!(served.post("ann", &path, body).await.status(), StatusCode::NO_CONTENT);
            assert_eq!(served.finished("ann", &run).await["answer"], "It is noted.");
        } else {
            assert!(served.request("ann", method, &path).send().await.unwrap().status().is_success(), "{path}");
        }
    }
    assert_eq!(std::fs::read_to_string(served.ann.path().join("notes.txt")).unwrap(), "buy milk\n");
    assert_eq!(served.get("ann", &run).await.status(), StatusCode::NOT_FOUND, "the last command removes the run");
}

#[test]
fn the_documentation_page_shows_the_code_of_this_server() {
    let page = include_str!("../../../llm-do/docs/server.md");
    let code = [include_str!("../src/run.rs"), include_str!("../src/routes.rs")].concat();
    let shown: Vec<_> = page.split("```rust,ignore\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert_eq!(shown.len(), 4);
    for shown in shown {
        assert!(code.contains(shown), "this code of the page is not in the example:\n{shown}");
    }
}
