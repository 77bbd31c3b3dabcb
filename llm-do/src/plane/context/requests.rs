//! What a call may ask of models, of other workers and of the user.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use llm_do_providers::{Attachment, ServerSideTool};
use serde_json::{Value, json};

use super::{Ask, CallContext, Way};
use crate::base::error::{BoxError, CallError};
use crate::declare::prompt::{Prompt, read};
use crate::declare::subtask::SubtaskRequest;
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::EventKind;
use crate::observe::journal::StepKind;
use crate::plane::user_input::InputRequest;

impl CallContext {
    /// Returns those of the worker's server-side tools that it may use.
    pub(crate) async fn permitted_server_side(
        &self,
        tools: &[ServerSideTool],
    ) -> Result<Vec<ServerSideTool>, CallError> {
        if tools.is_empty() {
            return Ok(Vec::new());
        }
        self.scope.host.permit_server_side(self, tools).await
    }
}

#[cfg(feature = "workers")]
impl CallContext {
    /// Makes a worker for the caller of this call; returns its name, and what it may call.
    pub(crate) async fn make_worker(&self, spec: WorkerSpec) -> Result<Value, BoxError> {
        self.scope.host.make_worker(self, spec).await
    }

    /// Calls a worker that was made.
    pub(crate) async fn call_made(
        &self,
        worker: &str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> Result<ToolReturn, CallError> {
        self.scope.host.call_made(self, worker, input, attachments).await
    }
}

impl<S> CallContext<S> {
    /// Asks a model a question, with no instructions and no tools: `ctx.llm_ask("Is this spam? ..").await?`.
    ///
    /// Answered in plain text, or as a type with [`output`](Ask::output). The model is the run's, unless
    /// [`model`](Ask::model) names one. It counts as a worker: one deeper than the caller.
    ///
    /// # Errors
    ///
    /// Awaiting it returns a [`CallError`] as a call of a worker does.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// # use llm_do::prelude::*;
    /// # use llm_do::testing::TestModel;
    /// /// Says whether a text is spam.
    /// #[entry]
    /// async fn is_spam(ctx: &CallContext, text: String) -> Result<bool> {
    ///     Ok(ctx.llm_ask(format!("Is this spam?\n\n{text}")).output::<bool>().await?)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().force_model(TestModel::new()).build()?;
    /// assert!(!runtime.run(is_spam { text: "Win a prize!".into() }).await?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn llm_ask(&self, question: impl Into<Prompt>) -> Ask {
        Ask::new(self.declaring(), WorkerSpec::new("llm_ask", ""), question)
    }

    /// Calls a worker that is put together on the spot: `ctx.llm_agent(spec).input("..").await?`.
    ///
    /// Its toolsets are names that the caller may use itself: those that it declares, or else what is registered.
    ///
    /// # Errors
    ///
    /// Awaiting it returns a [`CallError`] as a call of a worker does, and [`CallError::NotDeclared`] or
    /// [`CallError::NotFound`] for a toolset that the caller may not use.
    pub fn llm_agent(&self, spec: WorkerSpec) -> Ask {
        Ask::new(self.declaring(), spec, "")
    }

    /// Gives a task to the worker that is best for it, of those that this call may call.
    ///
    /// A worker gets 4 points for each word that one of the request's hints shares with its own `hints`, 3 for each word of
    /// the request's description that is in its `hints`, 2 for each word of the request in its name and 1 for each in its
    /// description. Words are letters and digits in any case, without a plural `s`; words such as "the" do not count. Only
    /// workers that take the request's inputs as arguments, or a prompt, are asked. The most points win.
    ///
    /// A tool that takes no context asks for the same by returning [`ToolReturn::subtask`](crate::ToolReturn::subtask).
    ///
    /// # Errors
    ///
    /// Returns [`CallError::NoWorker`] if no worker has a point, or several have the most, which it names; and errors as of
    /// any call of a worker.
    pub async fn subtask(&self, request: SubtaskRequest) -> Result<Value, CallError> {
        Ok(self.give(request).await?.value)
    }

    /// Gives a task, and returns the answer with the files that the worker's model made.
    pub(crate) async fn give(&self, request: SubtaskRequest) -> Result<ToolReturn, CallError> {
        self.scope.host.subtask(&self.declaring(), request).await
    }

    /// Asks the user, and waits for the answer; a worker that the call is below of is told of both as well.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::NoInput`] if the runtime was given no
    /// [`input_handler`](crate::runtime::RuntimeBuilder::input_handler), and the handler's error as [`CallError::Failed`].
    pub async fn request_user_input(&self, prompt: impl Into<String>) -> Result<String, CallError> {
        let prompt = prompt.into();
        let Some(handler) = self.scope.host.input_handler().filter(|_| !self.frame().is_shadow).cloned() else {
            return Err(CallError::NoInput { tool: self.name().to_owned() });
        };
        self.emit(|| EventKind::InputAsked { prompt: prompt.clone() });
        let request = InputRequest { prompt: prompt.clone(), caller: Arc::clone(&self.frame().name) };
        let tool = self.name().to_owned();
        let local = async move { handler.answer(&request).await.map_err(|source| CallError::Failed { tool, source }) };
        let answer = tokio::select! {
            biased;
            () = self.cancelled() => return Err(CallError::Cancelled { tool: self.name().to_owned() }),
            answer = self.step(Way::Promise, StepKind::Input, "user_input", || json!(prompt), local) => answer?,
        };
        self.emit(|| EventKind::InputAnswered { answer: answer.clone() });
        self.hear(&format!("The user was asked: {prompt}\nThe user answered: {answer}"));
        Ok(answer)
    }

    /// Keeps what was said for the conversation of the worker that the call is below of, and with each call on the way there.
    ///
    /// A worker hears it in the order of its calls, whichever was answered first: a replay has the answers in that order.
    pub(crate) fn hear(&self, said: &str) {
        let below_worker = self.frames().position(|frame| frame.is_worker);
        let up_to_worker = below_worker.map_or(0, |place| place + 1);
        let mut of = 0;
        for frame in self.frames().take(up_to_worker) {
            frame.heard.add(if frame.is_worker { of } else { 0 }, said.to_owned());
            of = frame.call;
        }
    }

    /// Reads a file below the project's root, to be given to a model: at most 20 MiB, its media type by its content and name.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Failed`] that names the file if it is missing, no file, too large, or not below the root.
    pub async fn attachment(&self, path: impl AsRef<Path>) -> Result<Attachment, CallError> {
        let read = read(self.project_root().to_owned(), PathBuf::from(path.as_ref())).await;
        read.map_err(|text| CallError::Failed { tool: self.name().to_owned(), source: BoxError::from(text) })
    }
}
