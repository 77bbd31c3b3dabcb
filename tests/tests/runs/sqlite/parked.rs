//! How much memory runs take that wait for a person.
#![cfg(target_os = "linux")]

use std::time::Duration;

use llm_do::approval::Decision;
use llm_do::journal::SqliteJournal;
use llm_do::prelude::*;
use llm_do::runtime::FunctionTool;
use llm_do::{Effect, Value};
use serde_json::json;

use super::folder;

const RUNS: usize = 10_000;

/// Returns the memory of this process that is in use, in bytes.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// A runtime with one entry, which makes an effect and then needs an approval that no one gives.
fn runtime() -> Runtime {
    let schema = || json!({ "type": "object" });
    let send = FunctionTool::new("send", "Send.", schema(), Effect::Destructive, |_, _: Value| async { Ok("sent") });
    let order = FunctionTool::new("order", "Order.", schema(), Effect::ReadOnly, |ctx, _: Value| async move {
        let text: String = ctx.effect("write", (), async { Ok("x".repeat(2_000)) }).await?;
        ctx.call_tool("send", json!({})).await?;
        Ok(text)
    });
    let never = |_| std::future::pending::<Decision>();
    Runtime::builder().only([] as [&str; 0]).tool(send).tool(order).approve_with(never).build().unwrap()
}

/// Set in the process that measures: the memory of this one contains that of other tests.
const ALONE: &str = "LLM_DO_TEST_ALONE";

#[test]
fn ten_thousand_parked_runs_take_at_most_50_megabytes() {
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    alone.args(["sqlite::parked::memory_is_measured_in_a_process_of_its_own", "--exact"]).env(ALONE, "1");
    assert!(alone.status().unwrap().success());
    assert!(std::fs::read_to_string(report()).unwrap().starts_with("10000 parked runs take "));
}

/// Returns the file with what was measured.
fn report() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("parked.txt")
}

#[tokio::test]
async fn memory_is_measured_in_a_process_of_its_own() {
    if std::env::var_os(ALONE).is_none() {
        return;
    }
    let (_folder, path) = folder();
    let (runs, runtime) = (SqliteJournal::open(&path).unwrap(), runtime());
    let park = async |id: usize| {
        let run = runs.run(&id.to_string()).await.unwrap();
        let recorded = run.clone();
        let start = runtime.start_named("order", json!({})).journal(run);
        let waits = async {
            while recorded.recorded() < 2 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::select! {
            ended = start.into_future() => panic!("the run ended: {ended:?}"),
            () = waits => {}
        }
    };
    for id in 0..100 {
        park(id).await;
    }
    let before = resident();
    for first in (100..100 + RUNS).step_by(100) {
        futures_util::future::join_all((first..first + 100).map(&park)).await;
    }
    let parked = resident().saturating_sub(before);
    assert_eq!(runs.records("5000").await.unwrap().len(), 2);
    let measured = format!("{RUNS} parked runs take {} KiB", parked / 1024);
    std::fs::write(report(), &measured).unwrap();
    assert!(parked <= 50_000_000, "{measured}");
}
