//! The program of a server: what it gets, and when it ends.

use std::path::Path;
use std::time::{Duration, Instant};

use llm_do::mcp::{McpServer, WithMcp};
use llm_do::testing::ScriptedModel;
use llm_do::worker::WorkerSpec;
use llm_do::{Runtime, json};

use super::script::{Script, builder, call};

/// Returns the processes of a server: its own, and one that it started.
async fn family(runtime: &Runtime) -> [u32; 2] {
    let text = call(runtime, "family", json!({})).await.unwrap();
    let ids: Vec<u32> = text.as_str().unwrap().split(' ').map(|id| id.parse().unwrap()).collect();
    ids.try_into().unwrap()
}

/// Returns whether a process exists, and is not a zombie.
fn is_alive(id: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, state)| !state.starts_with('Z'))
}

fn assert_ended(ids: [u32; 2]) {
    let begun = Instant::now();
    while ids.into_iter().any(is_alive) && begun.elapsed() < Duration::from_secs(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(ids.map(is_alive), [false, false]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_and_what_it_started_end_with_the_runtime() {
    for flags in [&[][..], &["stubborn"]] {
        let runtime = Script::new(flags).runtime();
        let ids = family(&runtime).await;
        assert_eq!(ids.map(is_alive), [true, true]);
        let clone = runtime.clone();
        drop(runtime);
        assert_eq!(ids.map(is_alive), [true, true], "the runtime has a clone");
        drop(clone);
        assert_ended(ids);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_ends_with_a_runtime_that_is_dropped_outside_of_async_code() {
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let runtime = Script::new(&["stubborn"]).runtime();
    let ids = tokio.block_on(family(&runtime));
    drop(tokio);
    drop(runtime);
    assert_ended(ids);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_a_dead_server_started_ends_with_it() {
    let runtime = Script::new(&[]).runtime();
    let ids = family(&runtime).await;
    call(&runtime, "die", json!({})).await.unwrap_err();
    assert_ended(ids);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_server_that_is_dropped_during_a_call_ends() {
    let script = Script::new(&[]).with_file("log");
    let runtime = script.runtime();
    let ids = family(&runtime).await;
    let start = runtime.start_named("mcp__s__hang", json!({}));
    let run = tokio::spawn(async move { start.await });
    drop(runtime);
    while script.received("tools/call").len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(ids.map(is_alive), [true, true], "the run needs it");
    run.abort();
    assert!(run.await.unwrap_err().is_cancelled());
    assert_ended(ids);
}

#[tokio::test]
async fn a_program_gets_its_folder_and_only_the_environment_that_it_needs() {
    let script = Script::new(&[]);
    let folder = script.path("").canonicalize().unwrap();
    let server = script.server().working_folder(&folder).env("GIVEN", "yes").inherit("CARGO_PKG_NAME");
    let runtime = builder(server).build().unwrap();
    let place = call(&runtime, "where", json!({})).await.unwrap();
    assert_eq!(Path::new(place.as_str().unwrap()), folder);
    let variable = async |name: &str| call(&runtime, "variable", json!({ "text": name })).await.unwrap();
    assert_eq!(variable("GIVEN").await, "yes");
    assert_eq!(variable("CARGO_PKG_NAME").await, "llm-do-tests");
    assert_eq!(variable("CARGO_MANIFEST_DIR").await, "unset", "it is in the environment of this test");
    assert_ne!(variable("PATH").await, "unset");
}

#[tokio::test]
async fn the_tools_of_an_optional_server_that_cannot_be_used_are_missing_with_a_warning() {
    let gone = McpServer::command("gone", "no-such-program", [""; 0]).optional();
    let worker = WorkerSpec::new("worker", "Try.").toolsets(["mcp__gone", "mcp__gone__run", "mcp__s__echo"]);
    let runtime = builder(Script::new(&[]).server()).mcp(gone).worker(worker);
    let runtime = runtime.force_model(ScriptedModel::new().text("done")).build().unwrap();
    let warnings = runtime.warnings();
    assert!(warnings[0].starts_with("cannot start the MCP server `gone`: "), "{warnings:?}");
    assert!(warnings[0].ends_with("; it is optional, so its tools are missing"), "{warnings:?}");
    assert_eq!(runtime.run_named("worker", json!({ "input": "go" })).await.unwrap(), "done");
}
