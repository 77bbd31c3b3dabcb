//! The HTTP surface of a service whose runs live in the engine.

use llm_do::context::CancellationToken;
use llm_do::prelude::*;
use llm_do::serve::Service;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;

use super::cases::{Begun, Effects, counting_runtime, runtime};
use super::engine::{Worker, json_of, wait_for};

/// A service in this process, which drives no run itself.
struct Front {
    http: reqwest::Client,
    uri: String,
    folder: TempDir,
    shutdown: CancellationToken,
    serving: tokio::task::JoinHandle<()>,
}

impl Front {
    async fn open(worker: &Worker, runtime: Runtime) -> Self {
        Self::open_service(worker, Service::new(runtime)).await
    }

    async fn open_service(worker: &Worker, service: Service) -> Self {
        Self::open_in(tempfile::tempdir().unwrap(), worker, service).await
    }

    async fn open_in(folder: TempDir, worker: &Worker, service: Service) -> Self {
        // The tests ask again and again.
        let service = service.on_restate(worker.engine()).requests_per_second(100_000);
        let service = service.open(folder.path().join("front.db")).await.unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri = format!("http://{}", listener.local_addr().unwrap());
        let shutdown = CancellationToken::new();
        let token = shutdown.clone();
        let serving = tokio::spawn(async move { service.serve(listener, token).await.unwrap() });
        Self { http: reqwest::Client::new(), uri, folder, shutdown, serving }
    }

    /// Ends the service, and returns the folder of its file.
    async fn close(self) -> TempDir {
        self.shutdown.cancel();
        self.serving.await.unwrap();
        self.folder
    }

    async fn get(&self, path: &str) -> Value {
        json_of(self.http.get(format!("{}{path}", self.uri)).send().await.unwrap()).await
    }

