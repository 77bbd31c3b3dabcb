//! Messages to runs over HTTP: to one that a process drives, that is set aside, or that waits for a process.

use std::sync::atomic::AtomicUsize;

use futures_util::{StreamExt, stream};
use llm_do::model::{Message, ProviderError, Request, Response as Answered, ResponseStream, StreamEvent};
use llm_do::{Model, async_trait};

use super::chats::waiting_model;
use super::*;

/// Write, once.
#[worker(toolsets = [write_line])]
async fn scribe(input: String) -> String;

/// Writes a line, and then answers with the number of messages.
fn writing_model() -> FunctionModel {
    FunctionModel::answering(|request| {
        if request.messages.iter().any(|message| matches!(message, Message::Tool { .. })) {
            return Answer::text(format!("{} messages", request.messages.len()));
        }
        Answer::call("write_line", json!({ "line": "one" }))
    })
}

/// Serves the worker that waits for the switch, which is on.
async fn serve_waiting(setup: &Setup) -> Server {
    setup.failing.0.store(true, Ordering::Relaxed);
    let service = setup.service_of(|runtime| runtime.force_model(waiting_model())).entries(["helper"]).unwrap();
    setup.serve_this(service).await
}

/// Waits until the worker waits for the switch.
async fn in_its_tool(server: &Server, id: &str) {
    while server.get(&format!("/runs/{id}")).await["usage"]["requests"] != 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A model whose answer has begun and goes on once the switch is off; one that is interrupted does not go on.
#[derive(Debug)]
pub(super) struct Hesitating {
    pub(super) model: FunctionModel,
    pub(super) switch: Failing,
    /// How many answers have begun.
    pub(super) begun: Arc<AtomicUsize>,
}

#[async_trait]
impl Model for Hesitating {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn request(&self, request: Request<'_>) -> Result<Answered, ProviderError> {
        self.model.request(request).await
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let (answer, switch) = (self.model.request(request).await?, self.switch.clone());
        let begun = Arc::clone(&self.begun);
        let end = async move {
            begun.fetch_add(1, Ordering::Relaxed);
            while switch.0.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Ok::<_, ProviderError>(StreamEvent::Done(answer))
        };
        let begin = stream::iter([Ok(StreamEvent::Text("One moment".to_owned()))]);
        Ok(Box::pin(begin.chain(stream::once(end))))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_in_the_middle_of_a_stream_joins_after_it_or_interrupts_it() {
    let setup = Setup::new();
    let begun = Arc::new(AtomicUsize::new(0));
    let model = Hesitating {
        model: FunctionModel::answering(|request| Answer::text(format!("{} messages", request.messages.len()))),
        switch: setup.failing.clone(),
        begun: Arc::clone(&begun),
    };
    let service = setup.service_of(|runtime| runtime.force_model(model).streaming(true)).entries(["helper"]).unwrap();
    let server = setup.serve_this(service).await;
    for interrupt in [false, true] {
        setup.failing.0.store(true, Ordering::Relaxed);
        let before = begun.load(Ordering::Relaxed);
        let id = server.start("helper", json!({ "input": "Hello" })).await;
        while begun.load(Ordering::Relaxed) == before {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let message = json!({ "message": "Hurry.", "interrupt": interrupt, "pin": true });
        assert_eq!(server.post(&format!("/runs/{id}/messages"), message).await.0, StatusCode::ACCEPTED);
        while interrupt && begun.load(Ordering::Relaxed) == before + 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        setup.failing.0.store(false, Ordering::Relaxed);
        let run = server.reaches(&id, "succeeded").await;
        assert_eq!(run["result"], "3 messages", "what had arrived stays: {run}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_a_chat_whose_run_waits_for_approval_joins_after_the_call() {
    let setup = Setup::new();
    let service = setup.service_of(|runtime| runtime.force_model(writing_model())).entries(["scribe"]).unwrap();
    let server = setup.serve_this(service).await;
    let (_, chat) = server.post("/chats", json!({ "entry": "scribe" })).await;
    let path = format!("/chats/{}/messages", chat["id"].as_str().unwrap());
    let (_, run) = server.post(&path, json!({ "arguments": { "input": "Write." } })).await;
    let id = run["id"].as_str().unwrap();
    let shown = server.waiting("/approvals").await;
    let (status, joined) = server.post(&path, json!({ "arguments": { "input": "Neatly." } })).await;
    assert_eq!((status, joined["id"].as_str()), (StatusCode::ACCEPTED, Some(id)));
    assert_eq!(server.decide(&shown, json!({ "decision": "approve" })).await.0, StatusCode::OK);
    assert_eq!(server.reaches(id, "succeeded").await["result"], "4 messages");
    assert_eq!(setup.lines.all(), ["one"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_joins_after_the_tool_that_runs() {
    let setup = Setup::new();
    let server = serve_waiting(&setup).await;
    let id = server.start("helper", json!({ "input": "Hello" })).await;
    in_its_tool(&server, &id).await;
    let (status, run) = server.post(&format!("/runs/{id}/messages"), json!({ "message": "Hurry." })).await;
    assert_eq!((status, &run["id"]), (StatusCode::ACCEPTED, &json!(id)));
    let waiting = server.get(&format!("/runs/{id}")).await;
    assert_eq!(
        (&waiting["messages"][0]["message"], &waiting["messages"][0]["joined"]),
        (&json!("Hurry."), &json!(false))
    );
    setup.failing.0.store(false, Ordering::Relaxed);
    let run = server.reaches(&id, "succeeded").await;
    assert_eq!(run["result"], "6 messages", "the model answered it by a call");
    assert_eq!(run["messages"][0]["joined"], true);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_has_not_joined_when_the_process_ends_joins_in_the_next_one() {
    let setup = Setup::new();
    let server = serve_waiting(&setup).await;
    let id = server.start("helper", json!({ "input": "Hello" })).await;
    in_its_tool(&server, &id).await;
    let (status, _) = server.post(&format!("/runs/{id}/messages"), json!({ "message": "Hurry." })).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    server.stop().await;
    let server = serve_waiting(&setup).await;
    setup.failing.0.store(false, Ordering::Relaxed);
    let run = server.reaches(&id, "succeeded").await;
    assert_eq!(run["result"], "6 messages");
    assert_eq!(run["messages"].as_array().unwrap().len(), 1);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_to_a_run_that_waits_for_approval_joins_after_the_call() {
    let setup = Setup::new();
    let service = setup.service_of(|runtime| runtime.force_model(writing_model())).entries(["scribe"]).unwrap();
    let server = setup.serve_this(service).await;
    let id = server.start("scribe", json!({ "input": "Write." })).await;
    server.set_aside(&id).await;
    let message = json!({ "message": "Neatly.", "worker": "scribe", "interrupt": true });
    let (status, _) = server.post(&format!("/runs/{id}/messages"), message).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    let shown = server.waiting("/approvals").await;
    let (status, _) = server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::OK);
    let run = server.reaches(&id, "succeeded").await;
    assert_eq!(run["result"], "4 messages");
    assert_eq!(setup.lines.all(), ["one"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_that_no_run_takes_are_refused_with_the_reason() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    server.reaches(&id, "succeeded").await;
    let path = format!("/runs/{id}/messages");
    let (status, problem) = server.post(&path, json!({ "message": "Wait." })).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:already_finished")));
    assert_eq!(problem["detail"], "the run has ended and takes no more messages; start another run");
    let (status, problem) = server.post(&path, json!({ "message": " " })).await;
    assert_eq!(
        (status, &problem["type"]),
        (StatusCode::UNPROCESSABLE_ENTITY, &json!("urn:llm-do:problem:invalid_request"))
    );
    let (status, _) = server.post("/runs/unknown/messages", json!({ "message": "Wait." })).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_a_chat_joins_its_unfinished_run() {
    let setup = Setup::new();
    let server = serve_waiting(&setup).await;
    let (_, chat) = server.post("/chats", json!({ "entry": "helper" })).await;
    let path = format!("/chats/{}/messages", chat["id"].as_str().unwrap());
    let (status, run) = server.post(&path, json!({ "arguments": { "input": "Hello" } })).await;
    assert_eq!(status, StatusCode::CREATED);
    let id = run["id"].as_str().unwrap();
    in_its_tool(&server, id).await;
    let hurry = json!({ "arguments": { "input": "Hurry." } });
    for _ in 0..2 {
        let request = server.request(Method::POST, &path).header("idempotency-key", "hurry").json(&hurry);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        assert_eq!(json_of(response).await["id"], id);
    }
    setup.failing.0.store(false, Ordering::Relaxed);
    let run = server.reaches(id, "succeeded").await;
    assert_eq!(run["result"], "6 messages", "the key sends it once");
    let (status, next) = server.post(&path, hurry).await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(server.reaches(next["id"].as_str().unwrap(), "succeeded").await["result"], "10 messages");
    server.stop().await;
}
