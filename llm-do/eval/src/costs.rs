//! The models and votes of a dataset's judges, which cost money in addition to the evaluated runs.

use std::collections::BTreeSet;

use super::dataset::{Dataset, EvaluatorSpec};
use super::evaluator::builtin::{self, Prepared};

/// A judge of a dataset.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[doc(hidden)]
pub struct JudgeCost {
    /// The place of the judge in its file.
    pub place: String,
    /// The model that it declares.
    pub model: Option<String>,
    /// The number of votes about each result.
    pub votes: u32,
}

impl Dataset {
    /// Returns the judges of the dataset, without evaluators that the program adds under that name.
    #[doc(hidden)]
    pub fn judge_costs(&self, is_own: impl Fn(&str) -> bool) -> BTreeSet<JudgeCost> {
        let specs = self.cases.iter().flat_map(|case| &case.evaluators).chain(&self.evaluators);
        specs.filter(|spec| !is_own(&spec.name)).filter_map(cost).collect()
    }
}

fn cost(spec: &EvaluatorSpec) -> Option<JudgeCost> {
    let Some(Ok(Prepared::Judge(judge))) = builtin::prepared(spec) else { return None };
    Some(JudgeCost { place: spec.place().to_owned(), model: judge.model, votes: judge.votes })
}
