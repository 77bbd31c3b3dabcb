//! Datasets from the recorded calls of a worker.

use llm_do_core::app::harden::Cases;
use llm_do_core::observe::event::Outcome;
use serde_json::json;

use super::{Case, Dataset, EvaluatorSpec};

impl Dataset {
    /// Creates a dataset from the recorded calls of a worker: each distinct input is a case, and its most frequent
    /// result is expected.
    ///
    /// The metadata of a case has `times`, the number of calls with the input, and `answers`, the number of distinct
    /// answers. The evaluator is `EqualsExpected`. Returns the number of omitted inputs, for which the worker failed in
    /// each call.
    #[must_use]
    pub fn from_recorded(cases: &Cases) -> (Self, usize) {
        let mut dataset = Self::new(cases.worker()).evaluator(EvaluatorSpec::new("EqualsExpected"));
        for recorded in cases {
            let Some(Outcome::Result(output)) = recorded.answer().map(|answer| &answer.outcome) else { continue };
            let name = format!("case {}", dataset.cases.len() + 1);
            let metadata = json!({ "times": recorded.times(), "answers": recorded.answers.len() });
            let case = Case::new(recorded.input.clone()).named(name).metadata(metadata);
            dataset = dataset.case(case.expects(output.value().into_owned()));
        }
        let left_out = cases.len() - dataset.cases.len();
        (dataset, left_out)
    }
}
