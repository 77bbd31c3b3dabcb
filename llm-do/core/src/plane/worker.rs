//! Runs a worker: sends requests to its model until the model returns the output.

mod background;
mod batch;
mod calls;
mod content;
mod guarded;
mod long_results;
mod messages;
mod output;
mod pieces;
mod refine;
mod repeat;
mod request_usage;
mod respond;
mod server_side;
mod tool_search;
mod turn;
mod window;

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use llm_do_providers::{
    ContextWindow, ErrorKind, PriceTable, ProviderError, Request, RequestHint, Response, ServerSideTool, Settings,
    ToolChoice, ToolSpec, Transcript,
};
use serde_json::{Value, json};

pub(crate) use self::background::ModelCalls;
use self::batch::BatchPlace;
pub(crate) use self::content::ShownMessages;
pub(crate) use self::messages::{PartialAnswer, mail_of};
pub(crate) use self::output::Output;
use self::refine::Attempts;
pub(crate) use self::refine::{AnswerOfCode, RESULT, Refinement, Takes};
use self::repeat::StreamProgress;
pub(crate) use self::tool_search::ToolSearch;
pub(crate) use self::turn::Limits;
use self::turn::{CallResult, Step, Turns};
use crate::base::error::CallError;
use crate::base::mend::Mends;
use crate::declare::prompt::{AttachmentPolicy, Prompt};
use crate::declare::tool::ToolReturn;
use crate::declare::toolset::OUTPUT_TOOL;
use crate::observe::event::EventKind;
use crate::observe::journal::StepKind;
use crate::plane::context::{CallContext, JournalMethod, StepOutcome, has_files};
use crate::plane::conversation::Conversation;
use crate::plane::guard::Guards;
use crate::plane::history::History;
use crate::plane::history_processor::{Compaction, Estimate, HistoryProcessor};
use crate::plane::kept_results::KeptResults;
use crate::plane::mailbox::Mail;
use crate::plane::model_choice::ChosenModel;

/// A call of a worker: the data that does not change between its turns.
pub(crate) struct WorkerRun {
    pub(crate) ctx: CallContext,
    pub(crate) model: Arc<ChosenModel>,
    /// The prices of models, for answers of a fallback.
    pub(crate) prices: Arc<PriceTable>,
    pub(crate) instructions: Arc<str>,
    /// The tools of each request.
    pub(crate) tools: Arc<[ToolSpec]>,
    /// The tools that the model has to find, if they do not fit into each request.
    pub(crate) search: Option<ToolSearch>,
    /// The tools that the model has to find with its provider's search.
    pub(crate) deferred: Arc<[ToolSpec]>,
    pub(crate) server_side_tools: Vec<ServerSideTool>,
    pub(crate) output: Output,
    pub(crate) settings: Settings,
    pub(crate) streaming: bool,
    /// Whether a denied call ends the run instead of being returned to the model.
    pub(crate) end_on_denial: bool,
    pub(crate) processors: Arc<Vec<Arc<dyn HistoryProcessor>>>,
    pub(crate) guards: Option<Guards>,
    /// The conversation to continue and to save, for a root call or a call in a thread.
    pub(crate) conversation: Option<Arc<Conversation>>,
    pub(crate) shown: ShownMessages,
    /// The messages to the run that are for this call; `None` if it takes none.
    pub(crate) mail: Option<Mail>,
    pub(crate) partial: PartialAnswer,
    /// How many bytes a result of a tool may have, if the worker or the runtime sets it.
    pub(crate) max_result: Option<u64>,
    /// Which files the prompt may have.
    pub(crate) attachments: AttachmentPolicy,
    /// The results that were too long for the model.
    pub(crate) results: Arc<KeptResults>,
    /// What keeps the requests within the window of the model, unless it is off.
    pub(crate) compaction: Option<Arc<Compaction>>,
    /// How many tokens the instructions and the tools have, once it was estimated.
    pub(crate) overhead: OnceLock<Estimate>,
    /// What the server of the model reports of its window, once it was asked.
    pub(crate) asked_window: OnceLock<Option<ContextWindow>>,
    /// The calls of its model in the background; `None` if it may start none.
    pub(crate) background: Option<Arc<ModelCalls>>,
    /// What scores its results, if anything does.
    pub(crate) refinement: Option<Arc<Refinement>>,
    /// The answer of code with which it begins, if that was not accepted.
    pub(crate) answer_of_code: Option<Box<AnswerOfCode>>,
}

