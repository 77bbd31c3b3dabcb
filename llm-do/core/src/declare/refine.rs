//! Refinements: an evaluator scores the results of a worker, its reasons go back to the worker, and the best result stands.

use llm_do_worker_file::{DEFAULT_RESULTS, ZERO_RESULTS, check_accept};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Has `evaluator` score the results of `worker`, both by their registered names.
///
/// # Examples
///
/// ```
/// use llm_do::worker::refine;
///
/// let refined = refine("draft", "critic").at_most(3).accept(0.8);
/// # let _ = refined;
/// ```
pub fn refine(worker: impl Into<String>, evaluator: impl Into<String>) -> Refine {
    Refine { worker: worker.into(), evaluator: evaluator.into(), at_most: DEFAULT_RESULTS, accept: 1.0 }
}

/// A worker whose results an evaluator scores: see [`RuntimeBuilder::refine`](crate::session::runtime::RuntimeBuilder::refine).
///
/// Made by [`refine`].
#[derive(Clone, Debug, PartialEq)]
#[must_use = "pass it to `Runtime::builder().refine(..)`"]
pub struct Refine {
    pub(crate) worker: String,
    pub(crate) evaluator: String,
    pub(crate) at_most: u32,
    pub(crate) accept: f64,
}

impl Refine {
    /// Sets how many results there are at most, the first one included, of which the best stands. Default: 3.
    ///
    /// 0 is an error when the runtime is built.
    pub fn at_most(mut self, results: u32) -> Self {
        self.at_most = results;
        self
    }

    /// Sets the score from which on a result is accepted without another one, above 0 and at most 1. Default: 1.
    ///
    /// Another number is an error when the runtime is built.
    pub fn accept(mut self, score: f64) -> Self {
        self.accept = score;
        self
    }

    /// Returns the faults of its numbers.
    pub(crate) fn faults(&self) -> impl Iterator<Item = String> {
        let no_results = (self.at_most == 0).then(|| ZERO_RESULTS.to_owned());
        no_results.into_iter().chain(check_accept(self.accept).err())
    }
}

/// What an evaluator returns: a score, and the reasons for it.
///
/// A tool or a worker in Rust may return this type. Of any other, such as a script, the result must be an object with a number `score`, and a
/// list of texts `reasons`, which may be absent; other fields are ignored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Assessment {
    /// How good the result is, from 0 to 1.
    pub score: f64,
    /// What has to change for a better score.
    #[serde(default)]
    pub reasons: Vec<String>,
}

impl Assessment {
    /// Creates an assessment with a score from 0 to 1, without reasons.
    #[must_use]
    pub fn new(score: f64) -> Self {
        Self { score, reasons: Vec::new() }
    }

    /// Adds a reason: what has to change for a better score.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reasons.push(reason.into());
        self
    }
}
