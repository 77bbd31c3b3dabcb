//! Requests of a call to models, other workers and the user.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;

use llm_do_providers::{Attachment, ServerSideTool};
use llm_do_providers::{Message, Response};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Ask, CallContext, JournalMethod, QUESTION};
use crate::base::error::{BoxError, CallError};
use crate::declare::prompt::{Prompt, USUAL_MAX_BYTES, read};
use crate::declare::question::Question;
use crate::declare::subtask::SubtaskRequest;
use crate::declare::tool::ToolReturn;
use crate::declare::worker_spec::WorkerSpec;
use crate::observe::event::EventKind;
use crate::observe::journal::{Journal, Promise, StepKind, StepSpec};
use crate::plane::user_input::{InputHandler, InputRequest};

/// The maximum number of times that a question is asked; stops a handler that always returns the same answer.
const MAX_ASKED: u32 = 10;

/// Precedes the answer in a message about a question.
const ANSWERED: &str = "The user answered: ";

impl CallContext {
    /// Returns the server-side tools that the worker may use.
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

impl CallContext {
    /// Returns whether a repeated call of its tool may do harm, as the policies declare it, or else the tool.
    #[doc(hidden)]
    #[must_use]
    pub fn must_not_repeat(&self) -> bool {
        self.scope.host.must_not_repeat(self.name())
    }

    /// Asks the model of a worker once, without turns. This call is not a worker call, but the request counts for it.
    #[doc(hidden)]
    pub async fn respond(&self, spec: &WorkerSpec, messages: Vec<Message>) -> Result<Response, CallError> {
        self.scope.host.respond(self, spec, messages).await
    }
}

impl CallContext {
    /// Creates a worker for the caller of this call; returns its name and its callees.
    #[doc(hidden)]
    pub async fn create_worker(&self, spec: WorkerSpec) -> Result<Value, BoxError> {
        self.scope.host.create_worker(self, spec, false).await
    }

    /// Replaces a worker that the caller of this call created.
    #[doc(hidden)]
    pub async fn replace_worker(&self, spec: WorkerSpec) -> Result<Value, BoxError> {
        self.scope.host.create_worker(self, spec, true).await
    }

    /// Describes the workers that were created in the run or its chat.
    #[doc(hidden)]
    #[must_use]
    pub fn list_workers(&self) -> Value {
        self.scope.host.list_workers(self)
    }

    /// Calls a worker that was created at run time.
    #[doc(hidden)]
    pub async fn call_runtime_worker(
        &self,
        worker: &str,
        input: Value,
        attachments: Vec<PathBuf>,
    ) -> Result<ToolReturn, CallError> {
        self.scope.host.call_runtime_worker(self, worker, input, attachments).await
    }
}

impl<S> CallContext<S> {
    /// Asks a model a question, without instructions or tools: `ctx.llm_ask("Is this spam? ..").await?`.
    ///
    /// The answer is plain text, or a type that is set with [`output`](Ask::output). The model is the run's, unless
    /// [`model`](Ask::model) sets one. It counts as a call of a worker, one level deeper than the caller.
    ///
    /// # Errors
    ///
    /// Awaiting it returns a [`CallError`] like a call of a worker.
    ///
    /// # Examples
    ///
    /// ```
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
        Ask::new(self.declaring(), WorkerSpec::new(QUESTION, ""), question)
    }

    /// Calls a worker that is defined at run time: `ctx.llm_agent(spec).input("..").await?`.
    ///
    /// Its toolsets must be names that the caller may use: those that it declares, or everything registered if it
    /// declares none.
    ///
    /// # Errors
    ///
    /// Awaiting it returns a [`CallError`] like a call of a worker, and [`CallError::NotDeclared`] or
    /// [`CallError::NotFound`] for a toolset that the caller may not use.
    pub fn llm_agent(&self, spec: WorkerSpec) -> Ask {
        Ask::new(self.declaring(), spec, "")
    }

