//! Runs a worker: asks its model, turn by turn, until it has given its output.

mod calls;
mod counted;
mod guarded;
mod output;
mod server_side;
mod turn;

use std::sync::Arc;

use futures_util::StreamExt;
use llm_do_providers::{
    ErrorKind, Message, Model, PriceTable, ProviderError, Request, RequestHint, Response, ResponseStream,
    ServerSideTool, Settings, StreamEvent, ToolChoice, ToolSpec, replay,
};
use serde_json::{Value, json};

pub(crate) use self::output::Output;
use self::server_side::Uses;
pub(crate) use self::turn::Limits;
use self::turn::{Step, Turns};
use crate::base::error::CallError;
use crate::declare::prompt::Prompt;
use crate::declare::tool::ToolReturn;
use crate::declare::toolset::OUTPUT_TOOL;
use crate::observe::event::{Delta, EventKind};
use crate::observe::journal::StepKind;
use crate::plane::context::{CallContext, JournalMethod};
use crate::plane::guard::Guards;
use crate::plane::history::{Conversation, History, HistoryProcessor};

/// One call of a worker: what stays the same over its turns.
pub(crate) struct WorkerRun {
    pub(crate) ctx: CallContext,
    pub(crate) model: Arc<dyn Model>,
    /// `provider:model`.
    pub(crate) model_name: Arc<str>,
    /// What models cost.
    pub(crate) prices: Arc<PriceTable>,
    pub(crate) instructions: Arc<str>,
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) server_side_tools: Vec<ServerSideTool>,
    pub(crate) output: Output,
    pub(crate) settings: Settings,
    pub(crate) streaming: bool,
    /// Whether a denied call is told to the model instead of ending the run.
    pub(crate) return_denials: bool,
    pub(crate) processors: Arc<[Arc<dyn HistoryProcessor>]>,
    pub(crate) guards: Option<Guards>,
    /// What was said before, and is to be kept for the next time: of a root call only.
    pub(crate) conversation: Option<Arc<Conversation>>,
}

/// What is asked in one turn.
#[derive(Clone)]
struct Asked {
    messages: Arc<Vec<Message>>,
    /// What a guard put in the place of the worker's own.
    instructions: Option<Arc<str>>,
    /// What a guard put in the place of the worker's own.
    settings: Option<Arc<Settings>>,
    /// What a guard left of the worker's own.
    server_side_tools: Option<Arc<[ServerSideTool]>>,
}

/// The turns of a call under way: whatever becomes of it, what was said is kept.
struct Talk {
    turns: Turns,
    conversation: Option<Arc<Conversation>>,
}

impl Drop for Talk {
    fn drop(&mut self) {
        if let Some(conversation) = &self.conversation {
            conversation.keep(std::mem::take(self.turns.messages_mut()));
        }
    }
}

impl Asked {
    /// Returns what the worker asks of itself.
    fn of(turns: &Turns) -> Self {
        Self { messages: Arc::clone(turns.messages()), instructions: None, settings: None, server_side_tools: None }
    }
}

impl WorkerRun {
    /// Runs the turns from `prompt` to the output, after what was said before.
    pub(crate) async fn run(mut self, prompt: Prompt, limits: Limits) -> Result<ToolReturn, CallError> {
        let fail = |text: String| CallError::Failed { tool: self.ctx.name().to_owned(), source: text.into() };
        let message = prompt.into_message(self.ctx.project_root()).await.map_err(fail)?;
        if let Some(output) = self.output.tool() {
            self.tools = self.tools.iter().chain([output]).cloned().collect();
        }
        let mut messages: Vec<_> = self.conversation.as_ref().map(|kept| kept.take().into()).unwrap_or_default();
        messages.push(message);
        let run = Arc::new(self);
        let mut talk = Talk { turns: Turns::new(messages, limits), conversation: run.conversation.clone() };
        loop {
            match talk.turns.step() {
                Step::Request(_) => run.ask(&mut talk.turns).await?,
                Step::Call(calls) => {
                    let results = run.call_all(calls).await?;
                    talk.turns.called(results);
                    talk.turns.heard(&run.ctx.frame().user_messages.take());
                }
                Step::Done(value) => {
                    let attachments = talk.turns.files().to_vec();
                    return Ok(ToolReturn { attachments, ..value.clone().into() });
                }
                Step::Failed(message) => {
                    return Err(CallError::GaveUp { worker: run.ctx.name().to_owned(), message: message.to_owned() });
                }
            }
        }
    }

    /// Asks the model once, and hands its answer to the turns.
    async fn ask(self: &Arc<Self>, turns: &mut Turns) -> Result<(), CallError> {
        self.process(turns).await?;
        let (response, refused) = match &self.guards {
            // On the heap: most sessions have none.
            Some(guards) => Box::pin(self.guarded(guards, turns)).await?,
            None => (self.request(turns, Asked::of(turns)).await?, None),
        };
        self.ctx.emit(|| EventKind::ModelResponse {
            model: response.model.clone(),
            parts: response.parts.iter().cloned().map(Into::into).collect(),
            usage: response.usage,
        });
        self.ctx.emit(|| EventKind::Usage { used: self.ctx.usage() });
        let retry = match refused {
            Some(reason) => turns.refused(response, reason),
            None => turns.answered(response, &self.output),
        };
        if let Some(reason) = retry {
            self.ctx.emit(|| EventKind::ModelRetry { reason });
        }
        Ok(())
    }

    /// Lets the processors of the session change what was said so far.
    async fn process(&self, turns: &mut Turns) -> Result<(), CallError> {
        if self.processors.is_empty() {
            return Ok(());
        }
        // Of a copy: a processor may fail, or be dropped while it waits, and what was said is kept.
        let mut history = History::from(turns.messages().to_vec());
        for processor in self.processors.iter() {
            let processed = processor.process(&mut history, &self.ctx).await;
            processed.map_err(|source| CallError::Failed { tool: self.ctx.name().to_owned(), source })?;
        }
        history.repair();
        *turns.messages_mut() = history.into();
        Ok(())
    }