    async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let request = self.http.post(format!("{}{path}", self.uri)).header("content-type", "application/json");
        let response = request.body(body.to_string()).send().await.unwrap();
        (response.status(), json_of(response).await)
    }

    async fn start(&self, entry: &str) -> String {
        self.start_with(entry, json!({})).await
    }

    async fn start_with(&self, entry: &str, arguments: Value) -> String {
        let (status, run) = self.post("/runs", json!({ "entry": entry, "arguments": arguments })).await;
        assert_eq!(status, StatusCode::CREATED, "{run}");
        run["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a run is in a state, and returns it.
    async fn in_state(&self, run: &str, state: &str) -> Value {
        let mut found = Value::Null;
        wait_for(async || {
            found = self.get(&format!("/runs/{run}")).await;
            found["state"] == state
        })
        .await;
        found
    }

    /// Returns the kinds of the events of a run that ended, with the names of their calls.
    async fn events(&self, run: &str) -> Vec<String> {
        let events = self.get(&format!("/runs/{run}/events")).await;
        let events = events.as_str().unwrap().lines().filter_map(|line| line.strip_prefix("data: "));
        let events = events.map(|event| serde_json::from_str::<Value>(event).unwrap());
        let events = events.filter(|event| event["kind"].is_string());
        events.map(|event| format!("{} {}", event["kind"], event["name"]).replace('"', "")).collect()
    }

    /// Waits for the first thing that is asked.
    async fn waiting(&self, path: &str) -> Value {
        let mut found = Value::Null;
        wait_for(async || {
            found = self.get(path).await["waiting"][0].clone();
            found.is_object()
        })
        .await;
        found
    }

    /// Waits for the question with this prompt.
    async fn question(&self, prompt: &str) -> Value {
        let mut found = None;
        wait_for(async || {
            let asked = self.get("/questions").await["waiting"].as_array().unwrap().clone();
            found = asked.into_iter().find(|question| question["request"]["prompt"] == prompt);
            found.is_some()
        })
        .await;
        found.unwrap()
    }

    /// Waits until no question is listed.
    async fn asks_nothing(&self) {
        wait_for(async || self.get("/questions").await["waiting"] == json!([])).await;
    }

    /// Answers a question or decides an approval, as it was shown.
    async fn respond(&self, list: &str, asked: &Value, mut answer: Value) -> (StatusCode, Value) {
        answer["digest"] = asked["digest"].clone();
        self.post(&format!("{list}/{}", asked["id"].as_str().unwrap()), answer).await
    }
}

#[tokio::test]
async fn a_run_is_started_and_shown_with_its_events_by_the_paths_of_a_service() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("shown", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    let run = front.start("act_twice").await;
    let shown = front.in_state(&run, "succeeded").await;
    assert_eq!(shown["result"], json!(["did one", "did two"]));
    assert_eq!(shown["usage"]["tool_calls"], 2);
    assert_eq!(effects.all(), ["one", "two"], "to show a run repeats nothing");
    assert_eq!(front.get("/runs?state=succeeded").await["runs"][0]["id"], run);
    let events = front.get(&format!("/runs/{run}/events")).await;
    let events = events.as_str().unwrap();
    assert_eq!(events.matches("\"call_started\"").count(), 3, "{events}");
}

#[tokio::test]
async fn an_approval_is_decided_at_the_service_while_the_run_is_elsewhere() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("decided", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    let run = front.start("ask_first").await;
    let asked = front.waiting("/approvals").await;
    assert_eq!((&asked["run"], &asked["request"]["arguments"]), (&json!(run), &json!({ "what": "approved" })));
    let path = format!("/approvals/{}", asked["id"].as_str().unwrap());
    let (status, _) = front.post(&path, json!({ "digest": asked["digest"], "decision": "approve" })).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(front.in_state(&run, "succeeded").await["result"], "did approved");
    assert_eq!(effects.all(), ["before", "approved"]);
    assert!(worker.waiting().await.is_empty());
    let events = front.events(&run).await;
    for kind in ["approval_asked", "approval_decided", "call_finished"] {
        let event = format!("{kind} act_if_approved");
        assert_eq!(events.iter().filter(|found| **found == event).count(), 1, "{event}: {events:?}");
    }
    assert!(events.iter().any(|event| event == "call_finished ask_first"), "{events:?}");
}

#[tokio::test]
async fn a_question_is_answered_and_a_run_cancelled_at_the_service() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("steered", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    let run = front.start("get_to_know").await;
    let asked = front.waiting("/questions").await;
    let path = format!("/questions/{}", asked["id"].as_str().unwrap());
    front.post(&path, json!({ "digest": asked["digest"], "answer": "Ann" })).await;
    assert_eq!(front.in_state(&run, "succeeded").await["result"], "You are Ann.");
    let run = front.start("get_to_know").await;
    front.waiting("/questions").await;
    assert_eq!(front.post(&format!("/runs/{run}/cancel"), Value::Null).await.0, StatusCode::ACCEPTED);
    front.in_state(&run, "cancelled").await;
    let events = front.events(&run).await;
    assert!(events.iter().any(|event| event == "call_finished get_to_know"), "{events:?}");
    assert!(worker.waiting().await.is_empty());
}

#[tokio::test]
async fn a_run_that_is_followed_is_replayed_once_however_many_steps_it_makes() {
    let (effects, begun) = (Effects::default(), Begun::default());
    let Some(worker) = Worker::serve("followed", runtime(&effects)).await else { return };
    let front = Front::open(&worker, counting_runtime(&effects, &begun)).await;
    let run = front.start_with("step_by_step", json!({ "count": 5 })).await;
    let shown = front.in_state(&run, "succeeded").await;
    assert_eq!(shown["result"], 5, "{shown}");
    assert_eq!(begun.count(), 1);
    let events = front.events(&run).await;
    for (event, count) in [("call_started act", 5), ("call_finished act", 5), ("call_finished step_by_step", 1)] {
        assert_eq!(events.iter().filter(|found| *found == event).count(), count, "{event}: {events:?}");
    }
}

#[tokio::test]
async fn a_replay_that_was_set_aside_has_the_same_events_as_another() {
    let (effects, begun) = (Effects::default(), Begun::default());
    let Some(worker) = Worker::serve("set-aside", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    let service = Service::new(counting_runtime(&effects, &begun)).park_after(std::time::Duration::from_millis(50));
    let parking = Front::open_service(&worker, service).await;
    let mut events = Vec::new();
    for front in [&front, &parking] {
        let run = front.start_with("step_by_step", json!({ "count": 3 })).await;
        front.in_state(&run, "succeeded").await;
        events.push(front.events(&run).await);
    }
    assert_eq!(events[0], events[1]);
    assert!(begun.count() > 1, "it was set aside between steps");
}

#[tokio::test]
async fn a_question_with_an_invalid_answer_is_asked_again_with_the_problem() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("invalid-answer", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    let run = front.start("pick_color").await;
    let asked = front.waiting("/questions").await;
    assert_eq!(front.respond("/questions", &asked, json!({ "answer": "purple" })).await.0, StatusCode::OK);
    let repeated = front.waiting("/questions").await;
    assert!(repeated["request"]["problem"].as_str().unwrap().contains("purple"), "{repeated}");
    front.respond("/questions", &repeated, json!({ "answer": "blue" })).await;
    assert_eq!(front.in_state(&run, "succeeded").await["result"], "blue");
}

#[tokio::test]
async fn an_approval_with_invalid_arguments_is_asked_again_with_the_problem() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("invalid-arguments", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    let run = front.start("ask_first").await;
    let asked = front.waiting("/approvals").await;
    let invalid = json!({ "decision": "edit", "arguments": { "what": 7 } });
    assert_eq!(front.respond("/approvals", &asked, invalid).await.0, StatusCode::OK);
    let repeated = front.waiting("/approvals").await;
    assert!(repeated["request"]["problem"].is_string(), "{repeated}");
    front.respond("/approvals", &repeated, json!({ "decision": "approve" })).await;
    assert_eq!(front.in_state(&run, "succeeded").await["result"], "did approved");
}

#[tokio::test]
async fn a_question_that_a_run_drops_is_withdrawn_at_the_service() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("dropped", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    front.start("take_either").await;
    let dropped = front.question("Left?").await;
    let answered = front.question("Right?").await;
    front.respond("/questions", &answered, json!({ "answer": "right" })).await;
    front.asks_nothing().await;
    let (status, problem) = front.respond("/questions", &dropped, json!({ "answer": "left" })).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:withdrawn")));
}

#[tokio::test]
async fn a_question_that_a_run_drops_while_the_service_is_down_is_withdrawn_at_its_restart() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("dropped-meanwhile", runtime(&effects)).await else { return };
    let front = Front::open(&worker, runtime(&effects)).await;
    front.start("take_either").await;
    let dropped = front.question("Left?").await;
    front.question("Right?").await;
    let folder = front.close().await;
    let waiting = worker.waiting().await;
    let answered = waiting.iter().find(|question| question["asked"]["shown"]["prompt"] == "Right?").unwrap();
    assert_eq!(worker.answer(answered, json!({ "answer": "right" })).await.0, StatusCode::OK);
    wait_for(async || worker.waiting().await.is_empty()).await;
    let front = Front::open_in(folder, &worker, Service::new(runtime(&effects))).await;
    front.asks_nothing().await;
    let (status, problem) = front.respond("/questions", &dropped, json!({ "answer": "left" })).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:withdrawn")));
}