    /// Delegates a task to the worker that fits it best, among those that this call may call.
    ///
    /// A worker scores 4 points for each word of the request's hints that is in its own `hints`, 3 for each word of
    /// the description that is in its `hints`, 2 for each word of the request in its name, and 1 for each in its
    /// description. Words are letters and digits, compared without case and without a plural `s`; words such as "the"
    /// do not count. Only workers that accept the request's inputs as arguments, or a prompt, are considered. The
    /// highest score wins. A journal records the choice, so a resumed run keeps it.
    ///
    /// A tool without a context delegates by returning [`ToolReturn::subtask`](crate::declare::tool::ToolReturn::subtask).
    ///
    /// # Errors
    ///
    /// Returns [`CallError::NoWorker`] if no worker scores, or if several share the highest score, with their names;
    /// and the errors of a call of a worker.
    pub async fn subtask(&self, request: SubtaskRequest) -> Result<Value, CallError> {
        Ok(self.delegate(request).await?.into_value())
    }

    /// Delegates a task, and returns the answer with the files that the worker's model created.
    pub(crate) async fn delegate(&self, request: SubtaskRequest) -> Result<ToolReturn, CallError> {
        self.scope.host.subtask(&self.declaring(), request).await
    }

    /// Asks the user a question, and waits for the answer. The nearest worker above the call sees both in its
    /// conversation.
    ///
    /// Several choices are joined with commas: see [`request_user_choices`](Self::request_user_choices).
    ///
    /// # Errors
    ///
    /// Returns [`CallError::NoInput`] if the runtime has no
    /// [`input_handler`](crate::session::runtime::RuntimeBuilder::input_handler), the handler's error as [`CallError::Failed`], and
    /// that error for a question that no answer fits, or after 10 answers that are not among its choices.
    pub async fn request_user_input(&self, question: impl Into<Question>) -> Result<String, CallError> {
        Ok(self.ask_user(question.into()).await?.join(", "))
    }

    /// Asks the user for choices, as [`request_user_input`](Self::request_user_input) does, and returns each of them.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`request_user_input`](Self::request_user_input).
    ///
    /// # Examples
    ///
    /// ```
    /// # use llm_do::prelude::*;
    /// use llm_do::context::Question;
    ///
    /// /// Lets the user choose what to deploy.
    /// #[entry]
    /// async fn deploy(ctx: &CallContext) -> Result<Vec<String>> {
    ///     let question = Question::new("Deploy which services?").choices(["web", "jobs", "mail"]).several();
    ///     Ok(ctx.request_user_choices(question).await?)
    /// }
    /// ```
    pub async fn request_user_choices(&self, question: impl Into<Question>) -> Result<Vec<String>, CallError> {
        self.ask_user(question.into()).await
    }

    async fn ask_user(&self, question: Question) -> Result<Vec<String>, CallError> {
        let tool = self.name().to_owned();
        let Some(handler) = self.scope.host.input_handler().filter(|_| !self.frame().is_unattended()).cloned() else {
            return Err(CallError::NoInput { tool });
        };
        if let Some(fault) = question.fault() {
            return Err(CallError::Failed { tool, source: format!("the question cannot be asked: {fault}").into() });
        }
        let announced = CancellationToken::new();
        let (shown, announcement, mut is_reported) = (question.clone(), announced.clone(), false);
        let report = || self.emit(|| EventKind::InputAsked { question: shown.clone() });
        let request =
            InputRequest { run: self.run_id().into(), ..InputRequest::new(question, Arc::clone(&self.frame().name)) };
        let prompt = request.question.prompt.clone();
        let input = || if request.question.is_plain() { json!(prompt) } else { json!(request.question) };
        let (asked, journal) = (request.clone(), self.journal().cloned());
        let local = |step: Option<StepSpec>| async move {
            let asked = InputRequest { key: step.map(|step| step.key), ..asked };
            let answers = answers(&*handler, journal.as_deref(), asked, &announcement).await;
            answers.map_err(|source| CallError::Failed { tool, source })
        };
        let step = self.step(JournalMethod::Decision, StepKind::Input, "user_input", input, local);
        let _paused = self.pause_for_person();
        let (mut step, mut cancelled) = (pin!(step), pin!(self.cancelled()));
        let ended = loop {
            tokio::select! {
                biased;
                () = &mut cancelled => break Err(CallError::Cancelled { tool: self.name().to_owned() }),
                // Reported only now, so that a client that follows events finds the question.
                () = announced.cancelled(), if !is_reported => {
                    report();
                    is_reported = true;
                }
                answers = &mut step => break answers,
            }
        };
        if !is_reported {
            report();
        }
        let answers = ended?.value;
        let answer = answers.join(", ");
        self.emit(|| EventKind::InputAnswered { answer: answer.clone() });
        self.add_user_message(&format!("The user was asked: {prompt}\n{ANSWERED}{answer}"));
        Ok(answers)
    }

