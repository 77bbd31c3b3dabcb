//! What a recorded step costs in a file of many runs, beside a plain insert of the same bytes.
//!
//! Both sync their commits, and both commit together what waits: the plain one with a thread, a channel and the least code. A
//! step also looks its key up, serialises, checks the claim of the process and links the records of the run. One task shows the latency,
//! 64 tasks the throughput. The disk decides; `TMPDIR=/dev/shm` shows the rest.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]
#![allow(clippy::unwrap_used, reason = "a benchmark may fail by a panic")]

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures_util::future::join_all;
use llm_do::journal::{Journal, LocalOutcome, SqliteJournal, SqliteRun, StepKind, StepSpec};
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::sync::oneshot;

const TASKS: [usize; 2] = [1, 64];

/// A step like that of a model's answer: 300 bytes of input, 1,000 bytes of value.
fn step(place: u32) -> (StepSpec, Value) {
    let input = json!({ "messages": place, "text": "x".repeat(280) });
    let value = json!({ "parts": [{ "text": "y".repeat(950) }], "usage": { "input": 700, "output": 240 } });
    (StepSpec::new("main:0123456789abcdef", place, StepKind::Model, "anthropic:claude-sonnet", input), value)
}

/// The bytes of a step as columns.
struct Row {
    key: String,
    parent: String,
    name: String,
    place: u32,
    input: String,
    value: String,
}

impl Row {
    fn of(place: u32) -> Self {
        let (step, value) = step(place);
        let (key, parent, name) = (step.key.to_string(), step.parent.to_string(), step.name.to_string());
        Self { key, parent, name, place, input: step.input.to_string(), value: value.to_string() }
    }
}

type Insert = (Row, oneshot::Sender<()>);

/// Inserts all rows that wait in one transaction, until the channel is closed.
fn insert(mut file: Connection, rows: &Receiver<Insert>) {
    while let Ok(first) = rows.recv() {
        let transaction = file.transaction().unwrap();
        let mut waiting = Vec::new();
        for (row, done) in std::iter::once(first).chain(rows.try_iter()) {
            let sql = "INSERT INTO records (run, key, kind, name, parent, place, time, input, value) \
                       VALUES (?1, ?2, 'model', ?3, ?4, ?5, ?6, ?7, ?8)";
            let parameters = rusqlite::params![
                1,
                row.key,
                row.name,
                row.parent,
                row.place,
                1_700_000_000_000_000_000_i64,
                row.input,
                row.value
            ];
            transaction.prepare_cached(sql).unwrap().execute(parameters).unwrap();
            waiting.push(done);
        }
        transaction.commit().unwrap();
        for done in waiting {
            done.send(()).unwrap();
        }
    }
}

fn plain(path: &Path) -> Sender<Insert> {
    let file = Connection::open(path).unwrap();
    file.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    file.pragma_update(None, "synchronous", "FULL").unwrap();
    let sql = "CREATE TABLE records (record INTEGER PRIMARY KEY, run INTEGER, key TEXT, kind TEXT, name TEXT, parent TEXT, \
               place INTEGER, time INTEGER, input TEXT, value TEXT)";
    file.execute_batch(sql).unwrap();
    let (sender, receiver) = channel();
    std::thread::spawn(move || insert(file, &receiver));
    sender
}

/// Measures `times` writes by each task, all at one time; returns the time per round of the tasks.
async fn rounds(times: u64, tasks: usize, write: impl AsyncFn(usize)) -> Duration {
    let begin = Instant::now();
    join_all((0..tasks).map(async |task| {
        for _ in 0..times {
            write(task).await;
        }
    }))
    .await;
    begin.elapsed()
}

fn write(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (rows, place) = (plain(&folder.path().join("plain.db")), AtomicU32::new(0));
    let runs = SqliteJournal::open(folder.path().join("runs.db")).unwrap();
    let mut group = criterion.benchmark_group("write");
    group.measurement_time(Duration::from_secs(6)).sample_size(20);
    for tasks in TASKS {
        group.throughput(Throughput::Elements(tasks as u64));
        group.bench_function(BenchmarkId::new("plain insert", tasks), |bencher| {
            bencher.to_async(&tokio).iter_custom(|times| {
                rounds(times, tasks, async |_| {
                    let (done, wait) = oneshot::channel();
                    rows.send((Row::of(place.fetch_add(1, Ordering::Relaxed)), done)).unwrap();
                    wait.await.unwrap();
                })
            });
        });
        let opened = (0..tasks).map(async |task| runs.run(&format!("{tasks} {task}")).await.unwrap());
        let opened: Vec<SqliteRun> = tokio.block_on(join_all(opened));
        group.bench_function(BenchmarkId::new("step", tasks), |bencher| {
            bencher.to_async(&tokio).iter_custom(|times| {
                rounds(times, tasks, async |task| {
                    let (step, value) = step(place.fetch_add(1, Ordering::Relaxed));
                    opened[task].step(step, Box::pin(async { LocalOutcome::Record(value) })).await.unwrap();
                })
            });
        });
    }
    group.finish();
}

criterion_group!(benches, write);
criterion_main!(benches);
