//! What is shown of a run while it runs.

use super::*;

/// Serves runs that are not set aside.
async fn never_set_aside() -> Server {
    Setup::new().serve_with(|service| service.park_after(Duration::from_secs(3600))).await
}

async fn ids(server: &Server, state: &str) -> Vec<Value> {
    let list = server.get(&format!("/runs?state={state}")).await;
    list["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_shown_as_waiting_as_soon_as_it_asks() {
    let server = never_set_aside().await;
    for (entry, arguments, path) in
        [("write_lines", json!({ "lines": ["a"] }), "/approvals"), ("meet", json!({}), "/questions")]
    {
        let id = server.start(entry, arguments).await;
        server.waiting(path).await;
        assert_eq!(server.get(&format!("/runs/{id}")).await["state"], "waiting", "{entry}");
        assert_eq!(ids(&server, "waiting").await, [json!(id)]);
        assert!(ids(&server, "running").await.is_empty());
        server.request(Method::POST, &format!("/runs/{id}/cancel")).send().await.unwrap();
        server.reaches(&id, "cancelled").await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answered_run_is_shown_as_running_again() {
    let server = never_set_aside().await;
    let id = server.start("write_lines", json!({ "lines": ["a", "b"] })).await;
    for _ in 0..2 {
        server.reaches(&id, "waiting").await;
        let shown = server.waiting("/approvals").await;
        server.decide(&shown, json!({ "decision": "approve" })).await;
    }
    server.reaches(&id, "succeeded").await;
    let stuck = server.start("stuck", json!({})).await;
    server.reaches(&stuck, "running").await;
    assert_eq!(ids(&server, "running").await, [json!(stuck)]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_run_used_is_shown_while_it_runs() {
    let server = never_set_aside().await;
    let id = server.start("write_lines", json!({ "lines": ["a", "b"] })).await;
    let first = server.waiting("/approvals").await;
    server.decide(&first, json!({ "decision": "approve" })).await;
    let shows_use = async {
        while server.get(&format!("/runs/{id}")).await["usage"]["tool_calls"] == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), shows_use)
        .await
        .expect("the first call is counted before the run ends");
    assert!(server.get(&format!("/runs/{id}")).await["finished"].is_null());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_run_names_its_process_and_a_finished_one_does_not() {
    let server = never_set_aside().await;
    let stuck = server.start("stuck", json!({})).await;
    let run = server.reaches(&stuck, "running").await;
    let own = format!("{}-", std::process::id());
    assert!(run["process"].as_str().unwrap().starts_with(&own) && run["process_until"].is_string(), "{run}");
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    assert!(server.reaches(&id, "succeeded").await.get("process").is_none());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_about_an_approval_or_a_question_comes_once_it_is_listed() {
    let server = never_set_aside().await;
    for (entry, arguments, path, event) in [
        ("write_lines", json!({ "lines": ["a"] }), "/approvals", "approval_asked"),
        ("meet", json!({}), "/questions", "input_asked"),
    ] {
        for _ in 0..10 {
            let id = server.start(entry, arguments.clone()).await;
            let mut events = server.request(Method::GET, &format!("/runs/{id}/events")).send().await.unwrap();
            let mut text = String::new();
            while !text.contains(event) {
                text += &String::from_utf8_lossy(&events.chunk().await.unwrap().expect("the run goes on"));
            }
            let list = server.get(path).await;
            assert!(list["waiting"].as_array().unwrap().iter().any(|waiting| waiting["run"] == id), "{list}");
        }
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_may_wait_until_a_run_has_ended_or_waits_for_a_person() {
    let server = never_set_aside().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let asked = server.get(&format!("/runs/{id}?wait=30")).await;
    assert_eq!((&asked["state"], asked["waits"].as_array().unwrap().len()), (&json!("waiting"), 1));
    let shown = server.waiting("/approvals").await;
    server.decide(&shown, json!({ "decision": "approve" })).await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    assert_eq!(server.get(&format!("/runs/{id}?wait=30")).await["state"], "succeeded");
    let stuck = server.start("stuck", json!({})).await;
    server.reaches(&stuck, "running").await;
    assert_eq!(server.get(&format!("/runs/{stuck}?wait=1")).await["state"], "running");
    assert_eq!(server.get(&format!("/runs/{stuck}?wait=soon")).await["status"], 422);
    server.stop().await;
}
