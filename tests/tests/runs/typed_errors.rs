//! Errors that keep their type: with and without a journal, live and in a resumed run.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use llm_do::approval::ApprovalMode;
use llm_do::error::{BoxError, chain};
use llm_do::event::{EventKind, Outcome};
use llm_do::journal::{FileJournal, Journal, MemoryJournal, SqliteJournal};
use llm_do::model::Message;
use llm_do::prelude::*;
use llm_do::runtime::{FunctionTool, RuntimeBuilder};
use llm_do::testing::{Answer, FunctionModel, Recorder};
use llm_do::{Effect, Value};
use serde_json::json;

/// There are not enough seats.
#[llm_do::data]
struct SoldOut {
    left: u32,
}

impl fmt::Display for SoldOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "only {} seats are left", self.left)
    }
}

impl Error for SoldOut {}

/// An error around another, without serde.
#[derive(Debug)]
struct WhileReserving(SoldOut);

impl fmt::Display for WhileReserving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot reserve")
    }
}

impl Error for WhileReserving {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Reserve seats.
#[tool(effect = read_only)]
fn reserve_seats(seats: u32) -> Result<u32, SoldOut> {
    if seats > 3 { Err(SoldOut { left: 3 }) } else { Ok(seats) }
}

/// Reserve seats, with an error that contains the one that the attribute names.
#[tool(effect = read_only, error = SoldOut)]
fn reserve_by_key(seats: u32) -> Result<u32> {
    Ok(reserve_seats(seats).map_err(WhileReserving)?)
}

/// Reserve seats, with an error of any type.
#[tool(effect = read_only)]
fn reserve_plainly(seats: u32) -> Result<u32> {
    Ok(reserve_seats(seats)?)
}

/// Plan a trip.
#[tool(effect = read_only, toolsets = [reserve_seats])]
async fn plan_trip(ctx: &CallContext<plan_trip>) -> Result<u32> {
    Ok(ctx.call(reserve_seats { seats: 5 }).await?)
}

/// Plan a journey of one trip.
#[tool(effect = read_only, toolsets = [plan_trip])]
async fn plan_journey(ctx: &CallContext<plan_journey>) -> Result<u32, CallError> {
    ctx.call(plan_trip {}).await
}

/// Quote a price for seats.
#[worker]
async fn quote_seats(seats: u32) -> Result<String, SoldOut> {
    if seats > 3 {
        return Err(SoldOut { left: 3 }.into());
    }
    format!("Quote {seats} seats.")
}

/// Plan by a quote.
#[tool(toolsets = [quote_seats])]
async fn plan_by_quote(ctx: &CallContext<plan_by_quote>) -> Result<String> {
    Ok(ctx.call(quote_seats { seats: 5 }).await?)
}

/// Reserve seats for a customer.
#[worker(toolsets = [reserve_seats])]
async fn seat_clerk(input: String) -> String;

/// Whether [`wait_until_free`] never returns, and whether it was called since.
static IS_STUCK: AtomicBool = AtomicBool::new(false);
static IS_WAITING: AtomicBool = AtomicBool::new(false);

/// Wait until the test lets go.
#[tool(effect = read_only)]
async fn wait_until_free() {
    if IS_STUCK.load(Ordering::Relaxed) {
        IS_WAITING.store(true, Ordering::Relaxed);
        std::future::pending::<()>().await;
    }
}

/// Returns the text of an error, and the seats that are left by its type.
fn seen(error: &CallError) -> String {
    let left = error.downcast_ref::<SoldOut>().map(|sold_out| sold_out.left);
    format!("{}, {left:?}", chain(error))
}

/// Handles the errors of calls and effects by their type.
#[entry(
    toolsets = [reserve_seats, reserve_by_key, reserve_plainly, plan_trip, plan_journey, plan_by_quote, wait_until_free],
    error = SoldOut,
)]
async fn match_errors(ctx: &CallContext<match_errors>) -> Result<Vec<String>> {
    let sold_out = |left| async move { Err::<(), BoxError>(SoldOut { left }.into()) };
    let errors = [
        ctx.call(reserve_seats { seats: 5 }).await.err(),
        ctx.call(reserve_by_key { seats: 5 }).await.err(),
        ctx.call(plan_trip {}).await.err(),
        ctx.call(plan_journey {}).await.err(),
        ctx.call(plan_by_quote {}).await.err(),
        ctx.effect("ask", (), sold_out(7)).await.err(),
        ctx.destructive_effect("take", (), sold_out(8)).await.err(),
        ctx.call(reserve_plainly { seats: 5 }).await.err(),
    ];
    let seen = errors.iter().flatten().map(seen).collect();
    ctx.call(wait_until_free {}).await?;
    Ok(seen)
}

/// What [`match_errors`] returns; `plainly` is the type of an error that no journal keeps.
fn expected(plainly: Option<u32>) -> Vec<String> {
    let left = "failed: only 3 seats are left, Some(3)";
    vec![
        format!("`reserve_seats` {left}"),
        "`reserve_by_key` failed: cannot reserve: only 3 seats are left, Some(3)".to_owned(),
        format!("`plan_trip` failed: `reserve_seats` {left}"),
        format!("`plan_journey` failed: `plan_trip` failed: `reserve_seats` {left}"),
        format!("`plan_by_quote` failed: `quote_seats` {left}"),
        "`match_errors` failed: only 7 seats are left, Some(7)".to_owned(),
        "`match_errors` failed: only 8 seats are left, Some(8)".to_owned(),
        format!("`reserve_plainly` failed: only 3 seats are left, {plainly:?}"),
    ]
}

