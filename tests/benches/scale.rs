//! What a run costs a service: time, bytes and commits on this disk, with 1 and with 64 runs at a time.
//!
//! `cargo bench -p llm-do-tests --bench scale`. Each run has five effects, each of which returns 1,000 bytes immediately, so nothing
//! but the service takes time. `TMPDIR=/dev/shm` shows what it takes without the disk.

#![allow(clippy::unwrap_used, reason = "a benchmark may fail by a panic")]
#![allow(clippy::print_stdout, reason = "the figures")]

use std::path::Path;
use std::time::{Duration, Instant};

use llm_do::prelude::*;
use llm_do::serve::Service;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// How many runs are measured, by how many are driven at a time.
const RUNS: [(usize, usize); 2] = [(1, 300), (64, 3_000)];

/// Has five effects.
#[entry]
async fn five(ctx: &CallContext) -> Result<usize> {
    let mut bytes = 0;
    for effect in 0..5 {
        bytes += ctx.effect("effect", effect, async { Ok("x".repeat(1_000)) }).await?.len();
    }
    Ok(bytes)
}

/// Returns the bytes of the files of a database.
fn size(path: &Path) -> u64 {
    let sizes =
        ["", "-wal"].map(|end| std::fs::metadata(format!("{}{end}", path.display())).map_or(0, |file| file.len()));
    sizes.iter().sum()
}

/// Returns how many runs have succeeded.
fn succeeded(file: &Connection) -> usize {
    let sql = "SELECT count(*) FROM runs WHERE state = 'succeeded'";
    file.query_row(sql, [], |row| row.get(0)).unwrap()
}

async fn measure(active: usize, runs: usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs.db");
    let service = Service::new(Runtime::builder().build().unwrap()).entries(["five"]).unwrap();
    let service = service.max_active_runs(active).requests_per_second(1_000_000).open(&path).await.unwrap();
    let router = service.router();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/runs", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let http = reqwest::Client::new();
    let begun = Instant::now();
    let starting = (0..active.min(16)).map(|task| {
        let (http, uri) = (http.clone(), uri.clone());
        async move {
            for _ in (task..runs).step_by(active.min(16)) {
                let body = json!({ "entry": "five" }).to_string();
                let request = http.post(&uri).header("content-type", "application/json").body(body);
                let started: Value =
                    serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap();
                assert!(started["id"].is_string(), "{started}");
            }
        }
    });
    futures_util::future::join_all(starting).await;
    let started = begun.elapsed();
    let file = Connection::open(&path).unwrap();
    while succeeded(&file) < runs {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let took = begun.elapsed();
    service.close().await;
    let per_second = |time: Duration| f64::from(u32::try_from(runs).unwrap()) / time.as_secs_f64();
    println!(
        "{active:>2} at a time: {:.0} runs/s started, {:.0} runs/s ended, {:.0} steps/s, {} bytes per run",
        per_second(started),
        per_second(took),
        per_second(took) * 5.0,
        size(&path) / u64::try_from(runs).unwrap()
    );
}

#[tokio::main]
async fn main() {
    for (active, runs) in RUNS {
        measure(active, runs).await;
    }
}