    /// Adds a message to the conversation of the nearest worker above the call, and to each call in between.
    ///
    /// A worker sees the messages in the order of its calls, in whichever order they were answered, so that a replay
    /// has the same order.
    pub(crate) fn add_user_message(&self, message: &str) {
        // The last one: a question is not the user's own words.
        if let Some((_, answer)) = message.rsplit_once(ANSWERED) {
            self.note_answer(answer);
        }
        let worker = self.frames().position(|frame| frame.is_worker);
        let count = worker.map_or(0, |index| index + 1);
        let mut call = 0;
        for frame in self.frames().take(count) {
            let belongs_to = if frame.is_worker { call } else { 0 };
            frame.extras_or_default().effects.user_messages.get_or_default().push((belongs_to, message.to_owned()));
            // The conversation of the worker above gets it together with the result.
            if let Some(background) = frame.in_background().filter(|own| own.is_of_model() && !frame.is_worker) {
                background.add_user_message(message);
                return;
            }
            call = frame.call;
        }
    }

    /// Reads a file of the project's root folder, to pass it to a model: at most 20 MiB. The media type comes from
    /// its content and name.
    ///
    /// # Errors
    ///
    /// Returns [`CallError::Failed`] with the path if the file is missing, not a regular file, too large, or outside
    /// the root.
    pub async fn attachment(&self, path: impl AsRef<Path>) -> Result<Attachment, CallError> {
        let read = read(self.project_root().to_owned(), PathBuf::from(path.as_ref()), USUAL_MAX_BYTES).await;
        read.map_err(|text| CallError::Failed { tool: self.name().to_owned(), source: BoxError::from(text) })
    }
}

/// Asks the user until the answer fits the question; cancels `announced` once the question is stored.
async fn answers(
    handler: &dyn InputHandler,
    journal: Option<&dyn Journal>,
    mut request: InputRequest,
    announced: &CancellationToken,
) -> Result<Vec<String>, BoxError> {
    for asked in 0..MAX_ASKED {
        let answer = answer(handler, journal, &mut request, asked > 0, announced).await?;
        match request.question.answers(&answer) {
            Ok(answers) => return Ok(answers),
            Err(problem) => request.problem = Some(problem),
        }
        // Without this, a handler that never waits would block cancellation.
        tokio::task::yield_now().await;
    }
    Err(format!("the user gave {MAX_ASKED} answers that do not fit the question").into())
}

/// Stores a question, and waits for the first answer: from the handler, or under the id of the promise.
async fn answer(
    handler: &dyn InputHandler,
    journal: Option<&dyn Journal>,
    request: &mut InputRequest,
    is_repeated: bool,
    announced: &CancellationToken,
) -> Result<String, BoxError> {
    let promise = match (journal, request.promise_spec(is_repeated)) {
        (Some(journal), Some(asked)) => journal.promise(asked).await?,
        _ => None,
    };
    announced.cancel();
    // The event about the question comes first.
    tokio::task::yield_now().await;
    let Some(Promise { id, answer, .. }) = promise else { return handler.answer(request).await };
    request.promise = Some(id);
    tokio::select! {
        biased;
        answer = answer => answer?.as_str().map(str::to_owned).ok_or_else(|| "the stored answer is not a text".into()),
        answer = handler.answer(request) => answer,
    }
}
