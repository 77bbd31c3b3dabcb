//! Calls that take long, as tasks that a client polls.

use std::time::Duration;

use llm_do::approval::{Policy, Rule};
use llm_do::mcp::HttpOptions;
use llm_do::model::Message;
use llm_do::testing::{Answer, FunctionModel};
use rmcp::model::{
    CallToolResponse, CancelTaskParams, DetailedTask, GetTaskParams, TaskPayload, TaskStatus, UpdateTaskParams,
};
use tokio::sync::Notify;

use super::*;

/// Opens when the test has the task.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Notify>);

/// Asks the user, once the gate is open.
#[entry]
async fn ask_later(ctx: &CallContext, gate: State<Gate>) -> Result<String> {
    gate.0.notified().await;
    Ok(ctx.request_user_input("Ready?").await?)
}

/// Returns a service with that entry, and its gate.
fn service() -> (McpService, Gate) {
    let gate = Gate::default();
    let policy = Policy::new().tool("ask_later", Rule::PreApproved);
    (serving(|builder| builder.state(gate.clone()).policy(policy)).task_after(Duration::ZERO), gate)
}

fn user() -> User {
    User { has_tasks: true, ..User::accepting(json!({})) }
}

async fn start(client: &Connected, request: CallToolRequestParams) -> String {
    match client.call_tool_once(request).await.unwrap() {
        CallToolResponse::Task(task) => task.task.task_id,
        other => panic!("{other:?}"),
    }
}

