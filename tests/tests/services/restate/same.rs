//! The same runs on each journal: the same results, usage and events.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::event::{Event, EventSink};
use llm_do::journal::{FileJournal, Journal, MemoryJournal, SqliteJournal};
use llm_do::prelude::*;
use serde_json::{Value, json};

use super::cases::{Begun, Effects, Way, model};
use super::engine::Worker;

/// The runs, and what they are given.
fn suite() -> Vec<(&'static str, Value)> {
    vec![
        ("act_twice", json!({})),
        ("ask_first", json!({})),
        ("give_up", json!({})),
        ("delegate", json!({})),
        ("doze", json!({ "millis": 5 })),
        ("branch", json!({ "count": 5 })),
        ("match_sold_out", json!({})),
    ]
}

/// What can be seen of a run: its outcome, what it used, and its events.
type Seen = (Value, Value, BTreeMap<String, usize>);

/// A sink that keeps all events.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<Mutex<Vec<Value>>>);

impl EventSink for Kept {
    fn emit(&self, event: &Arc<Event>) {
        self.0.lock().unwrap().push(json!(event));
    }
}

impl Kept {
    /// Returns the events of a run with their number, without what differs from run to run: times, and the order of branches.
    fn of(&self, run: &str) -> BTreeMap<String, usize> {
        let mut counted = BTreeMap::new();
        for event in self.0.lock().unwrap().iter().filter(|event| event["run"] == run) {
            let mut event = event.clone();
            let fields = event.as_object_mut().unwrap();
            for field in ["run", "call", "parent", "seq", "time", "elapsed_ms", "calls"] {
                fields.remove(field);
            }
            *counted.entry(event.to_string()).or_default() += 1;
        }
        counted
    }
}

fn runtime(kept: &Kept) -> Runtime {
    let builder = crate::own_builder().state(Effects::default()).state(Way("old")).state(Begun::default());
    let builder = builder.force_model(model()).sink(kept.clone());
    builder.approval_mode(ApprovalMode::ApproveAll).build().unwrap()
}

/// Runs the suite in this process.
async fn seen_with(journal: impl AsyncFn(&str) -> Arc<dyn Journal>) -> Vec<Seen> {
    let (kept, mut seen) = (Kept::default(), Vec::new());
    let runtime = runtime(&kept);
    for (entry, arguments) in suite() {
        let start = runtime.start_named(entry, arguments).with_id(entry).shared_journal(journal(entry).await);
        let handle = start.handle();
        let outcome = match start.await {
            Ok(result) => json!({ "result": result }),
            Err(error) => json!({ "error": llm_do::error::chain(&error) }),
        };
        seen.push((outcome, json!(handle.usage()), kept.of(entry)));
    }
    seen
}

/// Runs the suite on the engine.
async fn seen_on_engine() -> Option<Vec<Seen>> {
    let (kept, mut seen) = (Kept::default(), Vec::new());
    let worker = Worker::serve("same", runtime(&kept)).await?;
    for (entry, arguments) in suite() {
        let id = worker.start(entry, arguments).await;
        let mut outcome = worker.end(&id).await.1;
        let usage = outcome.as_object_mut().unwrap().remove("usage").unwrap();
        seen.push((outcome, usage, kept.of(&id)));
    }
    Some(seen)
}

#[tokio::test]
async fn each_journal_gives_the_same_results_usage_and_events() {
    let Some(on_engine) = seen_on_engine().await else { return };
    let folder = tempfile::tempdir().unwrap();
    let in_memory = seen_with(async |_| Arc::new(MemoryJournal::new()) as Arc<dyn Journal>).await;
    let in_files =
        seen_with(async |name| Arc::new(FileJournal::open(folder.path().join(name)).unwrap()) as Arc<dyn Journal>)
            .await;
    let runs = SqliteJournal::open(folder.path().join("runs.db")).unwrap();
    let in_sqlite = seen_with(async |name| Arc::new(runs.run(name).await.unwrap()) as Arc<dyn Journal>).await;
    let matched = in_memory.last().map(|(outcome, ..)| outcome.clone());
    assert_eq!(matched, Some(json!({ "result": 3 })));
    for (n, (entry, _)) in suite().into_iter().enumerate() {
        assert_eq!(in_files[n], in_memory[n], "{entry} in a file");
        assert_eq!(in_sqlite[n], in_memory[n], "{entry} in SQLite");
        assert_eq!(on_engine[n], in_memory[n], "{entry} on the engine");
    }
}