/// The parts of a request that guards may change.
#[derive(Clone)]
struct RequestParts {
    tools: Arc<[ToolSpec]>,
    messages: Arc<Transcript>,
    /// Set if a guard replaced the worker's instructions.
    instructions: Option<Arc<str>>,
    /// Set if a guard replaced the worker's settings.
    settings: Option<Arc<Settings>>,
    /// Set if a guard changed the worker's server-side tools.
    server_side_tools: Option<Arc<[ServerSideTool]>>,
}

/// The turns of a running call. On drop, it saves the messages in the conversation, with the results of an interrupted
/// turn.
struct SavedTurns {
    turns: Turns,
    /// The results of the calls of a turn that have finished, each at the index of its call.
    finished: Vec<Option<CallResult>>,
    /// How many calls of the turn were made, if a message interrupted it.
    made: Option<usize>,
    /// The results that were scored.
    attempts: Attempts,
    /// Whether the last answer came from the journal.
    is_replay: bool,
    worker: Arc<WorkerRun>,
}

impl Drop for SavedTurns {
    fn drop(&mut self) {
        let Some(conversation) = &self.worker.conversation else { return };
        self.turns.interrupt(std::mem::take(&mut self.finished));
        self.turns.add_user_messages(&self.worker.ctx.frame().take_user_messages());
        self.turns.add_parts(self.worker.lost_calls());
        let kept = self.turns.kept();
        conversation.save(self.turns.take_messages(), kept, self.worker.ctx.labels_to_keep());
    }
}

/// Returns whether the provider refused a request because it is too long.
fn is_too_long(error: &CallError) -> bool {
    matches!(error, CallError::Model { source, .. } if source.kind() == ErrorKind::ContextTooLong)
}

impl WorkerRun {
    /// Returns the parts of a request as the worker defines them.
    fn parts(&self, turns: &Turns) -> RequestParts {
        let tools = self.with_loaded(turns.loaded());
        let messages = Arc::clone(turns.messages());
        RequestParts { tools, messages, instructions: None, settings: None, server_side_tools: None }
    }

    /// Returns the tools of a request: those of each request, and then the loaded ones in the order in which they were loaded.
    fn with_loaded(&self, loaded: &[Arc<str>]) -> Arc<[ToolSpec]> {
        if loaded.is_empty() {
            return Arc::clone(&self.tools);
        }
        let found = |name: &Arc<str>| {
            let searched = self.search.as_ref().and_then(|search| search.get(name)).cloned();
            searched.or_else(|| long_results::spec(name))
        };
        self.tools.iter().cloned().chain(loaded.iter().filter_map(found)).collect()
    }

    /// Runs turns from `prompt` to the output, continuing the conversation.
    pub(crate) fn run(mut self, prompt: Prompt, limits: Limits) -> impl Future<Output = Result<ToolReturn, CallError>> {
        let own: Vec<_> = self.wait_tool().into_iter().chain(self.output.tool().cloned()).collect();
        if !own.is_empty() {
            self.tools = self.tools.iter().cloned().chain(own).collect();
        }
        // Moved into an `Arc` before the first turn, which keeps the future small.
        Arc::new(self).run_turns(prompt, limits)
    }

