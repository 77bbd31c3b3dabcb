//! Runs a candidate on the inputs of a worker, and compares the results.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::{Case, Cases};
use crate::base::agreement::Agreement;
use crate::base::error::{CallError, chain};
use crate::observe::event::Outcome;
use crate::session::runtime::Runtime;

/// The result of comparing a candidate with the worker on one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// The candidate returned the worker's answer.
    Agrees,
    /// The candidate returned a different result.
    Differs,
    /// The candidate's schema does not accept the worker's input.
    Refused,
    /// The candidate failed.
    Failed,
    /// The candidate abstained with [`Unsure`](crate::base::error::Unsure).
    Unsure,
    /// The worker itself failed, so the candidate was not run, since its result could not be compared.
    WorkerFailed,
}

impl Verdict {
    /// Returns the name of the verdict.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs => "differs",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unsure => "unsure",
            Self::WorkerFailed => "worker failed",
        }
    }
}

/// One case with the candidate's outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Compared {
    /// The verdict.
    pub verdict: Verdict,
    /// The arguments.
    pub input: Value,
    /// The number of calls of the worker with this input.
    pub times: u64,
    /// The number of distinct answers of the worker.
    pub answers: usize,
    /// The worker's most frequent answer.
    pub worker: Outcome,
    /// The candidate's outcome; `None` if it was not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Outcome>,
}

/// The comparison of all cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The cases, in the order of [`Cases`].
    pub cases: Vec<Compared>,
}

/// The number of cases in which a candidate agrees: `17 of 20 agree (85 %), 4 unsure`. Those in which it abstains are counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The number of agreeing cases.
    pub agree: usize,
    /// The number of compared cases: all except those in which the worker failed.
    pub of: usize,
    /// The number of cases in which the worker failed.
    pub worker_failed: usize,
    /// The number of compared cases in which the candidate abstained, which do not count as agreeing.
    #[serde(skip_serializing_if = "is_zero")]
    pub unsure: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde expects")]
fn is_zero(cases: &usize) -> bool {
    *cases == 0
}

/// Runs `candidate`, by its registered name, on each case in order, and compares the results.
///
/// Each case is a root call, which needs no approval itself; its nested calls do, by the runtime's policy and approver.
/// Use a runtime without a journal and without a shadow of the candidate.
///
/// See the module for an example.
pub async fn compare(runtime: &Runtime, candidate: &str, cases: &Cases, agreement: &Agreement) -> Report {
    let mut report = Report::default();
    for case in cases {
        report.cases.push(compare_one(runtime, candidate, case, agreement).await);
    }
    report
}

/// Runs `candidate` on one case, like [`compare`].
pub async fn compare_one(runtime: &Runtime, candidate: &str, case: &Case, agreement: &Agreement) -> Compared {
    let Some(Outcome::Result(expected)) = case.answer().map(|answer| &answer.outcome) else {
        return Compared::new(case, Verdict::WorkerFailed, None);
    };
    let result = runtime.run_named(candidate, case.input.clone()).await;
    let verdict = verdict(&result, candidate, |value| agreement.holds(&expected.value(), value));
    let outcome = result.map_or_else(|error| Outcome::Error(chain(&error)), |value| Outcome::Result(value.into()));
    Compared::new(case, verdict, Some(outcome))
}

impl Compared {
    /// Compares a case's most frequent answer with this outcome of the candidate.
    pub(super) fn new(case: &Case, verdict: Verdict, candidate: Option<Outcome>) -> Self {
        let nothing = || Outcome::Error("no recorded answer".to_owned());
        Self {
            verdict,
            input: case.input.clone(),
            times: case.times(),
            answers: case.answers.len(),
            worker: case.answer().map_or_else(nothing, |answer| answer.outcome.clone()),
            candidate,
        }
    }
}

fn verdict(result: &Result<Value, CallError>, candidate: &str, agrees: impl FnOnce(&Value) -> bool) -> Verdict {
    match result {
        Ok(value) if agrees(value) => Verdict::Agrees,
        Ok(_) => Verdict::Differs,
        Err(CallError::InvalidArguments { tool, .. }) if tool == candidate => Verdict::Refused,
        Err(error) if error.is_unsure() => Verdict::Unsure,
        Err(_) => Verdict::Failed,
    }
}

impl Report {
    /// Returns the number of agreeing cases.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        self.cases.iter().for_each(|compared| summary.add(compared.verdict));
        summary
    }
}

impl Summary {
    /// Returns whether at least one case was compared, and all compared cases agree.
    #[must_use]
    pub fn all_agree(&self) -> bool {
        self.of > 0 && self.agree == self.of
    }

    #[doc(hidden)]
    pub fn add(&mut self, verdict: Verdict) {
        self.agree += usize::from(verdict == Verdict::Agrees);
        self.of += usize::from(verdict != Verdict::WorkerFailed);
        self.worker_failed += usize::from(verdict == Verdict::WorkerFailed);
        self.unsure += usize::from(verdict == Verdict::Unsure);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agree, of, worker_failed, unsure } = self;
        let answered = of - unsure;
        write!(f, "{agree} of {answered} agree")?;
        // Rounded down, so that only complete agreement is 100 %.
        if let Some(percent) = (agree * 100).checked_div(answered) {
            write!(f, " ({percent} %)")?;
        }
        if *unsure > 0 {
            write!(f, ", {unsure} unsure")?;
        }
        match worker_failed {
            0 => Ok(()),
            failed => write!(f, "; the worker failed in {failed} more"),
        }
    }
}
