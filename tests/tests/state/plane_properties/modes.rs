//! Runs that are resumed several times under different approval modes.

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

/// Returns the ids of the calls that the approver approved according to the journal, after edits.
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

/// Returns the number of times of each effect, by its id before edits.
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
    fn approvals_by_a_mode_are_not_kept_and_recorded_effects_do_not_run_again(
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
            // Earlier decisions of the approver are kept; the root is the user's own call.
            let remembered = seen.approved();
            let allowed: BTreeSet<_> = match mode {
                ApprovalMode::RejectAll => approved(&before),
                _ => approved(&kept.journal.records()).union(&remembered).copied().collect(),
            };
            let is_allowed = |id: &u32| mode == ApprovalMode::ApproveAll || *id == plan.id || allowed.contains(id);
            prop_assert!(effects.iter().all(is_allowed), "{effects:?} under {mode:?}, with {allowed:?} approved");
            let had = counted(effects.iter().map(|id| (*id, 1)));
            for (id, recorded) in counted(recorded(&before)) {
                let again = had.get(&id).copied().unwrap_or_default();
                prop_assert!(recorded + again <= counts[&id], "{id} of {counts:?}: {recorded} recorded, {again} again");
            }
            kept = kept.replayed();
        }
    }
}
