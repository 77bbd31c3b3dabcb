//! Datasets from the recorded calls of a worker.

use llm_do_core::app::harden::Cases;
use llm_do_core::observe::event::Outcome;
use llm_do_core::plane::registry::Registered;
use serde_json::json;

use super::super::plan;
use super::{Case, Dataset, DatasetError, EvaluatorSpec};

impl Dataset {
    /// Sets the expected outputs as the right answers of a worker's cases: they count in place of what the worker answered.
    ///
    /// An input that is not an object is the value of the only argument of `worker`.
    ///
    /// # Errors
    ///
    /// Returns the faults of inputs that cannot be its arguments, or that no case has an expected output.
    #[doc(hidden)]
    pub fn label(&self, cases: &mut Cases, worker: Option<&Registered>) -> Result<(), DatasetError> {
        let mut faults = Vec::new();
        let labelled: Vec<_> =
            self.cases.iter().filter_map(|case| Some((case, case.expected_output.clone()?))).collect();
        if labelled.is_empty() {
            faults.push("no case has an `expected_output`, which is the right answer".to_owned());
        }
        for (case, output) in labelled {
            let inputs = match worker {
                Some(worker) => plan::arguments(worker, &case.inputs),
                None => Ok(case.inputs.clone()),
            };
            match inputs {
                Ok(inputs) => cases.label(inputs, output),
                Err(fault) => {
                    faults.push(format!("case `{}`: {fault}", case.name.as_deref().unwrap_or("without a name")));
                }
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(DatasetError { faults }) }
    }

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
