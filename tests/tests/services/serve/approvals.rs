//! Approvals and questions: stored first, answered once, by a person who saw what is asked.

use llm_do::approval::{Policy, Rule};
use llm_do::model::Message;

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_shows_what_would_run() {
    let server = Setup::new().serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = server.waiting("/approvals").await;
    let request = &shown["request"];
    assert_eq!(request["summary"], r#"write_line(line="a")"#);
    assert_eq!((&request["tool"], &request["effect"]), (&json!("write_line"), &json!("destructive")));
    assert_eq!((&request["path"], &shown["run"]), (&json!(["write_lines"]), &json!(id)));
    let context = &request["context"];
    assert_eq!(
        context["request"],
        json!({ "entry": "write_lines", "arguments": { "lines": ["a"] }, "is_of_client": false })
    );
    assert_eq!(
        (&context["line"], &context["origins"]),
        (&Value::Null, &json!([{ "argument": "line", "from": "user" }]))
    );
    assert_eq!(server.get(&format!("/runs/{id}")).await["waits"][0], shown);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_runs() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = server.waiting("/approvals").await;
    let (status, _) = server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::OK);
    server.reaches(&id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["a"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_for_the_run_holds_for_equal_calls() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a", "a", "a"] })).await;
    let shown = server.waiting("/approvals").await;
    server.decide(&shown, json!({ "decision": "approve", "scope": "run" })).await;
    server.reaches(&id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["a", "a", "a"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_does_not_run_and_its_run_gets_the_reason() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = server.waiting("/approvals").await;
    server.decide(&shown, json!({ "decision": "deny", "reason": "not today" })).await;
    let run = server.reaches(&id, "failed").await;
    assert!(run["error"].as_str().unwrap().ends_with("denied: not today"), "{run}");
    assert!(setup.lines.all().is_empty());
    server.stop().await;
}

/// Write what is asked for.
#[worker(toolsets = [write_line])]
async fn writer(input: String) -> String;

/// Serves a worker whose model writes the line `a`, and answers with the result.
async fn serve_writer(setup: &Setup) -> Server {
    let model = FunctionModel::answering(|request| match request.messages.last() {
        Some(Message::Tool { results }) => Answer::text(results[0].content.clone()),
        _ => Answer::call("write_line", json!({ "line": "a" })),
    });
    let service = setup.service_of(|builder| builder.force_model(model));
    setup.serve_this(service.entries(["writer"]).unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_of_a_model_goes_on_with_the_reason_or_ends_the_run() {
    for (stop, state) in [(None, "succeeded"), (Some(false), "succeeded"), (Some(true), "failed")] {
        let setup = Setup::new();
        let server = serve_writer(&setup).await;
        let id = server.start("writer", json!({ "input": "Go." })).await;
        let shown = server.waiting("/approvals").await;
        let mut decision = json!({ "decision": "deny", "reason": "not \"today\"" });
        if let Some(stop) = stop {
            decision["stop"] = json!(stop);
        }
        assert_eq!(server.decide(&shown, decision).await.0, StatusCode::OK);
        let run = server.reaches(&id, state).await;
        if state == "failed" {
            assert!(run["error"].as_str().unwrap().ends_with("denied: not \"today\""), "{run}");
            assert_eq!(run["effects"], json!([]));
        } else {
            let told: Value = serde_json::from_str(run["result"].as_str().unwrap()).unwrap();
            assert_eq!(told["error"], "call to `write_line` denied: not \"today\"");
        }
        assert!(setup.lines.all().is_empty());
        server.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_failed_lists_the_effects_that_it_made() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a", "b"] })).await;
    server.decide(&server.waiting("/approvals").await, json!({ "decision": "approve" })).await;
    let second = loop {
        let shown = server.waiting("/approvals").await;
        if shown["request"]["arguments"]["line"] == "b" {
            break shown;
        }
    };
    assert_eq!(server.get(&format!("/runs/{id}")).await["effects"], Value::Null, "it has not ended");
    server.decide(&second, json!({ "decision": "deny", "reason": "no more" })).await;
    let run = server.reaches(&id, "failed").await;
    assert_eq!(run["effects"], json!([{ "tool": "write_line", "arguments": { "line": "a" }, "result": 1 }]), "{run}");
    assert_eq!(run["more_effects"], 0);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_call_runs_with_the_arguments_of_the_person() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = server.waiting("/approvals").await;
    server.decide(&shown, json!({ "decision": "edit", "arguments": { "line": 7 } })).await;
    let again = loop {
        let again = server.waiting("/approvals").await;
        if again["request"]["problem"].is_string() {
            break again;
        }
    };
    assert_eq!(again["id"], shown["id"]);
    assert_eq!(again["request"]["refused_edit"]["arguments"], json!({ "line": 7 }));
    assert_ne!(again["digest"], shown["digest"], "the person must look again");
    let (status, _) = server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::CONFLICT);
    server.decide(&again, json!({ "decision": "edit", "arguments": { "line": "b" } })).await;
    server.reaches(&id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["b"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_a_rule_refuses_is_in_the_answer_and_in_the_events() {
    let setup = Setup::new();
    let policy = Policy::new()
        .decide_with(|call| (call.arguments["line"] == "secret").then(|| Rule::blocked("it must stay secret")));
    let server = setup.serve_limited(|runtime| runtime.policy(policy)).await;
    let id = server.start("write_lines", json!({ "lines": ["a", "b"] })).await;
    let shown = server.waiting("/approvals").await;
    assert_eq!(shown["request"].get("refused_edit"), None);
    server.decide(&shown, json!({ "decision": "edit", "arguments": { "line": "secret" } })).await;
    let again = loop {
        let again = server.waiting("/approvals").await;
        if again["request"]["problem"].is_string() {
            break again;
        }
    };
    let edit = json!({ "arguments": { "line": "secret" }, "rule": "function", "reason": "it must stay secret" });
    assert_eq!(again["request"]["refused_edit"], edit);
    assert_eq!(server.get(&format!("/approvals/{}", again["id"].as_str().unwrap())).await, again);
    server.decide(&again, json!({ "decision": "approve" })).await;
    // The run is set aside and resumed meanwhile.
    let next = loop {
        let next = server.waiting("/approvals").await;
        if next["id"] != again["id"] {
            break next;
        }
    };
    assert_eq!(next["request"].get("refused_edit"), None);
    server.decide(&next, json!({ "decision": "approve" })).await;
    server.reaches(&id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["a", "b"]);
    let events = server.request(Method::GET, &format!("/runs/{id}/events")).send().await.unwrap().text().await.unwrap();
    let of_kind = |kind: &str| events.matches(&format!("\"kind\":\"{kind}\"")).count();
    assert_eq!((of_kind("edit_refused"), of_kind("approval_asked")), (1, 2), "{events}");
    // That of the run, and one for each call, however often they were replayed.
    assert_eq!(of_kind("approval_decided"), 3, "{events}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_about_something_else_than_was_shown_is_refused() {
    let setup = Setup::new();
    let server = setup.serve().await;
    server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = server.waiting("/approvals").await;
    let path = format!("/approvals/{}", shown["id"].as_str().unwrap());
    let (status, problem) = server.post(&path, json!({ "digest": "0", "decision": "approve" })).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:stale")));
    assert_eq!(problem["current"], shown);
    assert!(setup.lines.all().is_empty());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_decisions_the_first_holds_and_the_second_gets_it() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = server.waiting("/approvals").await;
    let (approve, deny) = (json!({ "decision": "approve" }), json!({ "decision": "deny", "reason": "no" }));
    let (one, other) = tokio::join!(server.decide(&shown, approve), server.decide(&shown, deny));
    let lost = [&one, &other].into_iter().find(|(status, _)| *status == StatusCode::CONFLICT).unwrap();
    assert_eq!(lost.1["type"], "urn:llm-do:problem:already_answered");
    assert_eq!(lost.1["current"]["answered_by"], "local");
    let end = if one.0 == StatusCode::OK { "succeeded" } else { "failed" };
    server.reaches(&id, end).await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_and_asked_again_if_the_answer_is_not_a_choice() {
    let server = Setup::new().serve().await;
    let id = server.start("meet", json!({})).await;
    let shown = server.waiting("/questions").await;
    assert_eq!(shown["request"]["prompt"], "Who are you?");
    let path = format!("/questions/{}", shown["id"].as_str().unwrap());
    let (status, _) = server.post(&path, json!({ "digest": shown["digest"], "answer": { "name": "Ann" } })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    server.post(&path, json!({ "digest": shown["digest"], "answer": "Ann" })).await;
    assert_eq!(server.reaches(&id, "succeeded").await["result"], "You are Ann.");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_is_given_three_days_later_after_a_restart() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    server.set_aside(&id).await;
    let shown = server.waiting("/approvals").await;
    server.stop().await;

    setup.clock.advance(Duration::from_secs(3 * 24 * 60 * 60));
    let server = setup.serve().await;
    assert_eq!(server.waiting("/approvals").await, shown);
    let (status, _) = server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::OK);
    let run = server.reaches(&id, "succeeded").await;
    assert_eq!((&run["result"], &run["finished"]), (&json!(1), &json!("2026-11-28T08:00:00Z")));
    assert_eq!(setup.lines.all(), ["a"]);
    server.stop().await;
}

/// Delete all lines.
#[tool(effect = destructive, preview = to_delete)]
fn delete_lines(lines: State<Lines>) -> usize {
    lines.0.lock().unwrap().drain(..).count()
}

fn to_delete(ctx: &CallContext, _: &delete_lines) -> Result<String> {
    let lines = ctx.state::<Lines>().ok_or("there are no lines")?;
    Ok(format!("-{}", lines.all().join("\n-")))
}

/// Deletes all lines.
#[entry(toolsets = [delete_lines])]
async fn clean_up(ctx: &CallContext<clean_up>) -> Result<usize> {
    Ok(ctx.call(delete_lines {}).await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_counts_only_for_what_the_person_saw() {
    let setup = Setup::new();
    setup.lines.0.lock().unwrap().push("old".to_owned());
    let server = setup.serve().await;
    let id = server.start("clean_up", json!({})).await;
    server.set_aside(&id).await;
    let shown = server.waiting("/approvals").await;
    assert_eq!(shown["request"]["preview"], "-old");
    // The lines change before the run, which is set aside, computes its preview again.
    setup.lines.0.lock().unwrap().push("new".to_owned());
    let (status, _) = server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::OK);
    let again = server.waiting("/approvals").await;
    assert_eq!((&again["id"], &again["request"]["preview"]), (&shown["id"], &json!("-old\n-new")));
    assert_eq!(setup.lines.all(), ["old", "new"], "nothing has run");
    server.decide(&again, json!({ "decision": "approve" })).await;
    assert_eq!(server.reaches(&id, "succeeded").await["result"], 2);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_in_another_process_reaches_the_run() {
    let setup = Setup::new();
    let server = setup.serve_with(|service| service.park_after(Duration::from_secs(60))).await;
    let other = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = other.waiting("/approvals").await;
    other.decide(&shown, json!({ "decision": "approve" })).await;
    server.reaches(&id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["a"]);
    other.stop().await;
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_is_listed_page_by_page() {
    let server = Setup::new().serve().await;
    for n in 0..5 {
        server.start("write_lines", json!({ "lines": [n.to_string()] })).await;
    }
    while server.get("/approvals").await["waiting"].as_array().unwrap().len() < 5 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let all = server.get("/approvals").await;
    assert_eq!(all["next"], Value::Null);
    let (mut listed, mut path) = (Vec::new(), "/approvals?limit=2".to_owned());
    loop {
        let page = server.get(&path).await;
        listed.extend(page["waiting"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/approvals?limit=2&after={next}");
    }
    assert_eq!(json!(listed), all["waiting"]);
    let fault = server.get("/approvals?before=x").await;
    assert!(fault["detail"].as_str().unwrap().contains("unknown field `before`"), "{fault}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_counts_although_its_client_disconnects_before_it_is_stored() {
    let setup = Setup::new();
    let server = setup.serve_with(|service| service.park_after(Duration::from_secs(60 * 60))).await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    let shown = server.waiting("/approvals").await;
    let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
    file.execute_batch("BEGIN IMMEDIATE").unwrap();
    let body = json!({ "digest": shown["digest"], "decision": "approve" });
    let request = server.request(Method::POST, &format!("/approvals/{}", shown["id"].as_str().unwrap())).json(&body);
    let cut_off = request.timeout(Duration::from_millis(300)).send().await;
    assert!(cut_off.unwrap_err().is_timeout());
    file.execute_batch("COMMIT").unwrap();
    let finished = tokio::time::timeout(Duration::from_secs(5), server.reaches(&id, "succeeded"));
    assert!(finished.await.is_ok(), "the run continues");
    server.stop().await;
}

/// Writes a line twice, by concurrent calls.
#[entry(toolsets = [write_line])]
async fn write_twice(ctx: &CallContext<write_twice>, line: String) -> Result<()> {
    let write = || ctx.call(write_line { line: line.clone() });
    tokio::try_join!(write(), write())?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_equal_concurrent_calls_is_set_aside_and_one_decision_continues_it() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_twice", json!({ "line": "a" })).await;
    let run = server.set_aside(&id).await;
    assert_eq!(run["waits"].as_array().unwrap().len(), 1, "{run}");
    server.decide(&run["waits"][0], json!({ "decision": "approve" })).await;
    server.reaches(&id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["a", "a"]);
    server.stop().await;
}
