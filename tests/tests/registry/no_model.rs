//! An entry that declares a worker without a model fails before anything runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::event::EventKind;
use llm_do::journal::MemoryJournal;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{Recorder, TestModel};
use llm_do::toolset;

/// Counts the runs of `note`.
#[derive(Clone, Default)]
struct Notes(Arc<AtomicU32>);

impl Notes {
    fn taken(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Take a note.
#[tool(effect = read_only)]
fn note(notes: State<Notes>) {
    notes.0.fetch_add(1, Ordering::SeqCst);
}

/// Write a poem.
#[worker]
async fn poet(input: String) -> String;

/// Answer, on compatible models only.
#[worker(compatible_models = ["openai:*"])]
async fn picky(input: String) -> String;

toolset! {
    /// Workers that declare no model.
    pub artists = [poet, picky];
}

/// Pass on.
#[worker(model = "test:own", toolsets = [artists])]
async fn middle(input: String) -> String;

/// Note, then ask a worker.
#[entry(toolsets = [note, poet])]
async fn direct(ctx: &CallContext<direct>) -> Result<String> {
    ctx.call(note {}).await?;
    Ok(ctx.call(poet { input: "sea".into() }).await?)
}

/// Note, then ask a worker that may ask two more.
#[entry(toolsets = [note, middle])]
async fn indirect(ctx: &CallContext<indirect>) -> Result<String> {
    ctx.call(note {}).await?;
    Ok(ctx.call(middle { input: "sea".into() }).await?)
}

/// Only note.
#[entry(toolsets = [note])]
async fn plain(ctx: &CallContext<plain>) -> Result<()> {
    Ok(ctx.call(note {}).await?)
}

fn builder(notes: &Notes) -> RuntimeBuilder {
    Runtime::builder()
        .only(["direct", "indirect", "plain"])
        .state(notes.clone())
        .approval_mode(llm_do::approval::ApprovalMode::ApproveAll)
}

const ADVICE: &str =
    "set `LLM_DO_MODEL` or the option `--model` to `provider:model`, or `model` of the runtime or the worker";

#[tokio::test]
async fn a_declared_worker_without_a_model_fails_the_run_before_anything_runs() {
    let (notes, recorder) = (Notes::default(), Recorder::new());
    let runtime = builder(&notes).sink(recorder.clone()).build().unwrap();
    let error = runtime.run(direct {}).await.unwrap_err();
    assert!(matches!(error, CallError::NoModel { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        format!("no model for the worker `poet`: {ADVICE}; nothing ran, since `direct` may call `poet`")
    );
    assert_eq!(notes.taken(), 0);
    let kinds: Vec<_> = recorder.events().into_iter().map(|event| event.kind).collect();
    assert!(matches!(kinds[..], [EventKind::CallRefused { .. }, EventKind::Usage { .. }]), "{kinds:?}");
}

#[tokio::test]
async fn a_worker_that_only_another_worker_declares_is_checked_too() {
    let notes = Notes::default();
    let error = builder(&notes).build().unwrap().run(indirect {}).await.unwrap_err().to_string();
    let expected =
        format!("no model for the worker `poet`: {ADVICE}; nothing ran, since `indirect` may call `poet`, `picky`");
    assert_eq!((error, notes.taken()), (expected, 0));
}

#[tokio::test]
async fn an_incompatible_model_of_the_runtime_fails_the_run_before_anything_runs() {
    let notes = Notes::default();
    let runtime = builder(&notes).model("test:run").build().unwrap();
    let error = runtime.run(indirect {}).await.unwrap_err().to_string();
    let expected = "no model for the worker `picky`: `test:run` matches none of its `compatible_models`: openai:*; \
                    nothing ran, since `indirect` may call `picky`";
    assert_eq!((error.as_str(), notes.taken()), (expected, 0));
    runtime.run(direct {}).await.unwrap();
    assert_eq!(notes.taken(), 1);
}

#[tokio::test]
async fn runs_without_such_a_worker_are_not_affected() {
    let notes = Notes::default();
    let runtime = builder(&notes).build().unwrap();
    runtime.run(plain {}).await.unwrap();
    runtime.run(note {}).await.unwrap();
    let forced = builder(&notes).force_model(TestModel::new()).build().unwrap();
    forced.run(indirect {}).await.unwrap();
    assert_eq!(notes.taken(), 3);
}

#[tokio::test]
async fn the_error_of_a_root_worker_without_a_model_explains_where_to_set_one() {
    let runtime = builder(&Notes::default()).build().unwrap();
    let error = runtime.run(poet { input: "sea".into() }).await.unwrap_err().to_string();
    assert_eq!(error, format!("no model for the worker `poet`: {ADVICE}"));
}

#[tokio::test]
async fn a_complete_journal_is_replayed_without_a_model_and_a_refused_run_starts_over() {
    let (notes, journal) = (Notes::default(), MemoryJournal::new());
    for _ in 0..2 {
        let runtime = builder(&notes).journal(journal.replayed()).build().unwrap();
        let error = runtime.run(direct {}).await.unwrap_err();
        assert!(matches!(error, CallError::NoModel { .. }), "{error:?}");
    }
    assert_eq!(notes.taken(), 0);
    let runtime = builder(&notes).journal(journal.clone()).model("test:run").build().unwrap();
    let poem = runtime.run(direct {}).await.unwrap();
    let replayed = builder(&notes).journal(journal.replayed()).build().unwrap();
    assert_eq!(replayed.run(direct {}).await.unwrap(), poem);
    assert_eq!(notes.taken(), 1);
}

#[test]
fn check_reports_each_entry_that_declares_a_worker_without_a_model() {
    let payload = std::panic::catch_unwind(|| llm_do::check!(builder(&Notes::default()))).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("invalid linked items (3):\n"), "{text}");
    for (entry, at, worker, of) in
        [("direct", 47, "poet", 30), ("indirect", 54, "poet", 30), ("indirect", 54, "picky", 34)]
    {
        let place = "tests/tests/registry/no_model.rs";
        let fault = format!(
            "the entry `{entry}` ({place}:{at}) may call the worker `{worker}` ({place}:{of}), which has no model: {ADVICE}"
        );
        assert!(text.contains(&fault), "no {fault:?} in {text}");
    }
    llm_do::check!(builder(&Notes::default()).force_model(TestModel::new()));
}
