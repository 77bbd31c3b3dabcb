//! The context as a trait, so that tests of a tool can use a stub.

use async_trait::async_trait;
use serde_json::Value;

use super::CallContext;
use crate::base::error::CallError;
use crate::base::usage::RunUsage;
use crate::declare::prompt::Attached;

/// The methods of a context that tools use, as a trait: take `&dyn ToolContext` to unit-test a tool with a stub.
///
/// A stub implements the methods that its test needs. The defaults are those of a context without a runtime: depth 0,
/// no usage, no sinks, no model and no user.
///
/// # Examples
///
/// ```
/// use std::sync::Mutex;
///
/// use llm_do::prelude::*;
///
/// /// Summarize a text if the user agrees.
/// #[tool(effect = read_only)]
/// async fn summarize(ctx: &dyn ToolContext, text: &str) -> Result<String> {
///     if ctx.request_user_input("Summarize it?").await? != "yes" {
///         return Ok(text.to_owned());
///     }
///     ctx.progress("asking a model");
///     Ok(ctx.llm_ask(&format!("Summarize: {text}")).await?)
/// }
///
/// /// A user who answers `yes`, and a model that answers in upper case.
/// #[derive(Default)]
/// struct Stub {
///     progress: Mutex<Vec<String>>,
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
///         self.progress.lock().unwrap().push(text.into());
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let stub = Stub::default();
/// assert_eq!(summarize(&stub, "bees").await?, "SUMMARIZE: BEES");
/// assert_eq!(*stub.progress.lock().unwrap(), ["asking a model"]);
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait ToolContext: Send + Sync {
    /// Calls a tool, worker or entry by name. Default: every name is unknown.
    ///
    /// # Errors
    ///
    /// See [`CallContext::call_tool`].
    async fn call_tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        let _ = arguments;
        let hint = "the stub does not implement `ToolContext::call_tool`".to_owned();
        Err(CallError::NotFound { tool: name.to_owned(), hint })
    }

    /// Asks a model a question, and returns its answer as text. Default: an error.
    ///
    /// [`CallContext::llm_ask`] can also set the model, send files and request a type.
    ///
    /// # Errors
    ///
    /// See [`CallContext::llm_ask`].
    async fn llm_ask(&self, question: &str) -> Result<String, CallError> {
        let _ = question;
        let message = "the stub does not implement `ToolContext::llm_ask`".to_owned();
        Err(CallError::NoModel { worker: "llm_ask".to_owned(), message })
    }

    /// Asks the user a question, and waits for the answer. Default: an error.
    ///
    /// # Errors
    ///
    /// See [`CallContext::request_user_input`].
    async fn request_user_input(&self, prompt: &str) -> Result<String, CallError> {
        let _ = prompt;
        Err(CallError::NoInput { tool: self.name().to_owned() })
    }

    /// Reports the progress of the call. Default: ignored.
    fn progress(&self, text: &str) {
        let _ = text;
    }

    /// Returns the registered name of the tool. Default: `stub`.
    #[expect(clippy::unnecessary_literal_bound, reason = "implementations may return a field")]
    fn name(&self) -> &str {
        "stub"
    }

    /// Returns the files in the call's arguments. Default: none.
    fn attachments(&self) -> &[Attached] {
        &[]
    }

    /// Returns how many workers the call is nested in. Default: 0.
    fn depth(&self) -> u32 {
        0
    }

    /// Returns the usage so far of the call and all calls below it. Default: no usage.
    fn usage(&self) -> RunUsage {
        RunUsage::default()
    }

    /// Returns whether the run is cancelled. Default: false.
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
