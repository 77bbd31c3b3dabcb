//! Claims that hold for each run, including stopped ones.

use std::collections::BTreeMap;

use llm_do::event::{Caller, Event, EventKind, ItemKind};
use llm_do::usage::RunUsage;
use proptest::prelude::*;

use super::cases;
use super::plan::{Answer, Plan, plans};
use super::tools::fault;
use super::trial::{Seen, Setting, Stop, run, run_concurrently, settings};

/// The events of one call.
#[derive(Debug)]
struct Call {
    parent: Option<u64>,
    depth: u32,
    by: Option<Caller>,
    kind: Option<ItemKind>,
    decided: Vec<bool>,
    /// Sequence numbers of the events, as in the following fields.
    decided_at: Option<u64>,
    started: Vec<u64>,
    finished: Vec<u64>,
    refused: Vec<u64>,
}

impl Call {
    fn of(event: &Event) -> Self {
        let (parent, depth) = (event.parent, event.depth);
        let (decided, started, finished, refused) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { parent, depth, by: None, kind: None, decided, decided_at: None, started, finished, refused }
    }
}

fn calls(events: &[Event]) -> BTreeMap<u64, Call> {
    let mut calls = BTreeMap::new();
    for event in events {
        let call = calls.entry(event.call).or_insert_with(|| Call::of(event));
        match &event.kind {
            EventKind::ApprovalDecided { approved, .. } => {
                call.decided.push(*approved);
                call.decided_at = Some(event.seq);
            }
            EventKind::CallStarted { what, by, .. } => {
                (call.kind, call.by) = (Some(*what), Some(*by));
                call.started.push(event.seq);
            }
            EventKind::CallFinished { .. } => call.finished.push(event.seq),
            EventKind::CallRefused { .. } => call.refused.push(event.seq),
            _ => {}
        }
    }
    calls
}

/// Each started call finishes once, no refused call starts, and nested calls start and finish while their parent runs.
fn calls_are_a_tree(events: &[Event]) -> Result<(), TestCaseError> {
    let calls = calls(events);
    for (number, call) in &calls {
        prop_assert!(call.started.len() <= 1 && call.started.len() == call.finished.len(), "{number}: {call:?}");
        prop_assert!(call.refused.len() + call.started.len() <= 1, "{number}: {call:?}");
        let Some(started) = call.started.first() else { continue };
        prop_assert_eq!(&call.decided, &[true], "{}: {:?}", number, call);
        prop_assert!(call.decided_at < Some(*started), "{number}: {call:?}");
        prop_assert!(started < &call.finished[0]);
        prop_assert_eq!(call.parent.is_none(), call.by == Some(Caller::User));
    }
    for call in calls.values() {
        let Some(parent) = call.parent.map(|parent| &calls[&parent]) else { continue };
        let inside = parent.started[0]..parent.finished[0];
        let seqs = call.started.iter().chain(&call.finished).chain(&call.refused);
        prop_assert!(seqs.clone().all(|seq| inside.contains(seq)), "{call:?} in {parent:?}");
        if let Some(kind) = call.kind {
            prop_assert_eq!(call.depth, parent.depth + u32::from(kind == ItemKind::Worker));
        }
    }
    prop_assert!(events.iter().enumerate().all(|(index, event)| event.seq == index as u64));
    Ok(())
}

/// The usage of the root is the sum of the usage of its calls, in the events and in the tree.
fn usage_is_the_sum_of_the_calls(seen: &Seen) -> Result<(), TestCaseError> {
    let mut sum = RunUsage::default();
    let mut last = None;
    for event in &seen.events {
        match &event.kind {
            EventKind::CallStarted { by: Caller::Code | Caller::Model, .. } => sum.tool_calls += 1,
            EventKind::ModelResponse { usage, .. } => sum.model += *usage,
            EventKind::Usage { used } => last = Some(*used),
            _ => {}
        }
    }
    prop_assert_eq!((sum.tool_calls, sum.model), (seen.usage.tool_calls, seen.usage.model));
    prop_assert_eq!(seen.tree.total(), seen.usage);
    if seen.result.is_some() {
        prop_assert_eq!(last, Some(seen.usage));
    }
    Ok(())
}

/// Each effect was approved by the approver, except the effect of the root, which is the user's own call.
fn effects_are_approved(seen: &Seen, root: u32) -> Result<(), TestCaseError> {
    let mut approved = seen.approved();
    approved.insert(root);
    let effects = seen.effects();
    prop_assert!(effects.iter().all(|id| approved.contains(id)), "{effects:?} of {approved:?}");
    Ok(())
}

/// Each conversation sent to a model, and the final history, is valid for providers.
fn histories_are_valid(seen: &Seen) -> Result<(), TestCaseError> {
    let faults = seen.world.faults.lock().unwrap();
    prop_assert!(faults.is_empty(), "{faults:?}");
    prop_assert_eq!(fault(&seen.history), None);
    Ok(())
}

/// Checks all claims about a run that is not a replay.
pub(crate) fn check_claims(seen: &Seen, setting: &Setting, root: u32) -> Result<(), TestCaseError> {
    calls_are_a_tree(&seen.events)?;
    usage_is_the_sum_of_the_calls(seen)?;
    effects_are_approved(seen, root)?;
    histories_are_valid(seen)?;
    prop_assert!(setting.tool_calls.is_none_or(|limit| seen.usage.tool_calls <= limit));
    let started = seen.events.iter().filter(|event| matches!(event.kind, EventKind::CallStarted { .. }));
    prop_assert!(started.map(|event| event.depth).all(|depth| depth <= setting.max_depth));
    Ok(())
}

/// Returns the maximum number of calls with this id in one turn.
fn equal(plan: &Plan, id: u32) -> usize {
    let here = plan.made().filter(|call| call.id == id).count();
    let below = plan.calls.iter().map(|call| equal(call, id));
    below.chain([here, 1]).max().unwrap()
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn concurrent_runs_do_not_share_approvals_of_single_calls(plan in plans(), setting in settings()) {
        let plan = plan.with_answer(Answer::Approve);
        let setting = Setting { tool_calls: None, ..setting };
        let world = run_concurrently(&plan, 3, &setting);
        let (asked, had) = (world.asked.lock().unwrap().clone(), world.effects.lock().unwrap().clone());
        let times = |ids: &[u32], id: u32| ids.iter().filter(|other| **other == id).count();
        for id in had.iter().copied().filter(|id| *id != plan.id) {
            // Equal calls in one turn of one caller make one request.
            let questions = times(&had, id).div_ceil(equal(&plan, id));
            prop_assert!(times(&asked, id) >= questions, "{id}: effects {had:?}, requests {asked:?}");
        }
    }

    #[test]
    fn the_claims_hold_for_a_run_that_finishes(plan in plans(), setting in settings()) {
        let seen = run(&plan, &setting, Stop::Never, None);
        check_claims(&seen, &setting, plan.id)?;
        let unfinished = seen.history.iter().any(|message| format!("{message:?}").contains("not finished"));
        prop_assert!(!unfinished || seen.result.unwrap().is_err(), "a conversation continued without the results of its calls");
    }
}
