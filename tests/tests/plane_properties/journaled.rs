//! Runs that are replayed, and runs that are resumed from wherever their journal ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use llm_do::journal::{Record, StepKind};
use llm_do::usage::UsageTree;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cases;
use super::claims::hold;
use super::plan::plans;
use super::trial::{Kept, Seen, Setting, Stop, run, run_all, settings};

/// Without a limit on calls: which of several at once is the one too many is for chance to say.
pub(crate) fn unlimited() -> impl Strategy<Value = Setting> {
    settings().prop_map(|setting| Setting { tool_calls: None, ..setting })
}

/// The tree, whatever was first.
fn sorted(mut tree: UsageTree) -> UsageTree {
    tree.children = tree.children.into_iter().map(sorted).collect();
    tree.children.sort_by(|left, right| left.name.cmp(&right.name));
    tree
}

/// The result, without the names of workers that were made: those of a run without a journal are others.
fn nameless(seen: &Seen) -> String {
    let text = format!("{:?}", seen.result);
    let (first, rest) = text.split_once("`w").unwrap_or((&text, ""));
    let after_name = |part: &str| part.split_once('`').map_or_else(String::new, |(_, rest)| rest.to_owned());
    rest.split("`w").fold(first.to_owned(), |text, part| text + "``" + &after_name(part))
}

/// How many effects of each call are recorded.
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

/// What the journal holds but for what is of one process: the run's id, who answered, who used something first.
fn lasting(records: &[Record]) -> BTreeMap<String, Value> {
    let lasting = records.iter().filter(|record| !matches!(record.kind, StepKind::Run | StepKind::Approval));
    let value = |record: &Record| match record.kind {
        StepKind::Call | StepKind::Result => {
            json!({ "result": record.value["result"], "failed": record.value["failed"] })
        }
        _ => record.value.clone(),
    };
    lasting.map(|record| (record.key.to_string(), value(record))).collect()
}

fn keys(records: &[Record]) -> BTreeSet<Arc<str>> {
    records.iter().map(|record| Arc::clone(&record.key)).collect()
}

fn count(records: &[Record], kind: StepKind) -> usize {
    records.iter().filter(|record| record.kind == kind).count()
}

/// Whether the run ended in an error, so that the failures that led to it are tried again.
fn has_failed(records: &[Record]) -> bool {
    records.iter().any(|record| record.kind == StepKind::Result && record.value.get("result").is_none())
}

/// A run that begins where the journal ends comes to what the first came to, and repeats nothing that is recorded.
fn resumes(first: &Seen, before: &[Record], resumed: &Seen, after: &[Record]) -> Result<(), TestCaseError> {
    prop_assert_eq!(&resumed.result, &first.result);
    prop_assert_eq!(resumed.usage, first.usage);
    prop_assert_eq!(sorted(resumed.tree.clone()), sorted(first.tree.clone()));
    if has_failed(before) {
        return Ok(());
    }
    prop_assert_eq!(resumed.requests() + count(before, StepKind::Model), count(after, StepKind::Model));
    prop_assert_eq!(keys(after).len(), after.len());
    prop_assert!(keys(after).is_superset(&keys(before)));
    // What is not recorded of a call that failed may run again.
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
    fn a_replay_gives_the_same_and_does_nothing(plan in plans(), setting in unlimited()) {
        let kept = Kept::new();
        let first = run(&plan, &setting, Stop::Never, Some(&kept));
        hold(&first, &setting, plan.id)?;
        let without = run(&plan, &setting, Stop::Never, None);
        prop_assert_eq!(nameless(&first), nameless(&without), "as without a journal");

        let again = kept.replayed();
        let replay = run(&plan, &setting, Stop::Never, Some(&again));
        let records = kept.journal.records();
        resumes(&first, &records, &replay, &again.journal.records())?;
        if !has_failed(&records) {
            prop_assert_eq!(replay.effects(), Vec::<u32>::new());
            prop_assert_eq!(replay.requests(), 0);
        }
        // Only what failed is tried again: whatever came to a result is not repeated.
        let succeeded = records.into_iter().filter(|record| record.value.get("failed").is_none());
        let succeeded: Vec<_> = succeeded.collect();
        for (id, recorded) in recorded(&succeeded) {
            let times = |effects: &[u32]| effects.iter().filter(|effect| **effect == id).count();
            prop_assert!(times(&replay.effects()) + recorded <= times(&first.effects()), "{id}");
        }
        // A denial that no model is told of, and that ended the run, may be decided anew.
        prop_assert!(replay.world.asked.lock().unwrap().is_empty() || !setting.return_denials);
        prop_assert_eq!(replay.approved(), BTreeSet::new());
        prop_assert_eq!(keys(&again.journal.records()), keys(&kept.journal.records()));
    }

    #[test]
    fn a_run_resumes_from_wherever_its_journal_ends(
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
        resumes(&first, &before, &resumed, &rest.journal.records())?;
        prop_assert_eq!(lasting(&rest.journal.records()), lasting(&kept.journal.records()));
    }

    #[test]
    fn a_run_that_was_dropped_resumes_to_what_it_would_have_come_to(
        plan in plans(),
        setting in unlimited(),
        polls in 0..60_usize,
    ) {
        let whole = Kept::new();
        let first = run(&plan, &setting, Stop::Never, Some(&whole));
        let kept = Kept::new();
        let dropped = run(&plan, &setting, Stop::Dropped(polls), Some(&kept));
        hold(&dropped, &setting, plan.id)?;

        let rest = kept.replayed();
        let resumed = run(&plan, &setting, Stop::Never, Some(&rest));
        resumes(&first, &kept.journal.records(), &resumed, &rest.journal.records())?;
        prop_assert_eq!(lasting(&rest.journal.records()), lasting(&whole.journal.records()));
    }

    #[test]
    fn runs_of_one_runtime_resume_each_to_what_it_came_to(
        plan in plans(),
        other in plans(),
        setting in unlimited(),
        cut in any::<prop::sample::Index>(),
    ) {
        // Equal ones are different runs.
        let all = [plan.clone(), other, plan];
        let kept = Kept::new();
        let (first, world) = run_all(&all, &setting, Some(&kept));
        let mut before = kept.journal.records();
        before.truncate(cut.index(before.len() + 1));
        let rest = kept.cut(before.len());
        let (resumed, again) = run_all(&all, &setting, Some(&rest));
        prop_assert_eq!(&resumed, &first);
        prop_assert_eq!(lasting(&rest.journal.records()), lasting(&kept.journal.records()));
        let count = |effects: &[u32], id: u32| effects.iter().filter(|effect| **effect == id).count();
        let (all, again) = (world.effects.lock().unwrap().clone(), again.effects.lock().unwrap().clone());
        for (id, recorded) in recorded(&before) {
            prop_assert!(count(&again, id) + recorded <= count(&all, id), "{id}");
        }
    }
}
