//! A context as a trait, which a test of one tool stubs.

use async_trait::async_trait;
use serde_json::Value;

use super::CallContext;
use crate::base::error::CallError;
use crate::base::usage::RunUsage;
use crate::declare::prompt::Attached;

/// What a tool asks of a context, as a trait: take `&dyn ToolContext` to unit-test a tool with a stub.
///
/// A stub implements the methods that its test needs. What it leaves out is what a call is told that stands alone: it
/// is in an entry, nothing is used, nobody listens and nobody answers.
///
/// # Examples
///
/// ```standalone_crate
/// use std::sync::Mutex;
///
/// use llm_do::prelude::*;
///
/// /// Sum up a text, if the user wants to read it at all.
/// #[tool(effect = read_only)]
/// async fn sum_up(ctx: &dyn ToolContext, text: &str) -> Result<String> {
///     if ctx.request_user_input("Shall I sum it up?").await? != "yes" {
///         return Ok(text.to_owned());
///     }
///     ctx.progress("asks a model");
///     Ok(ctx.llm_ask(&format!("Sum this up: {text}")).await?)
/// }
///
/// /// A user who says yes, and a model that shouts.
/// #[derive(Default)]
/// struct Stub {
///     told: Mutex<Vec<String>>,
/// }
///
/// #[llm_do::async_trait]
/// impl ToolContext for Stub {
///     async fn request_user_input(&self, _: &str) -> Result<String, CallError> {
///         Ok("yes".into())
///     }
///
///     async fn llm_ask(&self, question: &str) -> Result<String, CallError> {
///         Ok(question.to_uppercase())
///     }
///
///     fn progress(&self, text: &str) {
///         self.told.lock().unwrap().push(text.into());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let stub = Stub::default();
/// assert_eq!(sum_up(&stub, "bees").await?, "SUM THIS UP: BEES");
/// assert_eq!(*stub.told.lock().unwrap(), ["asks a model"]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ToolContext: Send + Sync {
    /// Calls a tool, worker or entry by name. Default: there is none.
    ///
    /// # Errors
    ///
    /// As [`CallContext::call_tool`].
    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        let _ = arguments;
        let hint = "this context stands alone; implement `ToolContext::call_tool` for it".to_owned();
        Err(CallError::NotFound { tool: name.to_owned(), hint })
    }

    /// Asks a model a question, and returns its answer, a text. Default: there is no model.
    ///
    /// [`CallContext::llm_ask`] can do more: it asks for a type, of a certain model, with files.
    ///
    /// # Errors
    ///
    /// As [`CallContext::llm_ask`].
    async fn llm_ask(&self, question: &str) -> Result<String, CallError> {
        let _ = question;
        let message = "this context stands alone; implement `ToolContext::llm_ask` for it".to_owned();
        Err(CallError::NoModel { worker: "llm_ask".to_owned(), message })
    }

    /// Asks the user, and waits for the answer. Default: nobody answers.
    ///
    /// # Errors
    ///
    /// As [`CallContext::request_user_input`].
    async fn request_user_input(&self, prompt: &str) -> Result<String, CallError> {
        let _ = prompt;
        Err(CallError::NoInput { tool: self.name().to_owned() })
    }

    /// Tells the user how far the call is. Default: nobody is told.
    fn progress(&self, text: &str) {
        let _ = text;
    }

    /// Returns the registered name of the callee. Default: `stub`.
    #[expect(clippy::unnecessary_literal_bound, reason = "others give a name that they hold")]
    fn name(&self) -> &str {
        "stub"
    }

    /// Returns the files that came with the call's prompt. Default: none.
    fn attachments(&self) -> &[Attached] {
        &[]
    }

    /// Returns how many workers deep the call is. Default: 0.
    fn depth(&self) -> u32 {
        0
    }

    /// Returns what the call and all calls below it used so far. Default: nothing.
    fn usage(&self) -> RunUsage {
        RunUsage::default()
    }

    /// Returns whether the run is cancelled. Default: it is not.
    fn is_cancelled(&self) -> bool {
        false
    }
}

#[async_trait]
impl<S> ToolContext for CallContext<S> {
    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        self.call_tool(name, arguments).await
    }

    async fn llm_ask(&self, question: &str) -> Result<String, CallError> {
        self.llm_ask(question).await
    }

    async fn request_user_input(&self, prompt: &str) -> Result<String, CallError> {
        self.request_user_input(prompt).await
    }

    fn progress(&self, text: &str) {
        self.progress(text);
    }

    fn name(&self) -> &str {
        self.name()
    }

    fn attachments(&self) -> &[Attached] {
        self.attachments()
    }

    fn depth(&self) -> u32 {
        self.depth()
    }

    fn usage(&self) -> RunUsage {
        self.usage()
    }

    fn is_cancelled(&self) -> bool {
        self.is_cancelled()
    }
}
