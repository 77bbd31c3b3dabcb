//! Replayed runs, and runs that are resumed from a journal cut at any record.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use llm_do::journal::{Record, StepKind};
use llm_do::usage::UsageTree;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cases;
use super::claims::check_claims;
use super::plan::{plans, unedited};
use super::trial::{Kept, Seen, Setting, Stop, run, run_all, settings};

/// Settings without a limit on calls: which of several concurrent calls exceeds it is not deterministic.
pub(crate) fn unlimited() -> impl Strategy<Value = Setting> {
    settings().prop_map(|setting| Setting { tool_calls: None, ..setting })
}

/// Returns the tree with its children sorted by name.
fn sorted(mut tree: UsageTree) -> UsageTree {
    tree.children = tree.children.into_iter().map(sorted).collect();
    tree.children.sort_by(|left, right| left.name.cmp(&right.name));
    tree
}

/// Returns the result without the names of run-time workers, which differ in a run without a journal.
fn without_worker_names(seen: &Seen) -> String {
    let text = format!("{:?}", seen.result);
    let (first, rest) = text.split_once("`w").unwrap_or((&text, ""));
    let after_name = |part: &str| part.split_once('`').map_or_else(String::new, |(_, rest)| rest.to_owned());
    rest.split("`w").fold(first.to_owned(), |text, part| text + "``" + &after_name(part))
}

/// Returns the number of recorded effects of each call, by id.
pub(crate) fn recorded(records: &[Record]) -> BTreeMap<u32, usize> {
    let mut recorded = BTreeMap::new();
    for record in records {
        let id = match (record.kind, &*record.name) {
            (StepKind::Tool, "leaf" | "blocking" | "unordered") => record.value["result"]["value"].as_u64(),
            (StepKind::Effect, _) => record.value.as_u64(),
            _ => None,
        };
        if let Some(id) = id {
            *recorded.entry(u32::try_from(id).unwrap()).or_default() += 1;
        }
    }
    recorded
}

/// Returns the recorded values that do not depend on the process: without run ids, approvals, begins and the order of usage.
fn stable_values(records: &[Record]) -> BTreeMap<String, Value> {
    let stable =
        records.iter().filter(|record| !matches!(record.kind, StepKind::Run | StepKind::Approval | StepKind::Begun));
    let value = |record: &Record| match record.kind {
        StepKind::Call | StepKind::Result => {
            json!({ "result": record.value["result"], "failed": record.value["failed"] })
        }
        _ => record.value.clone(),
    };
    stable.map(|record| (record.key.to_string(), value(record))).collect()
}

/// Returns the ids of the calls that began, before edits.
fn begun(records: &[Record]) -> BTreeSet<u32> {
    let begun = records.iter().filter(|record| record.kind == StepKind::Begun);
    let ids = begun.filter_map(|record| record.input["plan"]["id"].as_u64());
    ids.map(|id| unedited(u32::try_from(id).unwrap())).collect()
}

fn keys(records: &[Record]) -> BTreeSet<Arc<str>> {
    records.iter().map(|record| Arc::clone(&record.key)).collect()
}

fn count(records: &[Record], kind: StepKind) -> usize {
    records.iter().filter(|record| record.kind == kind).count()
}

/// Returns whether the run ended in an error, so that the failures that led to it are retried.
fn has_failed(records: &[Record]) -> bool {
    records.iter().any(|record| record.kind == StepKind::Result && record.value.get("result").is_none())
}

