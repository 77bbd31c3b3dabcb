//! Runs on the engine: what they return, what survives a worker, and how they end.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::StatusCode;
use serde_json::json;

use super::cases::{Effects, runtime, runtime_of};
use super::engine::{Worker, wait_for};

#[tokio::test]
async fn a_run_returns_its_result_and_its_usage() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("returns", runtime(&effects)).await else { return };
    let outcome = worker.run("act_twice", json!({})).await;
    assert_eq!(outcome["result"], json!(["did one", "did two"]));
    assert_eq!(outcome["usage"]["tool_calls"], 2);
    let outcome = worker.run("delegate", json!({})).await;
    assert_eq!(outcome["result"], "did post 0, did post 1");
    assert_eq!(outcome["usage"]["requests"], 3);
    assert_eq!(effects.all(), ["one", "two", "post 0", "post 1"]);
}

#[tokio::test]
async fn a_run_that_fails_returns_its_error_and_is_not_retried() {
    let Some(worker) = Worker::serve("fails", runtime(&Effects::default())).await else { return };
    let outcome = worker.run("give_up", json!({})).await;
    assert!(outcome["error"].as_str().unwrap().contains("the disk is on fire"), "{outcome}");
    let id = worker.start("give_in", json!({})).await;
    let (status, error) = worker.end(&id).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert!(error.to_string().contains("unknown entry `give_in`"), "{error}");
}

#[tokio::test]
async fn an_approval_is_kept_while_no_worker_runs_and_decided_once() {
    let effects = Effects::default();
    let Some(mut worker) = Worker::serve("approved", runtime(&effects)).await else { return };
    let run = worker.start("ask_first", json!({})).await;
    let question = worker.question(&run).await;
    assert_eq!(question["asked"]["kind"], "approval");
    assert_eq!(question["asked"]["shown"]["arguments"], json!({ "what": "approved" }));
    worker.stop().await;
    worker.serve_again(runtime(&effects)).await;
    let stale = json!({ "decision": "approve", "digest": "another" });
    assert_eq!(worker.answer(&question, stale).await.0, StatusCode::CONFLICT);
    assert_eq!(worker.answer(&question, json!({ "decision": "perhaps" })).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(worker.answer(&question, json!({ "decision": "approve" })).await.0, StatusCode::OK);
    assert_eq!(worker.answer(&question, json!({ "decision": "approve" })).await.0, StatusCode::NOT_FOUND);
    assert_eq!(worker.end(&run).await.1["result"], "did approved");
    assert_eq!(effects.all(), ["before", "approved"], "the first step is not repeated");
    assert!(worker.waiting().await.is_empty());
}

#[tokio::test]
async fn a_denied_call_does_not_run() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("denied", runtime(&effects)).await else { return };
    let run = worker.start("ask_first", json!({})).await;
    let question = worker.question(&run).await;
    worker.answer(&question, json!({ "decision": "deny", "reason": "not today" })).await;
    let outcome = worker.end(&run).await.1;
    assert!(outcome["error"].as_str().unwrap().contains("not today"), "{outcome}");
    assert_eq!(effects.all(), ["before"]);
}

#[tokio::test]
async fn a_question_is_answered_by_its_text() {
    let Some(worker) = Worker::serve("asked", runtime(&Effects::default())).await else { return };
    let run = worker.start("get_to_know", json!({})).await;
    let question = worker.question(&run).await;
    assert_eq!(question["asked"]["shown"]["prompt"], "Who are you?");
    assert_eq!(worker.answer(&question, json!({ "answer": "Ann" })).await.0, StatusCode::OK);
    assert_eq!(worker.end(&run).await.1["result"], "You are Ann.");
}

#[tokio::test]
async fn a_sleeping_run_is_set_aside_and_continues_in_time() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("sleeps", runtime(&effects)).await else { return };
    let run = worker.start("doze", json!({ "millis": 1500 })).await;
    let sql = format!("select status from sys_invocation where id = '{run}'");
    wait_for(async || worker.query(&sql).await.iter().any(|row| row["status"] == "suspended")).await;
    assert_eq!(worker.end(&run).await.1["result"], "did get up");
    assert_eq!(effects.all(), ["lie down", "get up"]);
}

#[tokio::test]
async fn branches_with_several_steps_are_replayed_in_any_order() {
    let effects = Effects::default();
    let Some(worker) = Worker::serve("branches", runtime(&effects)).await else { return };
    let outcome = worker.run("branch", json!({ "count": 40 })).await;
    assert_eq!(outcome["result"].as_array().unwrap().len(), 40);
    assert_eq!(outcome["result"][7], "did 7 first, did 7 second");
    assert_eq!(effects.all().len(), 80);
}

#[tokio::test]
async fn a_cancelled_run_ends_as_cancelled_and_withdraws_its_question() {
    let Some(worker) = Worker::serve("cancelled", runtime(&Effects::default())).await else { return };
    let run = worker.start("ask_first", json!({})).await;
    worker.question(&run).await;
    worker.cancel(&run).await;
    let (status, error) = worker.end(&run).await;
    assert_eq!(status, StatusCode::CONFLICT, "{error}");
    wait_for(async || worker.waiting().await.is_empty()).await;
}

#[tokio::test]
async fn a_result_that_is_too_large_for_the_engine_is_refused_with_its_size() {
    let Some(worker) = Worker::serve("too_large", runtime(&Effects::default())).await else { return };
    let outcome = tokio::time::timeout(Duration::from_secs(60), worker.run("too_long", json!({}))).await.unwrap();
    let error = outcome["error"].as_str().unwrap();
    assert!(error.contains("tool `long_text`") && error.contains("at most 33488896"), "{error}");
}

#[tokio::test]
async fn a_run_whose_code_changed_names_the_step_and_goes_on_with_code_that_fits() {
    let effects = Effects::default();
    let Some(mut worker) = Worker::serve("changed", runtime(&effects)).await else { return };
    let run = worker.start("go", json!({})).await;
    let question = worker.question(&run).await;
    worker.stop().await;
    worker.serve_again(runtime_of(&effects, "new")).await;
    worker.answer(&question, json!({ "answer": "yes" })).await;
    let sql = format!("select last_failure from sys_invocation where id = '{run}'");
    // Seen once: while the engine tries again, it shows no failure.
    let failure = OnceLock::new();
    wait_for(async || {
        let rows = worker.query(&sql).await;
        let text = rows[0]["last_failure"].as_str().filter(|text| text.contains("→"));
        text.is_some_and(|text| failure.set(text.to_owned()).is_ok())
    })
    .await;
    let failure = failure.get().unwrap();
    assert!(failure.contains("`go` → 1st call: expected tool `act`"), "{failure}");
    worker.stop().await;
    worker.serve_again(runtime(&effects)).await;
    assert_eq!(worker.end(&run).await.1["result"], "did old way, yes");
    assert_eq!(effects.all(), ["old way"], "the other way was not taken");
}