    async fn run_turns(self: Arc<Self>, prompt: Prompt, limits: Limits) -> Result<ToolReturn, CallError> {
        let Some(background) = self.background.clone() else { return self.take_turns(prompt, limits).await };
        tokio::select! {
            biased;
            result = Box::pin(Arc::clone(&self).take_turns(prompt, limits)) => result,
            error = background.failed(|error| !self.is_returned(error)) => Err(error),
        }
    }

    async fn take_turns(self: Arc<Self>, prompt: Prompt, limits: Limits) -> Result<ToolReturn, CallError> {
        let fail = |text: String| CallError::Failed { tool: self.ctx.name().to_owned(), source: text.into() };
        let message = prompt.into_message(self.ctx.project_root(), &self.attachments).await.map_err(fail)?;
        let known = self.conversation.as_ref().and_then(|saved| saved.labels());
        let (history, kept) = self.conversation.as_ref().map(|saved| saved.take()).unwrap_or_default();
        self.ctx.note_conversation(history.messages(), known);
        if has_files(&message) {
            self.ctx.note_files();
        }
        let mut messages = Vec::from(history);
        messages.push(message);
        let mut loaded = self
            .search
            .as_ref()
            .map(|search| search.loaded_in(&messages, self.model.profile().mend_arguments))
            .unwrap_or_default();
        loaded.extend(self.result_tools_of(&messages));
        let turns = Turns::new(messages, kept, limits);
        let (finished, worker) = (Vec::new(), Arc::clone(&self));
        let attempts = Attempts::default();
        let mut saved = SavedTurns { turns, finished, made: None, attempts, is_replay: false, worker };
        saved.turns.add_loaded(loaded);
        self.continue_from_code(&mut saved.turns, &mut saved.attempts);
        self.warn_of_early_deadline();
        let _takes_messages = self.take_messages();
        loop {
            let made = saved.made.take();
            if self.refinement.is_some() && saved.turns.is_done() {
                // Before messages join, since the last ones close the run to further ones. Boxed, since few workers are refined.
                Box::pin(self.score(&mut saved.turns, &mut saved.attempts)).await?;
            }
            self.join_new(&mut saved.turns, made).await?;
            match saved.turns.step() {
                Step::Request(_) => saved.is_replay = self.ask(&mut saved.turns).await?,
                Step::Call(calls) => {
                    saved.finished.resize_with(calls.len(), || None);
                    let interruption = self.interruption(saved.turns.turn(), calls.len(), saved.is_replay);
                    self.call_all(calls, &mut saved.finished, &interruption).await?;
                    saved.made = interruption.made();
                    saved.turns.handle_results(saved.finished.drain(..).flatten().collect());
                    saved.turns.add_user_messages(&self.ctx.frame().take_user_messages());
                }
                Step::Done(value) => {
                    let attachments = saved.turns.files().to_vec();
                    let last = ToolReturn { attachments, ..value.clone().into() };
                    return Ok(saved.best().unwrap_or(last));
                }
                Step::Failed(message) => {
                    let message = message.to_owned();
                    let gave_up = || CallError::GaveUp { worker: self.ctx.name().to_owned(), message };
                    return saved.best().ok_or_else(gave_up);
                }
            }
        }
    }

    /// Sends one request to the model, and passes its response to the turns; returns whether it came from the journal.
    async fn ask(self: &Arc<Self>, turns: &mut Turns) -> Result<bool, CallError> {
        self.process(turns).await?;
        self.fit(turns).await?;
        self.begin_pieces();
        let mut exchanged = self.exchange(turns).await;
        if exchanged.as_ref().is_err_and(is_too_long) && self.fit_after_refusal(turns).await? {
            self.begin_pieces();
            exchanged = Box::pin(self.exchange(turns)).await;
        }
        let (StepOutcome { value: response, is_replayed }, refused) = exchanged?;
        self.pass_on_whole(&response);
        let retry = if let Some(reason) = refused {
            turns.reject_response(response, reason)
        } else {
            let read = self.output.read_apart(&response).await;
            let retry = turns.handle_response(response, read.as_ref().unwrap_or(&self.output));
            self.report_mends(None, turns.take_mends());
            retry
        };
        if let Some(reason) = retry {
            self.ctx.emit(|| EventKind::ModelRetry { reason });
        }
        Ok(is_replayed)
    }

