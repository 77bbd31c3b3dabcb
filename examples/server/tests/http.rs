//! The server as its users see it: over HTTP.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::time::Duration;

use llm_do::event::{Event, EventKind};
use llm_do::testing::ScriptedModel;
use llm_do::{Runtime, Value, json};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use server::User;
use tempfile::TempDir;

/// A server, and the folders of its users `ann` and `bob`.
struct Served {
    address: String,
    client: Client,
    ann: TempDir,
    bob: TempDir,
}

impl Served {
    /// Starts a server whose model notes a line, and then says so.
    async fn start() -> Self {
        let model = ScriptedModel::new().call("take_note", json!({ "line": "buy milk" })).text("Noted.").repeat_last();
        let runtime = Runtime::builder().force_model(model).build().unwrap();
        let (ann, bob) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let user = |name: &str, folder: &TempDir| {
            let user = User { name: name.to_owned(), folder: folder.path().to_owned() };
            (format!("{name}s-token"), user)
        };
        let users = [user("ann", &ann), user("bob", &bob)];
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, server::router(runtime, users)).await });
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

    /// Starts a run, and returns the path of it.
    async fn run(&self, user: &str) -> String {
        let started = self.post(user, "/runs", json!({ "question": "Note: buy milk." })).await;
        assert_eq!(started.status(), StatusCode::CREATED);
        let started = read(started).await;
        format!("/runs/{}", started["id"].as_str().unwrap())
    }
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
    async fn of(served: &Served, user: &str, run: &str) -> Self {
        let response = served.get(user, &format!("{run}/events")).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, text: String::new() }
    }

    /// Returns the next event, as this crate reads it; none at the end.
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

    async fn until(&mut self, is_it: impl Fn(&EventKind) -> bool) -> Event {
        loop {
            let event = self.next().await.expect("the events ended before");
            if is_it(&event.kind) {
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

/// Waits for the question of a run, and returns its number.
async fn question(served: &Served, user: &str, run: &str, events: &mut Events) -> u64 {
    events.until(|kind| matches!(kind, EventKind::ApprovalAsked { .. })).await;
    loop {
        let questions = read(served.get(user, &format!("{run}/approvals")).await).await;
        if let Some(question) = questions.as_array().unwrap().first() {
            assert_eq!(question["summary"], "note: buy milk");
            return question["number"].as_u64().unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_run_is_started_watched_approved_and_answers() {
    let served = Served::start().await;
    let run = served.run("ann").await;
    let mut events = Events::of(&served, "ann", &run).await;
    let number = question(&served, "ann", &run, &mut events).await;
    assert_eq!(read(served.get("ann", &run).await).await["state"], "running");
    let answered = served.post("ann", &format!("{run}/approvals/{number}"), json!({ "approve": true })).await;
    assert_eq!(answered.status(), StatusCode::NO_CONTENT);
    let rest = events.rest().await;
    assert!(rest.iter().all(|event| run.ends_with(&*event.run)));
    assert!(matches!(rest.last().unwrap().kind, EventKind::Usage { used, .. } if used.model.requests == 2));
    let ended = loop {
        let state = read(served.get("ann", &run).await).await;
        if state["state"] != "running" {
            break state;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!((&ended["state"], &ended["answer"]), (&json!("done"), &json!("Noted.")));
    assert_eq!(std::fs::read_to_string(served.ann.path().join("notes.txt")).unwrap(), "buy milk\n");
    assert!(!served.bob.path().join("notes.txt").exists());
}

#[tokio::test]
async fn two_users_run_at_once_and_see_nothing_of_each_other() {
    let served = Served::start().await;
    let (anns, bobs) = (served.run("ann").await, served.run("bob").await);
    for path in [bobs.clone(), format!("{bobs}/events"), format!("{bobs}/approvals")] {
        assert_eq!(served.get("ann", &path).await.status(), StatusCode::NOT_FOUND, "{path}");
    }
    let decided = served.post("ann", &format!("{bobs}/approvals/1"), json!({ "approve": true })).await;
    assert_eq!(decided.status(), StatusCode::NOT_FOUND);
    assert_eq!(served.request("eve", Method::GET, &anns).send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_denied_call_ends_its_run() {
    let served = Served::start().await;
    let run = served.run("bob").await;
    let mut events = Events::of(&served, "bob", &run).await;
    let number = question(&served, "bob", &run, &mut events).await;
    served.post("bob", &format!("{run}/approvals/{number}"), json!({ "approve": false })).await;
    let denied = |event: &Event| matches!(&event.kind, EventKind::CallRefused { error, .. } if error.ends_with("the user denied it"));
    assert!(events.rest().await.iter().any(denied));
    assert!(!served.bob.path().join("notes.txt").exists());
}

#[tokio::test]
async fn a_run_that_is_cancelled_ends_and_is_forgotten() {
    let served = Served::start().await;
    let run = served.run("ann").await;
    let mut events = Events::of(&served, "ann", &run).await;
    question(&served, "ann", &run, &mut events).await;
    let cancelled = served.request("ann", Method::DELETE, &run).send().await.unwrap();
    assert_eq!(cancelled.status(), StatusCode::NO_CONTENT);
    events.rest().await;
    assert_eq!(served.get("ann", &run).await.status(), StatusCode::NOT_FOUND);
    assert!(!served.ann.path().join("notes.txt").exists());
}

#[test]
fn the_page_of_the_documentation_shows_the_code_of_this_server() {
    let page = include_str!("../../../llm-do/docs/server.md");
    let code = [include_str!("../src/run.rs"), include_str!("../src/routes.rs")].concat();
    let shown: Vec<_> = page.split("```rust,ignore\n").skip(1).filter_map(|rest| rest.split("\n```").next()).collect();
    assert_eq!(shown.len(), 3);
    for shown in shown {
        assert!(code.contains(shown), "the page shows what is not in the example:\n{shown}");
    }
}