    /// Asks the model once, until it has answered or the run is cancelled.
    async fn request(self: &Arc<Self>, turns: &Turns, asked: Asked) -> Result<Response, CallError> {
        let is_priced = self.prices.price(&self.model_name).is_some();
        let under_way = Arc::new(self.ctx.begin_request(&self.model_name, is_priced)?);
        self.ctx.emit(|| EventKind::ModelRequest {
            model: Arc::clone(&self.model_name),
            turn: turns.turn() + 1,
            messages: asked.messages.len(),
            tools: self.tools.iter().map(|tool| Arc::clone(&tool.name)).collect(),
        });
        let local = Arc::clone(self).send(asked.clone(), turns.turn(), Arc::clone(&under_way));
        let input = || self.input(turns, &asked);
        let answer: Result<Response, CallError> = tokio::select! {
            biased;
            () = self.ctx.cancelled() => return Err(CallError::Cancelled { tool: self.ctx.name().to_owned() }),
            answer = self.ctx.step(JournalMethod::Step, StepKind::Model, &self.model_name, input, local) => answer,
        };
        self.count_ended(&under_way, &answer);
        if let Ok(response) = &answer {
            let model = response.answered_by.as_deref().map_or_else(|| Arc::clone(&self.model_name), Arc::from);
            self.ctx.warn(&model, &response.warnings);
        }
        answer
    }

    /// Returns what a journal keeps of a request: what is new in it, so that a long conversation is not kept many times.
    fn input(&self, turns: &Turns, asked: &Asked) -> Value {
        let new = turns.new_of(&asked.messages);
        match (turns.turn(), &asked.instructions) {
            (0, instructions) => {
                json!({ "instructions": instructions.as_ref().unwrap_or(&self.instructions), "messages": new })
            }
            (turn, None) => json!({ "turn": turn, "messages": new }),
            (turn, Some(instructions)) => json!({ "turn": turn, "instructions": instructions, "messages": new }),
        }
    }

    /// A model that gives its output through a tool must call one in each answer: that one, if there is no other.
    ///
    /// Where the provider runs tools of its own, that would keep the model from them.
    fn tool_choice(&self, server_side_tools: &[ServerSideTool]) -> ToolChoice<'_> {
        if !server_side_tools.is_empty() {
            return ToolChoice::Auto;
        }
        match (self.output.tool(), self.tools.len()) {
            (Some(_), 1) => ToolChoice::Tool(OUTPUT_TOOL),
            (Some(_), _) => ToolChoice::Required,
            (None, _) => ToolChoice::Auto,
        }
    }

    async fn answer(&self, asked: &Asked, answers: u32) -> Result<Response, CallError> {
        let instructions = asked.instructions.as_ref().unwrap_or(&self.instructions);
        let server_side_tools = asked.server_side_tools.as_deref().unwrap_or(&self.server_side_tools);
        let request = Request::new(&asked.messages, asked.settings.as_deref().unwrap_or(&self.settings))
            .instructions(Some(&**instructions).filter(|text| !text.is_empty()))
            .tools(&self.tools)
            .tool_choice(self.tool_choice(server_side_tools))
            .server_side_tools(server_side_tools)
            .output(self.output.schema())
            .hint(RequestHint::new().answers(answers).prompted_output(self.output.prompted()));
        let failed = |source| self.failed(source);
        let stream = if self.streaming {
            self.model.stream(request).await.map_err(failed)?
        } else if self.ctx.is_observed() && self.guards.is_none() {
            replay(self.model.request(request).await.map_err(failed)?)
        } else {
            return self.model.request(request).await.map_err(failed);
        };
        self.collect(stream).await.map_err(failed)
    }

    fn failed(&self, source: ProviderError) -> CallError {
        CallError::Model { worker: self.ctx.name().to_owned(), source }
    }

    /// Reports the pieces of an answer and returns the whole.
    async fn collect(&self, stream: ResponseStream) -> Result<Response, ProviderError> {
        let mut uses = Uses::default();
        let answer = self.pieces(stream, &mut uses).await;
        let parts = answer.as_ref().map(|response| &*response.parts).map_err(|_| "the answer broke off");
        uses.settle(parts).into_iter().for_each(|kind| self.ctx.emit(|| kind));
        answer
    }

    async fn pieces(&self, mut stream: ResponseStream, uses: &mut Uses) -> Result<Response, ProviderError> {
        while let Some(event) = stream.next().await {
            let delta = match event? {
                StreamEvent::Done(response) => return Ok(response),
                StreamEvent::Waiting { on } => {
                    self.ctx.emit(|| EventKind::ModelWaiting { on });
                    continue;
                }
                StreamEvent::Text(text) => Delta::Text(text),
                StreamEvent::Thinking(text) => Delta::Thinking(text),
                StreamEvent::ToolCall { arguments, .. } => Delta::Arguments(arguments),
                StreamEvent::ServerSideTool { name, input } => {
                    let kind = uses.begin(name, input);
                    self.ctx.emit(|| kind);
                    continue;
                }
                StreamEvent::ServerSideToolDone { name, input, error } => {
                    uses.end(&name, &input, error).into_iter().for_each(|kind| self.ctx.emit(|| kind));
                    continue;
                }
                _ => continue,
            };
            self.ctx.emit(|| EventKind::ModelDelta { delta });
        }
        let text = "the stream broke off before the answer was complete; ask again";
        Err(ProviderError::new(self.model.name(), ErrorKind::Protocol, text))
    }
}
