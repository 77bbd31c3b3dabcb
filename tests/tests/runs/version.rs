//! Versions: code that changes while runs are in flight.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;

/// The version of the code, and what was done; while `fails` is not 0, the last step fails.
#[derive(Clone, Debug, Default)]
struct Code {
    version: Arc<AtomicU32>,
    fails: Arc<AtomicU32>,
    done: Arc<Mutex<Vec<String>>>,
}

/// Returns the state, which only the runtimes of these tests have.
fn deployed<T>(ctx: &CallContext<T>) -> State<Code> {
    ctx.state().unwrap()
}

/// Do something.
#[tool(effect = idempotent, approval = pre_approved)]
fn do_it(ctx: &CallContext, what: String) {
    deployed(ctx).done.lock().unwrap().push(what);
}

/// End, or fail.
#[tool(effect = read_only)]
fn end_it(ctx: &CallContext) -> Result<()> {
    if deployed(ctx).fails.load(Ordering::Relaxed) > 0 { Err("not yet".into()) } else { Ok(()) }
}

/// Does something twice: the old way, or the new one.
#[entry(toolsets = [do_it, end_it])]
async fn changed(ctx: &CallContext<changed>) -> Result<String> {
    for round in 0..2 {
        let is_new = match deployed(ctx).version.load(Ordering::Relaxed) {
            0 => false,
            1 => ctx.version("new way").await?,
            _ => true,
        };
        let way = if is_new { "new" } else { "old" };
        ctx.call(do_it { what: format!("{way} {round}") }).await?;
    }
    ctx.call(end_it {}).await?;
    Ok("done".into())
}

/// Runs it with a version of the code.
async fn run(code: &Code, version: u32, fails: u32, journal: &MemoryJournal) -> Result<String, llm_do::CallError> {
    code.version.store(version, Ordering::Relaxed);
    code.fails.store(fails, Ordering::Relaxed);
    let runtime = Runtime::builder().state(code.clone()).build().unwrap();
    runtime.start(changed {}).journal(journal.replayed()).await
}

/// The same, recording in the journal itself.
async fn begin(code: &Code, version: u32, journal: &MemoryJournal) {
    code.version.store(version, Ordering::Relaxed);
    code.fails.store(1, Ordering::Relaxed);
    let runtime = Runtime::builder().state(code.clone()).build().unwrap();
    runtime.start(changed {}).journal(journal.clone()).await.unwrap_err();
}

#[tokio::test]
async fn a_run_that_began_before_a_change_takes_the_old_way_to_its_end() {
    let (code, journal) = (Code::default(), MemoryJournal::new());
    begin(&code, 0, &journal).await;
    assert_eq!(run(&code, 1, 0, &journal).await.unwrap(), "done");
    assert_eq!(*code.done.lock().unwrap(), ["old 0", "old 1"], "nothing was repeated");
}

#[tokio::test]
async fn a_run_that_began_after_a_change_takes_the_new_way_and_is_resumed_on_it() {
    let (code, journal) = (Code::default(), MemoryJournal::new());
    begin(&code, 1, &journal).await;
    assert_eq!(run(&code, 1, 0, &journal).await.unwrap(), "done");
    assert_eq!(*code.done.lock().unwrap(), ["new 0", "new 1"]);
}

#[tokio::test]
async fn without_a_version_a_change_is_reported_with_the_step() {
    let (code, journal) = (Code::default(), MemoryJournal::new());
    begin(&code, 0, &journal).await;
    let error = llm_do::error::chain(&run(&code, 2, 0, &journal).await.unwrap_err());
    assert!(error.contains("`changed` → 1st call: expected call `do_it`"), "{error}");
}

#[tokio::test]
async fn without_a_journal_a_change_is_in_force() {
    let code = Code::default();
    code.version.store(1, Ordering::Relaxed);
    let runtime = Runtime::builder().state(code.clone()).build().unwrap();
    runtime.run(changed {}).await.unwrap();
    assert_eq!(*code.done.lock().unwrap(), ["new 0", "new 1"]);
}
