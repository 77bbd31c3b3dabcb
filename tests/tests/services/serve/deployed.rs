//! A run that waits for a person while other code is deployed.

use llm_do::Effect;
use llm_do::runtime::FunctionTool;

use super::killed::Served;
use super::*;
use crate::effects::effects;

const FRIDAY: &str = "2026-11-27T16:00:00Z";
/// Three days later.
const MONDAY: &str = "2026-11-30T16:00:00Z";

/// Starts a process with this code at this time.
fn deploy(folder: &TempDir, code: &str, now: &str) -> Served {
    Served::start_with(folder.path(), &[("LLM_DO_TEST_CODE", code), ("LLM_DO_TEST_NOW", now)])
}

/// Starts a release that waits for a person when its process is killed; returns its id, and what was shown.
async fn waiting_release(folder: &TempDir) -> (String, Value) {
    let served = deploy(folder, "first", FRIDAY);
    let id = served.server.start("release", json!({ "version": "1.2" })).await;
    served.server.set_aside(&id).await;
    let shown = served.server.waiting("/approvals").await;
    served.kill();
    (id, shown)
}

/// Returns what was done, without the numbers.
fn done(folder: &TempDir) -> Vec<String> {
    effects(folder.path()).into_keys().map(|effect| effect.split(' ').next().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_three_days_later_continues_a_run_whose_steps_a_deploy_did_not_change() {
    let folder = tempfile::tempdir().unwrap();
    let (id, shown) = waiting_release(&folder).await;
    assert_eq!(done(&folder), ["1.2-built"]);

    let served = deploy(&folder, "later", MONDAY);
    let entries = served.server.get("/entries").await;
    let described: Vec<_> = entries["entries"].as_array().unwrap().iter().map(|entry| &entry["description"]).collect();
    assert!(described.contains(&&json!("Show old notes.")), "a tool was added: {described:?}");
    assert!(described.contains(&&json!("Show what a release changes.")), "a description was changed: {described:?}");
    assert_eq!(served.server.waiting("/approvals").await, shown);
    let (status, _) = served.server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::OK);
    let run = served.server.reaches(&id, "succeeded").await;
    assert_eq!((&run["finished"], run["result"].as_array().unwrap().len()), (&json!(MONDAY), 3));
    assert_eq!(done(&folder), ["1.2-announced", "1.2-built", "1.2-shipped"], "nothing was done twice");
    let events = served.server.request(Method::GET, &format!("/runs/{id}/events")).send().await.unwrap();
    assert!(events.text().await.unwrap().contains("about to ship"), "the later code has run");
    served.kill();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_recorded_steps_a_deploy_changed_ends_with_the_step_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let (id, shown) = waiting_release(&folder).await;

    let served = deploy(&folder, "other steps", MONDAY);
    served.server.decide(&shown, json!({ "decision": "approve" })).await;
    let run = served.server.reaches(&id, "failed").await;
    let error = run["error"].as_str().unwrap();
    assert!(
        error.contains("the run diverged from its journal at `release` → 1st call: expected tool `act`"),
        "{error}"
    );
    assert!(error.contains("resume with the code and arguments that wrote the journal"), "{error}");
    assert_eq!(done(&folder), ["1.2-built"], "nothing else was done");
    served.kill();
}

/// Ships a version by a tool that each deploy defines.
#[entry]
async fn ship_version(ctx: &CallContext, version: String) -> Result<Value> {
    Ok(ctx.call_tool("ship", json!({ "version": version })).await?)
}

/// Serves code whose tool `ship` has this description.
async fn deploy_ship(setup: &Setup, description: &str) -> Server {
    let schema = json!({ "type": "object", "properties": { "version": { "type": "string" } } });
    let ship = |_, arguments: Value| async move { Ok(format!("shipped {}", arguments["version"].as_str().unwrap())) };
    let ship = FunctionTool::new("ship", description, schema, Effect::Destructive, ship);
    let service = setup.service_of(|runtime| runtime.tool(ship));
    setup.serve_this(service).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_given_before_the_description_of_its_tool_changed_counts() {
    let setup = Setup::new();
    let server = deploy_ship(&setup, "Ship.").await;
    let id = server.start("ship_version", json!({ "version": "1.2" })).await;
    server.set_aside(&id).await;
    let shown = server.waiting("/approvals").await;
    server.stop().await;

    let server = deploy_ship(&setup, "Ship a version to all users.").await;
    let (status, _) = server.decide(&shown, json!({ "decision": "approve" })).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(server.reaches(&id, "succeeded").await["result"], "shipped 1.2");
    server.stop().await;
}
