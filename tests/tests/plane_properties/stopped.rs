//! Runs that are stopped somewhere.

use proptest::prelude::*;

use super::cases;
use super::claims::hold;
use super::plan::plans;
use super::trial::{Stop, run, settings};

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn every_claim_holds_of_a_run_that_is_dropped(plan in plans(), setting in settings(), polls in 0..60_usize) {
        let seen = run(&plan, &setting, Stop::Dropped(polls), None);
        hold(&seen, &setting, plan.id)?;
    }

    #[test]
    fn every_claim_holds_of_a_run_that_is_cancelled(plan in plans(), setting in settings(), events in 0..120_usize) {
        let seen = run(&plan, &setting, Stop::Cancelled(events), None);
        hold(&seen, &setting, plan.id)?;
        prop_assert!(seen.result.is_some());
    }
}