/// Checks that a resumed run has the result of the first run, and repeats no recorded effect.
fn check_resumed(first: &Seen, before: &[Record], resumed: &Seen, after: &[Record]) -> Result<(), TestCaseError> {
    prop_assert_eq!(&resumed.result, &first.result);
    prop_assert_eq!(resumed.usage, first.usage);
    prop_assert_eq!(sorted(resumed.tree.clone()), sorted(first.tree.clone()));
    if has_failed(before) {
        return Ok(());
    }
    prop_assert_eq!(resumed.requests() + count(before, StepKind::Model), count(after, StepKind::Model));
    prop_assert_eq!(keys(after).len(), after.len());
    prop_assert!(keys(after).is_superset(&keys(before)));
    // Unrecorded effects of a failed call may run again.
    let all = first.effects();
    for (id, recorded) in recorded(before) {
        let times = |effects: &[u32]| effects.iter().filter(|effect| **effect == id).count();
        prop_assert!(times(&resumed.effects()) + recorded <= times(&all), "{id}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_replay_has_the_same_result_and_no_effects(plan in plans(), setting in unlimited()) {
        let kept = Kept::new();
        let first = run(&plan, &setting, Stop::Never, Some(&kept));
        check_claims(&first, &setting, plan.id)?;
        let without = run(&plan, &setting, Stop::Never, None);
        prop_assert_eq!(without_worker_names(&first), without_worker_names(&without), "as without a journal");

        let again = kept.replayed();
        let replay = run(&plan, &setting, Stop::Never, Some(&again));
        let records = kept.journal.records();
        check_resumed(&first, &records, &replay, &again.journal.records())?;
        if !has_failed(&records) {
            prop_assert_eq!(replay.effects(), Vec::<u32>::new());
            prop_assert_eq!(replay.requests(), 0);
        }
        // Only failures are retried: effects with a result are not repeated.
        let succeeded = records.into_iter().filter(|record| record.value.get("failed").is_none());
        let succeeded: Vec<_> = succeeded.collect();
        for (id, recorded) in recorded(&succeeded) {
            let times = |effects: &[u32]| effects.iter().filter(|effect| **effect == id).count();
            prop_assert!(times(&replay.effects()) + recorded <= times(&first.effects()), "{id}");
        }
        // An approval for the session holds again once the replay reaches it; a concurrent call that it covered may ask before.
        let for_session = plan.ids_approved_for_session();
        // A call that failed after it began is asked about again.
        let begun = if has_failed(&kept.journal.records()) { begun(&kept.journal.records()) } else { BTreeSet::new() };
        let may_ask = |id: &u32| for_session.contains(id) || begun.contains(&unedited(*id));
        prop_assert!(replay.approved().iter().all(may_ask), "{:?}", replay.approved());
        // A denial that was not sent to a model, and that ended the run, may be decided again, like a call without a decision.
        let asked = replay.world.asked.lock().unwrap().clone();
        prop_assert!(asked.iter().all(may_ask) || !setting.return_denials || plan.leaves_undecided(), "{asked:?}");
        let (before, after) = (keys(&kept.journal.records()), keys(&again.journal.records()));
        prop_assert!(after.is_superset(&before));
        let mut added = after.difference(&before);
        prop_assert!(added.all(|key| !asked.is_empty() && (key.contains("/approval") || key.contains("/begun"))), "{after:?}");
    }

    #[test]
    fn a_run_resumes_from_a_journal_cut_at_any_record(
        plan in plans(),
        setting in unlimited(),
        cut in any::<prop::sample::Index>(),
    ) {
        let kept = Kept::new();
        let first = run(&plan, &setting, Stop::Never, Some(&kept));
        let mut before = kept.journal.records();
        before.truncate(cut.index(before.len() + 1));

        let rest = kept.cut(before.len());
        let resumed = run(&plan, &setting, Stop::Never, Some(&rest));
        check_resumed(&first, &before, &resumed, &rest.journal.records())?;
        prop_assert_eq!(stable_values(&rest.journal.records()), stable_values(&kept.journal.records()));
    }

    #[test]
    fn a_dropped_run_resumes_to_the_result_of_an_uninterrupted_run(
        plan in plans(),
        setting in unlimited(),
        polls in 0..60_usize,
    ) {
        let whole = Kept::new();
        let first = run(&plan, &setting, Stop::Never, Some(&whole));
        let kept = Kept::new();
        let dropped = run(&plan, &setting, Stop::Dropped(polls), Some(&kept));
        check_claims(&dropped, &setting, plan.id)?;

        let rest = kept.replayed();
        let resumed = run(&plan, &setting, Stop::Never, Some(&rest));
        check_resumed(&first, &kept.journal.records(), &resumed, &rest.journal.records())?;
        prop_assert_eq!(stable_values(&rest.journal.records()), stable_values(&whole.journal.records()));
    }

    #[test]
    fn several_runs_of_one_runtime_resume_to_their_results(
        plan in plans(),
        other in plans(),
        setting in unlimited(),
        cut in any::<prop::sample::Index>(),
    ) {
        // Equal plans are different runs.
        let all = [plan.clone(), other, plan];
        let kept = Kept::new();
        let (first, world) = run_all(&all, &setting, Some(&kept));
        let mut before = kept.journal.records();
        before.truncate(cut.index(before.len() + 1));
        let rest = kept.cut(before.len());
        let (resumed, again) = run_all(&all, &setting, Some(&rest));
        prop_assert_eq!(&resumed, &first);
        prop_assert_eq!(stable_values(&rest.journal.records()), stable_values(&kept.journal.records()));
        let count = |effects: &[u32], id: u32| effects.iter().filter(|effect| **effect == id).count();
        let (all, again) = (world.effects.lock().unwrap().clone(), again.effects.lock().unwrap().clone());
        for (id, recorded) in recorded(&before) {
            prop_assert!(count(&again, id) + recorded <= count(&all, id), "{id}");
        }
    }
}
