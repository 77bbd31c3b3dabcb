//! The plan of a run, by its number.

use fastrand::Rng;

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Effect,
    /// Two concurrent effects.
    Together,
    /// A wait for a time, in seconds.
    Sleep(u64),
    /// A wait for a person.
    Ask,
}

/// Returns the stages of a run, the same each time it is resumed.
pub(super) fn plan(run: u32) -> Vec<Stage> {
    let mut random = Rng::with_seed(u64::from(run));
    let mut stages = vec![Stage::Effect];
    for _ in 0..random.u32(1..=4) {
        stages.push(match random.u32(0..100) {
            0..72 => Stage::Effect,
            72..82 => Stage::Together,
            82..92 => Stage::Sleep(random.u64(1..60)),
            _ => Stage::Ask,
        });
    }
    stages
}

/// Returns how many effects a run has.
pub(super) fn effects(run: u32) -> u32 {
    let effects = |stage| match stage {
        Stage::Effect => 1,
        Stage::Together => 2,
        Stage::Sleep(_) | Stage::Ask => 0,
    };
    plan(run).into_iter().map(effects).sum()
}

/// Returns the result of an effect.
pub(super) fn value(run: u32, effect: u32) -> u64 {
    u64::from(run) * 31 + u64::from(effect)
}

/// Returns the answer of the person whom a run asks.
pub(super) const ANSWER: u64 = 7;

/// Returns what a run returns: the sum of all results and answers.
pub(super) fn result(run: u32) -> u64 {
    let answers = plan(run).into_iter().filter(|stage| *stage == Stage::Ask).count() as u64 * ANSWER;
    (0..effects(run)).map(|effect| value(run, effect)).sum::<u64>() + answers
}