/// Polls a task until it is in a state other than `working`.
async fn poll(client: &Connected, id: &str) -> DetailedTask {
    loop {
        let task = client.get_task(GetTaskParams::new(id)).await.unwrap().task;
        if task.status() != TaskStatus::Working {
            return task;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn an_entry_that_takes_long_is_a_task_whose_question_the_client_answers() {
    let (service, gate) = service();
    let client = connect(service, Era::Rounds, user()).await;
    let id = start(&client, call("ask_later", json!({}))).await;
    gate.0.notify_one();
    let TaskPayload::InputRequired { input_requests } = poll(&client, &id).await.payload else { panic!("it asks") };
    let key = input_requests.into_keys().next().unwrap();
    let answer = json!({ "action": "accept", "content": { "answer": "yes" } });
    client.update_task(UpdateTaskParams::new(&id, [(key, answer)].into())).await.unwrap();
    let TaskPayload::Completed { result } = poll(&client, &id).await.payload else { panic!("it is completed") };
    assert_eq!(result["content"][0]["text"], "yes");
}

#[tokio::test]
async fn a_cancelled_task_stays_cancelled() {
    let (service, gate) = service();
    let client = connect(service, Era::Rounds, user()).await;
    let id = start(&client, call("ask_later", json!({}))).await;
    client.cancel_task(CancelTaskParams::new(&id)).await.unwrap();
    let cancelled = async {
        while client.get_task(GetTaskParams::new(&id)).await.unwrap().task.status() != TaskStatus::Cancelled {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), cancelled).await.expect("the task is cancelled");
    gate.0.notify_one();
    assert_eq!(poll(&client, &id).await.status(), TaskStatus::Cancelled);
}

/// Wait for ever.
#[entry]
async fn never_end(ends: State<Ends>) -> Result<String> {
    let _end = cancelled::OnDrop::of(&ends);
    std::future::pending().await
}

#[tokio::test]
async fn a_task_that_has_expired_is_cancelled_without_a_request() {
    let (ends, mut ended) = Ends::new();
    let policy = Policy::new().tool("never_end", Rule::PreApproved);
    let service = serving(|builder| builder.state(ends).policy(policy));
    let service = service.task_after(Duration::ZERO).task_expiry(Duration::from_millis(300));
    let client = connect(service, Era::Rounds, user()).await;
    start(&client, call("never_end", json!({}))).await;
    let ended = tokio::time::timeout(Duration::from_secs(10), ended.recv()).await;
    assert_eq!(ended.expect("the run is cancelled"), Some("ended"));
}

#[tokio::test]
async fn a_question_of_a_task_that_the_client_never_answers_has_no_answer() {
    let (service, gate) = service();
    let client = connect(service.answer_timeout(Duration::from_millis(300)), Era::Rounds, user()).await;
    let id = start(&client, call("ask_later", json!({}))).await;
    gate.0.notify_one();
    let finished = async {
        loop {
            match poll(&client, &id).await.payload {
                TaskPayload::InputRequired { .. } => tokio::time::sleep(Duration::from_millis(5)).await,
                payload => return payload,
            }
        }
    };
    let payload = tokio::time::timeout(Duration::from_secs(10), finished).await.expect("the task ends");
    let TaskPayload::Completed { result } = payload else { panic!("{payload:?}") };
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("the client gave no answer within 300ms"), "{text}");
}

#[tokio::test]
async fn a_task_is_unknown_to_every_client_but_its_own() {
    let (service, gate) = service();
    let options = HttpOptions::default().check_token(|token| ["a", "b"].contains(&token));
    let address = http::listen(service, options).await;
    let own = http::client(&address, "a", Era::Rounds, user()).await;
    let other = http::client(&address, "b", Era::Rounds, user()).await;
    let id = start(&own, call("ask_later", json!({}))).await;
    gate.0.notify_one();
    let TaskPayload::InputRequired { input_requests } = poll(&own, &id).await.payload else { panic!("it asks") };
    let key = input_requests.into_keys().next().unwrap();
    let answer = json!({ "action": "accept", "content": { "answer": "yes" } });
    let answered = UpdateTaskParams::new(&id, [(key, answer)].into());
    for refused in [
        other.get_task(GetTaskParams::new(&id)).await.map(drop),
        other.update_task(answered).await.map(drop),
        other.cancel_task(CancelTaskParams::new(&id)).await.map(drop),
    ] {
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(&format!("unknown task `{id}`")), "{error}");
    }
    assert_eq!(poll(&own, &id).await.status(), TaskStatus::InputRequired);
}

#[tokio::test]
async fn a_tool_is_never_a_task() {
    let client = connect(serving(|builder| builder).task_after(Duration::ZERO), Era::Rounds, user()).await;
    let response = client.call_tool_once(call("add", json!({ "a": 1, "b": 2 }))).await.unwrap();
    assert!(matches!(response, CallToolResponse::Complete(_)), "{response:?}");
}

/// Look, once the gate is open.
#[tool(effect = read_only)]
async fn look_later(gate: State<Gate>) -> String {
    gate.0.notified().await;
    "seen".into()
}

/// Answer after a look.
#[worker(toolsets = [look_later])]
async fn onlooker(input: String) -> String;

/// Looks, and then answers with the last message.
fn looking_model() -> FunctionModel {
    FunctionModel::answering(|request| match request.messages {
        [.., Message::User { parts }] if request.messages.len() > 1 => Answer::text(format!("{parts:?}")),
        [_] => Answer::call("look_later", json!({})),
        _ => Answer::text("no message"),
    })
}

#[tokio::test]
async fn a_client_sends_a_message_to_the_run_of_its_task() {
    let gate = Gate::default();
    let policy = Policy::new().tool("onlooker", Rule::PreApproved);
    let service = serving(|builder| builder.state(gate.clone()).policy(policy).force_model(looking_model()));
    let client = connect(service.task_after(Duration::ZERO), Era::Rounds, user()).await;
    let id = start(&client, call("onlooker", json!({ "input": "Look." }))).await;
    let send = async |message: Value| {
        client.update_task(UpdateTaskParams::new(&id, [("message".to_owned(), message)].into())).await
    };
    let refused = send(json!({ "words": "Quickly." })).await.unwrap_err().to_string();
    assert!(refused.contains("invalid `message`: unknown field `words`"), "{refused}");
    send(json!({ "text": "Quickly.", "worker": "onlooker" })).await.unwrap();
    gate.0.notify_one();
    let TaskPayload::Completed { result } = poll(&client, &id).await.payload else { panic!("it is completed") };
    assert!(result["content"][0]["text"].as_str().unwrap().contains("Quickly."), "{result:?}");
    let ended = send(json!("Too late.")).await.unwrap_err().to_string();
    assert!(ended.contains("the run has ended and takes no more messages"), "{ended}");
}
