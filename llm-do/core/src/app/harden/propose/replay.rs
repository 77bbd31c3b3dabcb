//! Replays recorded runs with a script: it makes the same calls and returns the same result, or abstains before the first call with an effect.

mod changed;

use std::time::Instant;

use serde_json::Value;

pub use self::changed::ChangedResults;
pub(super) use self::changed::{Choices, try_changed};
use super::super::Verdict;
use super::super::paths::PastRun;
use super::candidate::MAX_SLOW;
use super::score::Score;
use super::split::RunSplit;
use super::tape::{Change, Followed, Tape};
use crate::base::agreement::Agreement;
use crate::base::error::{CallError, chain};
use crate::observe::event::Outcome;
use crate::plane::script::MAX_TIME;
use crate::session::runtime::Runtime;

/// A script whose calls recorded runs answer.
pub(super) struct Replay<'a> {
    pub(super) runtime: &'a Runtime,
    pub(super) tape: &'a Tape,
    pub(super) name: &'a str,
    pub(super) agreement: &'a Agreement,
    pub(super) split: &'a RunSplit<'a>,
}

/// What a script made of a run.
pub(super) struct Replayed<'a> {
    pub(super) run: &'a PastRun,
    pub(super) verdict: Verdict,
    /// How it differs from the run; empty if it does not.
    pub(super) why: String,
}

impl Replay<'_> {
    /// Replays runs, in order. `slow` counts the failures by timeout.
    pub(super) async fn all<'r>(&self, runs: &[&'r PastRun], slow: &mut usize) -> Vec<Replayed<'r>> {
        let mut all = Vec::new();
        for &run in runs {
            let began = Instant::now();
            let (verdict, why) = if *slow >= MAX_SLOW {
                (Verdict::Failed, "it did not run, since it was too slow before".to_owned())
            } else {
                self.one(run).await
            };
            *slow += usize::from(verdict == Verdict::Failed && began.elapsed() >= MAX_TIME);
            all.push(Replayed { run, verdict, why });
        }
        all
    }

    async fn one(&self, run: &PastRun) -> (Verdict, String) {
        let (result, followed) = self.play(run, None).await;
        judge(&result, self.name, &followed, |value| self.agrees(run, value))
    }

    /// Runs the script on the input of a run, whose results may be changed.
    async fn play(&self, run: &PastRun, change: Option<Change>) -> (Result<Value, CallError>, Followed) {
        self.tape.load(run, &self.split.reads, change);
        let result = self.runtime.run_named(self.name, run.input.clone()).await;
        (result.map(|value| self.tape.as_recorded(value)), self.tape.followed())
    }

    fn agrees(&self, run: &PastRun, value: &Value) -> bool {
        matches!(&run.outcome, Outcome::Result(expected) if self.agreement.holds(&expected.value(), value))
    }
}

/// Judges what a script made of a run.
fn judge(
    result: &Result<Value, CallError>,
    script: &str,
    followed: &Followed,
    agrees: impl FnOnce(&Value) -> bool,
) -> (Verdict, String) {
    if let Some(difference) = &followed.difference {
        return (Verdict::Differs, difference.text.clone());
    }
    let value = match result {
        Ok(value) => value,
        Err(error) => return failed(error, script, followed),
    };
    if let Some(missing) = &followed.missing {
        return (Verdict::Differs, format!("it returned {value} without the call {missing}"));
    }
    if agrees(value) { (Verdict::Agrees, String::new()) } else { (Verdict::Differs, format!("it returned {value}")) }
}

fn failed(error: &CallError, script: &str, followed: &Followed) -> (Verdict, String) {
    match (error, &followed.acted) {
        (error, Some(acted)) if error.is_unsure() => {
            let why = format!(
                "it abstained after {acted}, which has an effect: abstain before the first such call, or go on"
            );
            (Verdict::Failed, why)
        }
        (error, None) if error.is_unsure() => (Verdict::Unsure, chain(error)),
        (CallError::InvalidArguments { tool, .. }, _) if tool == script => (Verdict::Refused, chain(error)),
        _ => (Verdict::Failed, chain(error)),
    }
}

/// Returns the score of replayed runs.
pub(super) fn score_of(replayed: &[Replayed<'_>]) -> Score {
    Score::from_verdicts(replayed.iter().map(|replayed| replayed.verdict))
}