/// A builder whose model reserves seats, and then repeats what it got.
fn builder() -> RuntimeBuilder {
    let model = FunctionModel::answering(|request| match request.messages.last() {
        Some(Message::Tool { results }) => Answer::text(results[0].content.clone()),
        _ => Answer::call("reserve_seats", json!({ "seats": 5 })),
    });
    Runtime::builder().approval_mode(ApprovalMode::ApproveAll).force_model(model)
}

/// Where a run is recorded.
enum Store {
    Memory(MemoryJournal),
    File(std::path::PathBuf),
    Sqlite(SqliteJournal),
}

impl Store {
    fn all(folder: &Path) -> [Self; 3] {
        let runs = SqliteJournal::open(folder.join("runs.db")).unwrap();
        [Self::Memory(MemoryJournal::new()), Self::File(folder.join("run.jsonl")), Self::Sqlite(runs)]
    }

    /// Opens the journal, as each process does.
    async fn open(&mut self) -> Arc<dyn Journal> {
        match self {
            Self::Memory(journal) => {
                *journal = journal.replayed();
                Arc::new(journal.clone())
            }
            Self::File(path) => Arc::new(FileJournal::open(path.as_path()).unwrap()),
            Self::Sqlite(runs) => Arc::new(runs.run("1").await.unwrap()),
        }
    }
}

/// Runs until all errors are matched, and drops the run, as if its process died.
async fn die(journal: Arc<dyn Journal>) {
    IS_WAITING.store(false, Ordering::Relaxed);
    IS_STUCK.store(true, Ordering::Relaxed);
    let runtime = builder().build().unwrap();
    let waiting = async {
        while !IS_WAITING.load(Ordering::Relaxed) {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        biased;
        () = waiting => {}
        ended = async { runtime.start(match_errors {}).shared_journal(journal).await } => panic!("the run ended: {ended:?}"),
    }
    IS_STUCK.store(false, Ordering::Relaxed);
}

#[tokio::test]
async fn a_caller_matches_the_same_types_with_each_journal_live_and_resumed() {
    let runtime = builder().build().unwrap();
    assert_eq!(runtime.run(match_errors {}).await.unwrap(), expected(Some(3)), "without a journal");
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for mut store in Store::all(folders[0].path()) {
        let live = runtime.start(match_errors {}).shared_journal(store.open().await).await;
        assert_eq!(live.unwrap(), expected(None), "live");
    }
    for mut store in Store::all(folders[1].path()) {
        die(store.open().await).await;
        let recorder = Recorder::new();
        let runtime = builder().sink(recorder.clone()).build().unwrap();
        let resumed = runtime.start(match_errors {}).shared_journal(store.open().await).await;
        assert_eq!(resumed.unwrap(), expected(None), "resumed");
        let ran = recorder.events().into_iter().filter(|event| {
            matches!(event.kind, EventKind::CallFinished { outcome: Outcome::Error(_), replayed: false, .. })
        });
        assert_eq!(ran.count(), 0, "each error comes from the journal");
    }
}

/// Returns the builder with a journal, if there is one.
fn with(builder: RuntimeBuilder, journal: Option<MemoryJournal>) -> RuntimeBuilder {
    match journal {
        Some(journal) => builder.journal(journal),
        None => builder,
    }
}

#[tokio::test]
async fn the_error_of_a_run_has_its_type() {
    for journal in [None, Some(MemoryJournal::new())] {
        let runtime = with(builder(), journal).build().unwrap();
        let error = runtime.run(reserve_seats { seats: 5 }).await.unwrap_err();
        assert!(matches!(&error, CallError::Failed { source, .. } if source.is::<SoldOut>()), "{error:?}");
    }
}

#[tokio::test]
async fn a_run_that_fails_again_has_the_same_error() {
    let mut journal = MemoryJournal::new();
    for _ in 0..2 {
        let runtime = builder().journal(journal.clone()).build().unwrap();
        let error = runtime.run(plan_journey {}).await.unwrap_err();
        assert_eq!(seen(&error), expected(None)[3]);
        journal = journal.replayed();
    }
}

#[tokio::test]
async fn a_model_reads_the_same_text_of_a_typed_error_with_and_without_a_journal() {
    for journal in [None, Some(MemoryJournal::new())] {
        let read = with(builder(), journal).build().unwrap().run(seat_clerk { input: "5 seats".into() }).await.unwrap();
        assert!(read.contains("`reserve_seats` failed: only 3 seats are left"), "{read}");
    }
}

#[tokio::test]
async fn a_tool_as_a_value_keeps_the_type_of_an_error_also_of_a_run_under_it() {
    let reserve =
        FunctionTool::new("reserve", "Reserve.", json!({ "type": "object" }), Effect::ReadOnly, |_, _| async {
            Err::<u32, BoxError>(SoldOut { left: 2 }.into())
        });
    let library = Runtime::builder().only([] as [&str; 0]).tool(reserve.error_type::<SoldOut>()).build().unwrap();
    let schema = json!({ "type": "object" });
    let bridge = FunctionTool::new("bridge", "Cross.", schema, Effect::ReadOnly, move |ctx, arguments: Value| {
        let library = library.clone();
        async move { Ok(library.start_named("reserve", arguments).under(&ctx).await?) }
    });
    let bridge = bridge.toolsets([] as [&str; 0]).error_type::<SoldOut>();
    for journal in [None, Some(MemoryJournal::new())] {
        let builder = Runtime::builder().only([] as [&str; 0]).tool(bridge.clone());
        let error = with(builder, journal).build().unwrap().run_named("bridge", json!({})).await.unwrap_err();
        assert_eq!(seen(&error), "`bridge` failed: `reserve` failed: only 2 seats are left, Some(2)");
    }
}
