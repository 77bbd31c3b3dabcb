//! Evaluators, which score the output of a case.

pub(super) mod builtin;
mod context;
mod finding;

use async_trait::async_trait;
use llm_do_core::base::error::Result;

pub(crate) use self::builtin::BUILTINS;
pub use self::context::{CalledTool, EvaluatorContext};
pub use self::finding::{Finding, Findings, Scalar};
use super::dataset::Arguments;

/// Scores the output of a case; added by [`Evaluation::evaluator`](super::Evaluation::evaluator) under the name that
/// datasets use.
///
/// An implementation needs `#[async_trait]`. For a sync function, see
/// [`Evaluation::evaluate_with`](super::Evaluation::evaluate_with).
#[async_trait]
pub trait Evaluator: Send + Sync {
    /// Returns the findings in one output: none, one or several values.
    ///
    /// # Errors
    ///
    /// Returns the reason that the output could not be judged. It is reported separately from findings, and the run
    /// does not pass.
    async fn evaluate(&self, context: &EvaluatorContext<'_>, arguments: &Arguments) -> Result<Findings>;
}

/// An evaluator that is a function.
#[derive(Debug)]
pub struct ByFunction<F>(pub F);

#[async_trait]
impl<F> Evaluator for ByFunction<F>
where
    F: Fn(&EvaluatorContext<'_>, &Arguments) -> Result<Findings> + Send + Sync,
{
    async fn evaluate(&self, context: &EvaluatorContext<'_>, arguments: &Arguments) -> Result<Findings> {
        (self.0)(context, arguments)
    }
}
