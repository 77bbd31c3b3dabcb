//! Chats: messages that remember those before.

use llm_do::model::Message;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_messages_of_a_chat_remember_those_before_also_after_a_restart() {
    let setup = Setup::new();
    let offer = |service: Service| service.entries(["assistant"]).unwrap();
    let server = setup.serve_with(offer).await;
    let (status, chat) = server.post("/chats", json!({ "entry": "assistant" })).await;
    assert_eq!(status, StatusCode::CREATED);
    let chat = chat["id"].as_str().unwrap().to_owned();
    let path = format!("/chats/{chat}/messages");
    let message = json!({ "arguments": { "input": "Hello" } });
    let (_, run) = server.post(&path, message.clone()).await;
    assert_eq!(server.reaches(run["id"].as_str().unwrap(), "succeeded").await["result"], "1 messages");
    server.stop().await;

    let server = setup.serve_with(offer).await;
    let (_, run) = server.post(&path, message).await;
    assert_eq!(server.reaches(run["id"].as_str().unwrap(), "succeeded").await["result"], "3 messages");
    let runs = server.get(&format!("/runs?chat={chat}")).await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    assert_eq!(server.get("/chats").await["chats"][0]["usage"]["requests"], 2);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_takes_one_message_at_a_time() {
    let server = Setup::new().serve().await;
    let (_, chat) = server.post("/chats", json!({ "entry": "meet" })).await;
    let path = format!("/chats/{}/messages", chat["id"].as_str().unwrap());
    let (status, first) = server.post(&path, json!({ "arguments": {} })).await;
    assert_eq!(status, StatusCode::CREATED);
    let (status, problem) = server.post(&path, json!({ "arguments": {} })).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:chat_busy")));
    assert_eq!(problem["run"], first["id"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_of_an_administrator_belongs_to_the_tenant_of_its_chat() {
    use llm_do::serve::{Client, Role};

    const ANN: &str = "ann-0123456789abcdef";
    const ADMIN: &str = "admin-0123456789abcd";
    let ann = Client::new("ann", ANN).unwrap().role(Role::Start).role(Role::Watch);
    let admin = Client::new("admin", ADMIN).unwrap().role(Role::Administer);
    let server = Setup::new().serve_with(|service| service.client(ann).client(admin)).await;
    let send = async |method, path: &str, token, body| {
        let request = server.request(method, path).bearer_auth(token).json(&body);
        json_of(request.send().await.unwrap()).await
    };
    let chat = send(Method::POST, "/chats", ANN, json!({ "entry": "meet" })).await;
    let id = chat["id"].as_str().unwrap();
    let run = send(Method::POST, &format!("/chats/{id}/messages"), ADMIN, json!({ "arguments": {} })).await;
    assert_eq!((&run["tenant"], &run["client"]), (&json!("ann"), &json!("admin")));
    let listed = send(Method::GET, &format!("/runs?chat={id}"), ANN, json!({})).await;
    assert_eq!(listed["runs"][0]["id"], run["id"]);
    server.stop().await;
}

/// Wait until the switch is off.
#[tool(effect = read_only)]
async fn wait_for_switch(failing: State<Failing>) -> String {
    while failing.0.load(Ordering::Relaxed) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    "fine".into()
}

/// Help.
#[worker(toolsets = [wait_for_switch])]
async fn helper(input: String) -> String;

/// Waits for the switch, and answers with the number of messages.
pub(super) fn waiting_model() -> FunctionModel {
    FunctionModel::answering(|request| match request.messages.last() {
        Some(Message::User { .. }) => Answer::call("wait_for_switch", json!({})),
        _ => Answer::text(format!("{} messages", request.messages.len())),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_is_resumed_is_once_in_its_chat() {
    let setup = Setup::new();
    let service = setup.service_of(|runtime| runtime.force_model(waiting_model())).entries(["helper"]).unwrap();
    let server = setup.serve_this(service).await;
    let (_, chat) = server.post("/chats", json!({ "entry": "helper" })).await;
    let path = format!("/chats/{}", chat["id"].as_str().unwrap());
    setup.failing.0.store(true, Ordering::Relaxed);
    let message = json!({ "arguments": { "input": "Hello" } });
    let (_, run) = server.post(&format!("{path}/messages"), message.clone()).await;
    let id = run["id"].as_str().unwrap();
    while server.get(&format!("/runs/{id}")).await["usage"]["requests"] != 1 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.post(&format!("/runs/{id}/cancel"), json!({})).await;
    server.reaches(id, "cancelled").await;
    setup.failing.0.store(false, Ordering::Relaxed);
    server.post(&format!("/runs/{id}/resume"), json!({})).await;
    assert_eq!(server.reaches(id, "succeeded").await["result"], "3 messages");
    assert_eq!(server.get(&path).await["usage"]["requests"], 2);
    let (_, next) = server.post(&format!("{path}/messages"), message).await;
    assert_eq!(server.reaches(next["id"].as_str().unwrap(), "succeeded").await["result"], "7 messages");
    let counts = async || {
        let text = server.request(Method::GET, "/metrics").send().await.unwrap().text().await.unwrap();
        let count = text.lines().find_map(|line| line.strip_prefix("llm_do_model_requests_total "));
        count.unwrap().parse::<u64>().unwrap()
    };
    while counts().await < 4 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(counts().await, 4, "what the first attempt used is counted once");
    server.stop().await;
}

/// Fails while the switch is on, and then asks.
#[entry]
async fn fail_or_ask(ctx: &CallContext, failing: State<Failing>) -> Result<String> {
    if failing.0.load(Ordering::Relaxed) {
        return Err("not now".into());
    }
    Ok(ctx.request_user_input("Who are you?").await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_resumed_only_while_its_chat_has_no_other_and_has_not_gone_on() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let (_, chat) = server.post("/chats", json!({ "entry": "fail_or_ask" })).await;
    let path = format!("/chats/{}/messages", chat["id"].as_str().unwrap());
    setup.failing.0.store(true, Ordering::Relaxed);
    let (_, first) = server.post(&path, json!({ "arguments": {} })).await;
    let first = first["id"].as_str().unwrap();
    server.reaches(first, "failed").await;
    setup.failing.0.store(false, Ordering::Relaxed);
    let (_, second) = server.post(&path, json!({ "arguments": {} })).await;
    let (status, problem) = server.post(&format!("/runs/{first}/resume"), json!({})).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:chat_busy")));
    assert_eq!(problem["run"], second["id"]);
    let shown = server.waiting("/questions").await;
    let answer = json!({ "digest": shown["digest"], "answer": "Ann" });
    server.post(&format!("/questions/{}", shown["id"].as_str().unwrap()), answer).await;
    server.reaches(second["id"].as_str().unwrap(), "succeeded").await;
    let (status, problem) = server.post(&format!("/runs/{first}/resume"), json!({})).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:not_resumable")));
    assert_eq!(server.get(&format!("/runs/{first}")).await["state"], "failed");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_cannot_be_begun_fails_with_the_reason() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let (_, chat) = server.post("/chats", json!({ "entry": "greet" })).await;
    let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
    file.execute("UPDATE chats SET state = '{'", []).unwrap();
    // Read by the request as well, so the run is of the file.
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    server.reaches(&id, "succeeded").await;
    let run = (chat["id"].as_str().unwrap(), &id);
    file.execute("UPDATE runs SET chat = ?1, state = 'queued', finished = NULL, outcome = NULL WHERE id = ?2", run)
        .unwrap();
    let run = server.reaches(&id, "failed").await;
    assert!(run["error"].as_str().unwrap().contains("cannot read or write the database"), "{run}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_is_deleted_some_time_after_its_last_message_has_finished() {
    let setup = Setup::new();
    let server = setup.serve_with(|service| service.keep_finished(Duration::from_secs(60 * 60))).await;
    let mut chats = Vec::new();
    for entry in ["greet", "meet"] {
        let (_, chat) = server.post("/chats", json!({ "entry": entry })).await;
        chats.push(format!("/chats/{}", chat["id"].as_str().unwrap()));
    }
    let (_, run) = server.post(&format!("{}/messages", chats[1]), json!({ "arguments": {} })).await;
    server.reaches(run["id"].as_str().unwrap(), "waiting").await;
    setup.clock.advance(Duration::from_secs(2 * 60 * 60));
    let status = async |chat: &str| server.request(Method::GET, chat).send().await.unwrap().status();
    while status(&chats[0]).await != StatusCode::NOT_FOUND {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(status(&chats[1]).await, StatusCode::OK, "its message waits for a person");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_is_kept_for_its_time_after_a_message_that_was_cancelled_while_it_waited() {
    let setup = Setup::new();
    let server = setup.serve_with(|service| service.keep_finished(Duration::from_secs(60 * 60))).await;
    let status = async |chat: &str| server.request(Method::GET, chat).send().await.unwrap().status();
    let is_deleted = async |chat: &str| {
        while status(chat).await != StatusCode::NOT_FOUND {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let create = async |entry: &str| {
        let (_, chat) = server.post("/chats", json!({ "entry": entry })).await;
        format!("/chats/{}", chat["id"].as_str().unwrap())
    };
    let minutes = |minutes: u64| setup.clock.advance(Duration::from_secs(60 * minutes));
    let chat = create("meet").await;
    let (_, run) = server.post(&format!("{chat}/messages"), json!({ "arguments": {} })).await;
    let run = run["id"].as_str().unwrap();
    server.set_aside(run).await;
    minutes(30);
    let other = create("greet").await;
    minutes(40);
    server.post(&format!("/runs/{run}/cancel"), json!({})).await;
    assert_eq!(server.get(&chat).await["updated"], "2026-11-25T09:10:00Z");
    minutes(25);
    is_deleted(&other).await;
    assert_eq!(status(&chat).await, StatusCode::OK, "its message ended 25 minutes ago");
    minutes(40);
    is_deleted(&chat).await;
    server.stop().await;
}
