//! Evaluation: runs tools and workers over a dataset, scores their outputs, and compares models, prompts and code.

mod costs;
mod dataset;
mod evaluation;
mod evaluator;
mod judge;
mod kept;
mod plan;
mod random;
mod record;
mod report;
mod run;
mod statistics;
mod submissions;

pub use self::dataset::{Arguments, Case, Dataset, DatasetError, EvaluatorSpec};
pub use self::evaluation::{EvalError, Evaluation, Variant};
pub use self::evaluator::ByFunction;
pub use self::evaluator::{CalledTool, Evaluator, EvaluatorContext, Finding, Findings, Scalar};
pub use self::kept::{Kept, KeptError};
pub use self::record::{EvaluatorFailure, NamedFinding, RunRecord};
pub use self::report::PASSES;
pub use self::report::{Change, Comparison, Estimate, Latency, MetricSummary, Report, VariantSummary};
