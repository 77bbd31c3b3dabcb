//! Runs: started, listed, cancelled, resumed, continued.

use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_started_and_its_result_is_kept() {
    let server = Setup::new().serve().await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    let run = server.reaches(&id, "succeeded").await;
    assert_eq!(run["result"], "Hello, Ann!");
    assert_eq!((&run["entry"], &run["client"], &run["attempts"]), (&json!("greet"), &json!("local"), &json!(1)));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_with_a_known_key_starts_nothing() {
    let server = Setup::new().serve().await;
    let start = |name: &'static str| {
        let body = json!({ "entry": "greet", "arguments": { "name": name } });
        server.request(Method::POST, "/runs").header("idempotency-key", "a").json(&body).send()
    };
    let first = start("Ann").await.unwrap();
    assert_eq!(first.status(), StatusCode::CREATED);
    let again = start("Ann").await.unwrap();
    assert_eq!(again.status(), StatusCode::OK);
    let first = json_of(first).await;
    assert_eq!(first["id"], json_of(again).await["id"]);
    let other = start("Bob").await.unwrap();
    assert_eq!(other.status(), StatusCode::CONFLICT);
    let problem = json_of(other).await;
    assert_eq!((&problem["type"], &problem["run"]), (&json!("urn:llm-do:problem:other_request"), &first["id"]));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_started_is_refused_with_the_reason() {
    let server = Setup::new().serve().await;
    for (body, fault) in [
        (json!({ "entry": "gret" }), "unknown entry `gret`; did you mean `greet`?"),
        (json!({ "entry": "write_line", "arguments": { "line": "a" } }), "unknown entry `write_line`"),
        (json!({ "entry": "greet", "arguments": { "nam": "Ann" } }), "name"),
        (json!({ "entry": "greet", "argument": {} }), "unknown field `argument`"),
        // It would be a real run.
        (json!({ "entry": "greet", "arguments": { "name": "Ann" }, "dry_run": true }), "unknown field `dry_run`"),
        (json!({ "arguments": {} }), "missing field `entry`"),
        (json!([]), "invalid"),
    ] {
        let (status, problem) = server.post("/runs", body.clone()).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{body}");
        assert!(problem["detail"].as_str().unwrap().contains(fault), "{body}: {problem}");
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_are_listed_by_state_and_entry_page_by_page() {
    let server = Setup::new().serve().await;
    let mut greeted = Vec::new();
    for n in 0..5 {
        greeted.push(server.start("greet", json!({ "name": n.to_string() })).await);
    }
    let asking = server.start("meet", json!({})).await;
    for id in &greeted {
        server.reaches(id, "succeeded").await;
    }
    let ids = |list: &Value| -> Vec<String> {
        list["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
    };
    greeted.reverse();
    let first = server.get("/runs?state=succeeded&limit=3").await;
    assert_eq!(ids(&first), greeted[..3]);
    let next = first["next"].as_str().unwrap();
    let second = server.get(&format!("/runs?state=succeeded&limit=3&before={next}")).await;
    assert_eq!((ids(&second), &second["next"]), (greeted[3..].to_vec(), &Value::Null));
    assert_eq!(ids(&server.get("/runs?entry=meet").await), [asking]);
    let fault = server.get("/runs?state=done").await;
    assert!(fault["detail"].as_str().unwrap().contains("unknown variant `done`"), "{fault}");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_run_is_cancelled() {
    let server = Setup::new().serve().await;
    let id = server.start("stuck", json!({})).await;
    server.reaches(&id, "running").await;
    let (status, _) = server.post(&format!("/runs/{id}/cancel"), json!({})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    server.reaches(&id, "cancelled").await;
    let (status, _) = server.post(&format!("/runs/{id}/cancel"), json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_is_cancelled_and_its_question_withdrawn() {
    let server = Setup::new().serve().await;
    let id = server.start("meet", json!({})).await;
    let question = server.waiting("/questions").await;
    server.set_aside(&id).await;
    let (status, run) = server.post(&format!("/runs/{id}/cancel"), json!({})).await;
    assert_eq!((status, &run["state"]), (StatusCode::OK, &json!("cancelled")));
    assert_eq!(server.get("/questions").await["waiting"], json!([]));
    let path = format!("/questions/{}", question["id"].as_str().unwrap());
    let (status, problem) = server.post(&path, json!({ "digest": question["digest"], "answer": "Ann" })).await;
    assert_eq!((status, &problem["type"]), (StatusCode::CONFLICT, &json!("urn:llm-do:problem:withdrawn")));
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_run_is_resumed_and_only_the_failure_is_repeated() {
    let setup = Setup::new();
    setup.failing.0.store(true, Ordering::Relaxed);
    let server = setup.serve().await;
    let id = server.start("try_it", json!({})).await;
    let run = server.reaches(&id, "failed").await;
    assert!(run["error"].as_str().unwrap().ends_with("the disk is on fire"), "{run}");
    setup.failing.0.store(false, Ordering::Relaxed);
    let (status, _) = server.post(&format!("/runs/{id}/resume"), json!({})).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert_eq!(server.reaches(&id, "succeeded").await["result"], "fine");
    let (status, _) = server.post(&format!("/runs/{id}/resume"), json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    server.stop().await;
}

/// Asks, and goes on without the answer.
#[entry]
async fn hurry(ctx: &CallContext) -> Result<String> {
    tokio::select! {
        answer = ctx.request_user_input("Who are you?") => Ok(answer?),
        () = tokio::time::sleep(Duration::from_millis(50)) => Ok("a person".into()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_resume_changes_nothing() {
    let server = Setup::new().serve().await;
    let id = server.start("hurry", json!({})).await;
    let run = server.reaches(&id, "succeeded").await;
    assert_eq!((run["waits"].as_array().unwrap().len(), &run["waits"][0]["is_withdrawn"]), (1, &json!(true)), "{run}");
    let (status, _) = server.post(&format!("/runs/{id}/resume"), json!({})).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(server.get("/questions").await["waiting"], json!([]));
    assert_eq!(server.get(&format!("/runs/{id}")).await, run);
    server.stop().await;
}

/// Reports which attempt it is, again and again.
#[entry]
async fn report(ctx: &CallContext, lines: State<Lines>) {
    lines.0.lock().unwrap().push("begun".to_owned());
    let attempt = lines.all().len();
    loop {
        ctx.progress(format!("attempt {attempt}"));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns how often the events of a run contain a text, after a moment.
async fn count_events(server: &Server, id: &str, text: &str) -> usize {
    let mut response = server.request(Method::GET, &format!("/runs/{id}/events")).send().await.unwrap();
    let (mut events, end) = (String::new(), tokio::time::Instant::now() + Duration::from_millis(300));
    while let Ok(chunk) = tokio::time::timeout_at(end, response.chunk()).await {
        events += &String::from_utf8_lossy(&chunk.unwrap().unwrap());
    }
    events.matches(text).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_lost_a_run_writes_nothing_more_to_it() {
    let setup = Setup::new();
    let hour = Duration::from_secs(60 * 60);
    // It does not renew its claim before the test ends.
    let stalled = setup.serve_with(|service| service.take_over_after(hour)).await;
    let id = stalled.start("report", json!({})).await;
    // It has renewed its claim before its code begins.
    while setup.lines.all().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    setup.clock.advance(hour * 2);
    let other = setup.serve_with(|service| service.take_over_after(Duration::from_millis(30))).await;
    while setup.lines.all().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(count_events(&other, &id, "attempt 2").await > 0);
    let first = count_events(&other, &id, "attempt 1").await;
    assert_eq!(count_events(&other, &id, "attempt 1").await, first, "the first process still reports");
    stalled.stop().await;
    assert_eq!(other.get(&format!("/runs/{id}")).await["state"], "running");
    other.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_a_time_is_set_aside_and_continues_then() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("nap", json!({})).await;
    let run = server.reaches(&id, "waiting").await;
    assert_eq!(run["wakes"], "2026-11-25T09:00:00Z");
    setup.clock.advance(Duration::from_secs(61 * 60));
    assert_eq!(server.reaches(&id, "succeeded").await["result"], "rested");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_service_puts_its_runs_back_and_the_next_one_continues_them() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a", "b"] })).await;
    let shown = server.waiting("/approvals").await;
    server.decide(&shown, json!({ "decision": "approve" })).await;
    while setup.lines.all().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    server.stop().await;

    let server = setup.serve().await;
    let shown = server.waiting("/approvals").await;
    assert_eq!(shown["request"]["arguments"], json!({ "line": "b" }));
    server.decide(&shown, json!({ "decision": "approve" })).await;
    let run = server.reaches(&id, "succeeded").await;
    assert_eq!(run["result"], 2);
    assert_eq!(setup.lines.all(), ["a", "b"], "no effect is repeated");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_whose_file_cannot_be_written_is_not_ready() {
    let setup = Setup::new();
    let server = setup.serve_with(|service| service.take_over_after(Duration::from_millis(60))).await;
    let ready = async || server.request(Method::GET, "/ready").send().await.unwrap().status();
    let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
    file.execute_batch("ALTER TABLE heartbeat RENAME TO elsewhere").unwrap();
    while ready().await != StatusCode::SERVICE_UNAVAILABLE {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    file.execute_batch("ALTER TABLE elsewhere RENAME TO heartbeat").unwrap();
    while ready().await != StatusCode::OK {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_file_fails_for_a_while_continues_once_it_works() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
    file.execute_batch(
        "CREATE TRIGGER full BEFORE INSERT ON journal_records BEGIN SELECT RAISE(ABORT, 'the disk is full'); END",
    )
    .unwrap();
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    while server.get(&format!("/runs/{id}")).await["attempts"].as_u64().unwrap() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(server.get("/runs?state=failed").await["runs"].as_array().unwrap().is_empty());
    file.execute_batch("DROP TRIGGER full").unwrap();
    assert_eq!(server.reaches(&id, "succeeded").await["result"], "Hello, Ann!");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn finished_runs_are_deleted_after_their_time() {
    let setup = Setup::new();
    let server = setup.serve_with(|service| service.keep_finished(Duration::from_secs(60 * 60))).await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    server.reaches(&id, "succeeded").await;
    let journaled = || {
        let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
        file.query_row("SELECT count(*) FROM journal_runs", [], |row| row.get::<_, u64>(0)).unwrap()
    };
    assert_eq!(journaled(), 1);
    setup.clock.advance(Duration::from_secs(2 * 60 * 60));
    while server.request(Method::GET, &format!("/runs/{id}")).send().await.unwrap().status() != StatusCode::NOT_FOUND {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(journaled(), 0, "its records are deleted with it");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_of_long_runs_is_short_and_the_next_ones_have_the_rest() {
    let server = Setup::new().serve().await;
    let name = "x".repeat(900_000);
    let mut started = Vec::new();
    for _ in 0..8 {
        let id = server.start("greet", json!({ "name": name })).await;
        server.reaches(&id, "succeeded").await;
        started.insert(0, id);
    }
    let (mut listed, mut path) = (Vec::new(), "/runs?limit=500&entry=greet".to_owned());
    loop {
        let text = server.request(Method::GET, &path).send().await.unwrap().text().await.unwrap();
        assert!(text.len() < 5 << 20, "{}", text.len());
        let page: Value = serde_json::from_str(&text).unwrap();
        listed.extend(page["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/runs?limit=500&entry=greet&before={next}");
    }
    assert_eq!(listed, started);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_do_not_read_all_runs_of_the_file() {
    let setup = Setup::new();
    setup.serve().await.stop().await;
    let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
    for sql in [
        "SELECT entry FROM runs WHERE TRUE AND tenant = 'a' AND id < 'b' ORDER BY id DESC LIMIT 50",
        "SELECT entry FROM runs WHERE TRUE AND chat = 'a' ORDER BY id DESC LIMIT 50",
        "SELECT entry FROM runs WHERE TRUE AND state = 'failed' ORDER BY id DESC LIMIT 50",
        "SELECT id FROM chats WHERE tenant = 'a' ORDER BY updated DESC, id LIMIT 50",
    ] {
        let mut plan = file.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = plan.query_map([], |row| row.get::<_, String>("detail")).unwrap();
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        assert!(steps.iter().all(|step| !step.starts_with("SCAN")), "{sql}: {steps:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_the_file_has_of_what_is_not_offered_fails_and_has_no_effect() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("greet", json!({ "name": "Ann" })).await;
    server.reaches(&id, "succeeded").await;
    server.stop().await;
    let file = rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap();
    for (source, id) in [(r#"{"kind":"client"}"#, &id), (r#"{"kind":"schedule","name":"daily"}"#, &id)] {
        file.execute("DELETE FROM journal_records", []).unwrap();
        let sql = "UPDATE runs SET entry = 'write_line', arguments = ?1, source = ?2, state = 'queued', finished = NULL, \
                   outcome = NULL WHERE id = ?3";
        file.execute(sql, [r#"{"line":"a"}"#, source, id.as_str()]).unwrap();
        let server = setup.serve().await;
        let error = server.reaches(id, "failed").await["error"].as_str().unwrap().to_owned();
        assert!(error.starts_with("`write_line` is not offered by this service"), "{error}");
        server.stop().await;
    }
    assert!(setup.lines.all().is_empty());
}
