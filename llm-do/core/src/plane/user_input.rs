//! Questions of a run to its user.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::json;

use crate::base::error::BoxError;
use crate::declare::question::Question;
use crate::observe::journal::{PromiseSpec, StepKind};

/// Answers the questions that tools and entries ask with
/// [`CallContext::request_user_input`](crate::plane::context::CallContext::request_user_input).
///
/// # Examples
///
/// ```standalone_crate
/// use llm_do::prelude::*;
/// use llm_do::context::{InputHandler, InputRequest};
/// use llm_do::error::BoxError;
/// use llm_do::async_trait;
///
/// /// A user who answers only the question for a name.
/// #[derive(Debug)]
/// struct Ann;
///
/// #[async_trait]
/// impl InputHandler for Ann {
///     async fn answer(&self, request: &InputRequest) -> Result<String, BoxError> {
///         if request.question.prompt.contains("name") { Ok("Ann".into()) } else { Err("unexpected question".into()) }
///     }
/// }
///
/// /// Greets the user.
/// #[entry]
/// async fn greet(ctx: &CallContext) -> Result<String> {
///     Ok(format!("Hello, {}!", ctx.request_user_input("What is your name?").await?))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let runtime = Runtime::builder().input_handler(Ann).build()?;
/// assert_eq!(runtime.run(greet {}).await?, "Hello, Ann!");
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait InputHandler: Debug + Send + Sync {
    /// Returns the user's answer: a text, or a choice or its 1-based number; several separated by commas, or as a JSON list.
    ///
    /// The user is asked again if the answer is not one of the choices. Concurrent calls may ask questions at the same
    /// time.
    ///
    /// # Errors
    ///
    /// An error, for example because the user is gone, fails the call that asks.
    async fn answer(&self, request: &InputRequest) -> Result<String, BoxError>;
}

/// A question to the user, with its caller.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InputRequest {
    /// The question.
    pub question: Question,
    /// The registered name of the tool, worker or entry that asks.
    pub caller: Arc<str>,
    /// Why the user is asked again: the fault of the last answer.
    pub problem: Option<String>,
    /// The id of the run.
    pub run: Arc<str>,
    /// The key of the question in the run's journal; `None` without a journal.
    ///
    /// It is the same when the run is resumed, in any process, so an answer can be stored under it and given later. A
    /// question that is asked again because of a [`problem`](Self::problem) has the same key.
    pub key: Option<Arc<str>>,
    /// The id under which the answer may be given in any process, if the journal has
    /// [stored](crate::observe::journal::Journal::promise) the question.
    pub promise: Option<Arc<str>>,
}

impl InputRequest {
    /// Returns the part of the question that a journal stores; `None` without a journal.
    pub(crate) fn promise_spec(&self, is_repeated: bool) -> Option<PromiseSpec> {
        let mut shown = json!(self.question);
        shown["caller"] = json!(self.caller);
        shown["problem"] = json!(self.problem);
        let asked = PromiseSpec::new(Arc::clone(self.key.as_ref()?), StepKind::Input, shown);
        Some(PromiseSpec { is_repeated, ..asked })
    }

    /// Returns a question of `caller`, for tests of handlers.
    #[must_use]
    pub fn new(question: impl Into<Question>, caller: impl Into<Arc<str>>) -> Self {
        let (question, caller) = (question.into(), caller.into());
        Self { question, caller, problem: None, run: Arc::default(), key: None, promise: None }
    }
}
