//! Runs that are dropped or cancelled.

use proptest::prelude::*;

use super::cases;
use super::claims::check_claims;
use super::plan::plans;
use super::trial::{Stop, run, settings};

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn the_claims_hold_for_a_dropped_run(plan in plans(), setting in settings(), polls in 0..60_usize) {
        let seen = run(&plan, &setting, Stop::Dropped(polls), None);
        check_claims(&seen, &setting, plan.id)?;
    }

    #[test]
    fn the_claims_hold_for_a_cancelled_run(plan in plans(), setting in settings(), events in 0..120_usize) {
        let seen = run(&plan, &setting, Stop::Cancelled(events), None);
        check_claims(&seen, &setting, plan.id)?;
        prop_assert!(seen.result.is_some());
    }
}
