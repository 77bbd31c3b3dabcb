//! Calls that run as invocations of their own, over several attempts.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{EngineJournal, EngineRequest};
use crate::observe::journal::{Journal, JournalOutcome, LocalOutcome, StepKind, StepSpec};

/// Makes a call that nothing overlaps, after `load`; returns its value, and whether it was asked of the engine.
async fn call(load: impl FnOnce(&EngineJournal, &Arc<str>)) -> (Value, bool) {
    let (requests, mut asked) = mpsc::unbounded_channel();
    let journal = EngineJournal::new(requests, |_| true);
    let step = StepSpec::new("run", 1, StepKind::Call, "clerk", json!(1));
    load(&journal, &step.key);
    let engine = tokio::spawn(async move {
        let mut is_asked = false;
        while let Some(request) = asked.recv().await {
            match request {
                EngineRequest::Call(_, done) => {
                    is_asked = true;
                    done.send(Some(json!("there"))).unwrap();
                }
                EngineRequest::Record(_, Some(done)) => done.send(()).unwrap(),
                other => panic!("{other:?}"),
            }
        }
        is_asked
    });
    let outcome = journal.call(step, Box::pin(async { LocalOutcome::Record(json!("here")) })).await.unwrap();
    drop(journal);
    let is_asked = engine.await.unwrap();
    assert_eq!(matches!(outcome, JournalOutcome::Replayed(_)), is_asked, "it ran in another invocation");
    (outcome.into_value().unwrap(), is_asked)
}

#[tokio::test]
async fn a_call_that_left_in_an_earlier_attempt_does_not_run_here_too() {
    assert_eq!(call(|_, _| {}).await, (json!("here"), false));
    assert_eq!(call(EngineJournal::load_call).await, (json!("there"), true));
}

#[tokio::test]
async fn a_call_whose_record_was_forgotten_runs_again() {
    let forgotten = call(|journal, key| {
        journal.load_call(key);
        journal.load_forgotten(&[Arc::clone(key)]);
    });
    assert_eq!(forgotten.await, (json!("here"), false));
}
