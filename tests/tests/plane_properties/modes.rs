//! Runs that are resumed in one mode of approval after the other.

use std::collections::{BTreeMap, BTreeSet};

use llm_do::approval::ApprovalMode;
use llm_do::journal::{Record, StepKind};
use proptest::prelude::*;

use super::cases;
use super::journaled::{recorded, unlimited};
use super::plan::{plans, unedited};
use super::trial::{Kept, Setting, Stop, run};

fn modes() -> impl Strategy<Value = ApprovalMode> {
    prop_oneof![Just(ApprovalMode::Prompt), Just(ApprovalMode::ApproveAll), Just(ApprovalMode::RejectAll)]
}

/// The calls of which the journal says that the approver let them run, by the id that they run with.
fn approved(records: &[Record]) -> BTreeSet<u32> {
    let by_approver = |record: &&Record| record.kind == StepKind::Approval && record.value["by"] == "approver";
    let id = |record: &Record| {
        let edited = &record.value["verdict"]["approved"];
        let arguments = if edited.is_object() { edited } else { &*record.input };
        Some(arguments["plan"]["id"].as_u64()?.try_into().unwrap())
    };
    let is_approved = |record: &&Record| record.value["verdict"].get("approved").is_some();
    records.iter().filter(by_approver).filter(is_approved).filter_map(id).collect()
}

/// How often each effect is there, by its id as it was before any edit.
fn counted(effects: impl IntoIterator<Item = (u32, usize)>) -> BTreeMap<u32, usize> {
    let mut counts = BTreeMap::new();
    for (id, times) in effects {
        *counts.entry(unedited(id)).or_default() += times;
    }
    counts
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn no_mode_runs_what_only_another_mode_approved_and_nothing_recorded_runs_again(
        plan in plans(),
        setting in unlimited(),
        processes in prop::collection::vec((modes(), 0..40_usize), 2..5),
        last in modes(),
    ) {
        let mut kept = Kept::new();
        let counts = plan.counts();
        let stops = processes.into_iter().map(|(mode, polls)| (mode, Stop::Dropped(polls)));
        for (mode, stop) in stops.chain([(last, Stop::Never)]) {
            let before = kept.journal.records();
            let seen = run(&plan, &Setting { mode, ..setting.clone() }, stop, Some(&kept));
            let effects = seen.effects();
            // What a person said before lasts; the root is the user's own call.
            let remembered = seen.approved();
            let said: BTreeSet<_> = match mode {
                ApprovalMode::RejectAll => approved(&before),
                _ => approved(&kept.journal.records()).union(&remembered).copied().collect(),
            };
            let is_allowed = |id: &u32| mode == ApprovalMode::ApproveAll || *id == plan.id || said.contains(id);
            prop_assert!(effects.iter().all(is_allowed), "{effects:?} under {mode:?}, with {said:?} approved");
            let had = counted(effects.iter().map(|id| (*id, 1)));
            for (id, recorded) in counted(recorded(&before)) {
                let again = had.get(&id).copied().unwrap_or_default();
                prop_assert!(recorded + again <= counts[&id], "{id} of {counts:?}: {recorded} recorded, {again} again");
            }
            kept = kept.replayed();
        }
    }
}