    /// Reports what was mended in the arguments of a call of `tool`, or in the output, if anything was.
    fn report_mends(&self, tool: Option<&str>, mends: Mends) {
        if !mends.is_empty() {
            self.ctx.emit(|| EventKind::Mended { tool: tool.map(Into::into), mends: mends.to_vec() });
        }
    }

    /// Sends one request, and reports its response; also returns the reason if a guard refused it.
    async fn exchange(self: &Arc<Self>, turns: &Turns) -> Result<(StepOutcome<Response>, Option<String>), CallError> {
        let (StepOutcome { value: response, is_replayed }, refused) = match &self.guards {
            Some(guards) => Box::pin(self.guarded(guards, turns)).await?,
            None => (self.request(turns, self.parts(turns)).await?, None),
        };
        self.ctx.emit(|| EventKind::ModelResponse {
            model: response.model.clone(),
            parts: response.parts.iter().cloned().map(Into::into).collect(),
            usage: response.usage,
            files: self.show_answer(&response),
            replayed: is_replayed,
        });
        self.ctx.emit(|| EventKind::Usage { used: self.ctx.usage() });
        Ok((StepOutcome { value: response, is_replayed }, refused))
    }

    /// Runs the history processors of the session.
    async fn process(&self, turns: &mut Turns) -> Result<(), CallError> {
        if self.processors.is_empty() {
            return Ok(());
        }
        // The history is copied, so that it stays complete if a processor fails or is dropped.
        let mut history = History::from(turns.messages().to_vec());
        for processor in self.processors.iter() {
            let processed = processor.process(&mut history, &self.ctx).await;
            processed.map_err(|source| CallError::Failed { tool: self.ctx.name().to_owned(), source })?;
        }
        history.repair();
        turns.replace_messages(history.into());
        Ok(())
    }

    /// Sends one request, and waits until it is answered or the run is cancelled.
    async fn request(self: &Arc<Self>, turns: &Turns, parts: RequestParts) -> Result<StepOutcome<Response>, CallError> {
        if self.ctx.is_cancelled() {
            return Err(self.cancelled());
        }
        let reserved = Arc::new(self.ctx.begin_request(&self.model.name, || self.unpriced(&parts))?);
        self.ctx.emit(|| EventKind::ModelRequest {
            model: Arc::clone(&self.model.name),
            turn: turns.turn() + 1,
            messages: parts.messages.len(),
            tools: parts.tools.iter().chain(&*self.deferred).map(|tool| Arc::clone(&tool.name)).collect(),
            content: self.show_request(turns, &parts).map(Box::new),
        });
        let run = Arc::clone(self);
        let (sent, answers, reserving) = (parts.clone(), turns.turn(), Arc::clone(&reserved));
        let repeats = turns.retries();
        let local = move |step| async move { run.send(sent, answers, repeats, reserving, step).await };
        let input = || self.input(turns, &parts);
        let step = pin!(self.ctx.step(JournalMethod::Step, StepKind::Model, &self.model.name, input, local));
        // Without a journal, cancellation drops this future with its call. A journal may run it in another task.
        let answer = if self.ctx.journal().is_none() { step.await } else { self.unless_cancelled(step).await };
        self.count_finished(&reserved, answer.as_ref().map(|answer| &answer.value));
        if let Ok(StepOutcome { value: response, .. }) = &answer {
            let model = response.answered_by.as_deref().map_or_else(|| Arc::clone(&self.model.name), Arc::from);
            self.ctx.warn(&model, &response.warnings);
        }
        answer
    }

