//! Runs whose file fails for a while, or cannot be read.

use super::*;

/// Asks who the user is, and continues if the question fails.
#[entry]
async fn meet_anyone(ctx: &CallContext) -> String {
    ctx.request_user_input("Who are you?").await.unwrap_or_else(|_| "a stranger".into())
}

/// Writes a line, and continues if the call is denied.
#[entry(toolsets = [write_line])]
async fn try_to_write(ctx: &CallContext<try_to_write>, line: String) -> usize {
    ctx.call(write_line { line }).await.unwrap_or(0)
}

/// Returns a connection to the file of a service.
fn file(setup: &Setup) -> rusqlite::Connection {
    rusqlite::Connection::open(setup.folder.path().join("runs.db")).unwrap()
}

/// Lets the file refuse new approvals and questions.
fn refuse_promises(file: &rusqlite::Connection) {
    let sql =
        "CREATE TRIGGER full BEFORE INSERT ON journal_promises BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    file.execute_batch(sql).unwrap();
}

/// Waits until a run is in this attempt or a later one.
async fn is_attempted(server: &Server, id: &str, attempt: u64) {
    while server.get(&format!("/runs/{id}")).await["attempts"].as_u64().unwrap() < attempt {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_could_not_be_stored_is_asked_once_the_file_works() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let file = file(&setup);
    refuse_promises(&file);
    let id = server.start("meet_anyone", json!({})).await;
    is_attempted(&server, &id, 2).await;
    file.execute_batch("DROP TRIGGER full").unwrap();
    let shown = server.waiting("/questions").await;
    let path = format!("/questions/{}", shown["id"].as_str().unwrap());
    server.post(&path, json!({ "digest": shown["digest"], "answer": "Ann" })).await;
    assert_eq!(server.reaches(&id, "succeeded").await["result"], "Ann");
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_that_could_not_be_stored_is_asked_once_the_file_works() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let file = file(&setup);
    refuse_promises(&file);
    let id = server.start("try_to_write", json!({ "line": "a" })).await;
    is_attempted(&server, &id, 2).await;
    file.execute_batch("DROP TRIGGER full").unwrap();
    let shown = server.waiting("/approvals").await;
    server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(server.reaches(&id, "succeeded").await["result"], 1);
    assert_eq!(setup.lines.all(), ["a"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_whose_answer_cannot_be_read_for_a_while_is_not_denied() {
    let setup = Setup::new();
    // It is not set aside, so it looks for the answer again and again.
    let server = setup.serve_with(|service| service.park_after(Duration::from_secs(60 * 60))).await;
    let id = server.start("try_to_write", json!({ "line": "a" })).await;
    let shown = server.waiting("/approvals").await;
    let file = file(&setup);
    file.execute_batch("ALTER TABLE journal_promises RENAME TO elsewhere").unwrap();
    is_attempted(&server, &id, 2).await;
    file.execute_batch("ALTER TABLE elsewhere RENAME TO journal_promises").unwrap();
    assert_eq!(server.waiting("/approvals").await, shown);
    server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(server.reaches(&id, "succeeded").await["result"], 1);
    assert_eq!(setup.lines.all(), ["a"]);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_records_cannot_be_read_fails_with_the_reason() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    server.set_aside(&id).await;
    let shown = server.waiting("/approvals").await;
    file(&setup).execute_batch("UPDATE journal_records SET kind = 'poem'").unwrap();
    server.decide(&shown, json!({ "decision": "approve" })).await;
    let run = server.reaches(&id, "failed").await;
    assert!(run["error"].as_str().unwrap().contains("unknown variant `poem`"), "{run}");
    assert!(setup.lines.all().is_empty());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_records_cannot_be_read_for_a_while_continues_once_they_can() {
    let setup = Setup::new();
    let server = setup.serve().await;
    let id = server.start("write_lines", json!({ "lines": ["a"] })).await;
    server.set_aside(&id).await;
    let shown = server.waiting("/approvals").await;
    let file = file(&setup);
    file.execute_batch("ALTER TABLE journal_records RENAME TO elsewhere").unwrap();
    server.decide(&shown, json!({ "decision": "approve" })).await;
    let ready = async || server.request(Method::GET, "/ready").send().await.unwrap().status();
    while ready().await != StatusCode::SERVICE_UNAVAILABLE {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    file.execute_batch("ALTER TABLE elsewhere RENAME TO journal_records").unwrap();
    server.reaches(&id, "succeeded").await;
    assert_eq!(setup.lines.all(), ["a"]);
    server.stop().await;
}