    /// Waits for a result until the run is cancelled.
    async fn unless_cancelled<T>(&self, result: impl Future<Output = Result<T, CallError>>) -> Result<T, CallError> {
        tokio::select! {
            biased;
            () = self.ctx.cancelled() => Err(self.cancelled()),
            result = result => result,
        }
    }

    fn cancelled(&self) -> CallError {
        CallError::Cancelled { tool: self.ctx.name().to_owned() }
    }

    /// Returns the journal's record of a request: only the new messages, so that a long conversation is not stored
    /// repeatedly.
    fn input(&self, turns: &Turns, parts: &RequestParts) -> Value {
        let new = turns.new_messages(&parts.messages);
        match (turns.turn(), &parts.instructions) {
            (0, instructions) => {
                json!({ "instructions": instructions.as_ref().unwrap_or(&self.instructions), "messages": new })
            }
            (turn, None) => json!({ "turn": turn, "messages": new }),
            (turn, Some(instructions)) => json!({ "turn": turn, "instructions": instructions, "messages": new }),
        }
    }

    /// Returns the tool choice: a model that returns its output through a tool must call one in each answer.
    ///
    /// With server-side tools or the provider's tool search it is automatic, since a required call would keep the model from
    /// using them.
    fn tool_choice(&self, server_side_tools: &[ServerSideTool]) -> ToolChoice<'_> {
        if !server_side_tools.is_empty() || !self.deferred.is_empty() {
            return ToolChoice::Auto;
        }
        match (self.output.tool(), self.tools.len()) {
            (Some(_), 1) => ToolChoice::Tool(OUTPUT_TOOL),
            (Some(_), _) => ToolChoice::Required,
            (None, _) => ToolChoice::Auto,
        }
    }

    async fn answer(
        &self,
        parts: &RequestParts,
        answers: u32,
        progress: &mut StreamProgress,
        place: &BatchPlace<'_>,
    ) -> Result<Response, CallError> {
        self.begin_pieces();
        let instructions = parts.instructions.as_ref().unwrap_or(&self.instructions);
        let server_side_tools = parts.server_side_tools.as_deref().unwrap_or(&self.server_side_tools);
        let settings = self.settings_of(parts);
        let request = Request::new(&[], settings)
            .transcript(&parts.messages)
            .instructions(Some(&**instructions).filter(|text| !text.is_empty()))
            .tools(&parts.tools)
            .deferred_tools(&self.deferred)
            .tool_choice(self.tool_choice(server_side_tools))
            .server_side_tools(server_side_tools)
            .output_tool(self.output.tool().map(|_| OUTPUT_TOOL))
            .output(self.output.schema())
            .hint(RequestHint::new().answers(answers).prompted_output(self.output.prompted()));
        let failed = |source| self.failed(source);
        if settings.is_batch()
            && let Some(batched) = self.model.batch(request).map_err(failed)?
        {
            // Boxed, since few requests are in a batch.
            let response = Box::pin(self.answer_in_batch(batched, place)).await?;
            if self.streaming || self.guards.is_none() {
                self.show_pieces(&response);
            }
            return Ok(response);
        }
        if self.streaming {
            self.partial.clear();
            let stream = self.model.stream(request).await.map_err(failed)?;
            return self.collect(stream, progress).await.map_err(failed);
        }
        let response = self.model.request(request).await.map_err(failed)?;
        if self.guards.is_none() {
            self.show_pieces(&response);
        }
        Ok(response)
    }

    /// Returns the settings of a request, which guards may have replaced.
    fn settings_of<'a>(&'a self, parts: &'a RequestParts) -> &'a Settings {
        parts.settings.as_deref().unwrap_or(&self.settings)
    }

    fn failed(&self, source: ProviderError) -> CallError {
        CallError::Model { worker: self.ctx.name().to_owned(), source }
    }
}
