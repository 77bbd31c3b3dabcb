//! Runs a worker: asks its model, turn by turn, until it has given its output.

mod output;
mod turn;

use std::sync::Arc;

use futures_util::StreamExt;
use llm_do_providers::{
    ErrorKind, Message, Model, ProviderError, Request, Response, ResponseStream, ServerSideTool, Settings, StreamEvent,
    ToolCall, ToolChoice, ToolResult, ToolSpec, replay,
};
use serde_json::Value;

pub(crate) use self::output::Output;
pub(crate) use self::turn::Limits;
use self::turn::{Called, Step, Turns};
use crate::context::CallContext;
use crate::declared::Callee;
use crate::error::{CallError, chain};
use crate::event::{Caller, Delta, EventKind};
use crate::prompt::Prompt;
use crate::tool::ToolReturn;
use crate::toolset::OUTPUT_TOOL;

/// One call of a worker: what stays the same over its turns.
pub(crate) struct WorkerRun {
    pub(crate) ctx: CallContext,
    pub(crate) model: Arc<dyn Model>,
    pub(crate) instructions: Arc<str>,
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) server_side_tools: Vec<ServerSideTool>,
    pub(crate) output: Output,
    pub(crate) settings: Settings,
    pub(crate) streaming: bool,
    /// Whether a denied call is told to the model instead of ending the run.
    pub(crate) return_denials: bool,
}

impl WorkerRun {
    /// Runs the turns from `prompt` to the output.
    pub(crate) async fn run(mut self, prompt: Prompt, limits: Limits) -> Result<Value, CallError> {
        let fail = |text: String| CallError::Failed { tool: self.ctx.name().to_owned(), source: text.into() };
        let message = prompt.into_message(self.ctx.project_root()).await.map_err(fail)?;
        if let Some(output) = self.output.tool() {
            self.tools = self.tools.iter().chain([output]).cloned().collect();
        }
        let mut turns = Turns::new(message, limits);
        loop {
            match turns.step() {
                Step::Request(messages) => {
                    let response = self.request(messages, turns.turn() + 1).await?;
                    self.answered(&mut turns, response);
                }
                Step::Call(calls) => {
                    let results = self.call_all(calls).await?;
                    turns.called(results);
                }
                Step::Done(value) => return Ok(value.clone()),
                Step::Failed(message) => {
                    return Err(CallError::GaveUp { worker: self.ctx.name().to_owned(), message: message.to_owned() });
                }
            }
        }
    }

    /// Reports `response` and hands it to the turns.
    fn answered(&self, turns: &mut Turns, response: Response) {
        let usage = response.usage;
        self.ctx.frames().for_each(|frame| frame.meter.add_request(usage));
        self.ctx.emit(|| {
            let (model, parts) = (response.model.clone(), response.parts.clone());
            EventKind::ModelResponse { model, parts, usage }
        });
        self.ctx.emit(|| EventKind::Usage { used: self.ctx.usage() });
        if let Some(reason) = turns.answered(response, &self.output) {
            self.ctx.emit(|| EventKind::ModelRetry { reason });
        }
    }

    /// Asks the model once, until it has answered or the run is cancelled.
    async fn request(&self, messages: &[Message], turn: u32) -> Result<Response, CallError> {
        self.ctx.emit(|| EventKind::ModelRequest {
            model: self.model.name().into(),
            turn,
            messages: messages.len(),
            tools: self.tools.iter().map(|tool| Arc::clone(&tool.name)).collect(),
        });
        let request = Request::new(messages, &self.settings)
            .instructions(Some(&*self.instructions).filter(|text| !text.is_empty()))
            .tools(&self.tools)
            .tool_choice(self.tool_choice())
            .server_side_tools(&self.server_side_tools)
            .output(self.output.schema());
        let worker = || self.ctx.name().to_owned();
        tokio::select! {
            biased;
            () = self.ctx.cancelled() => Err(CallError::Cancelled { tool: worker() }),
            answer = self.answer(request) => answer.map_err(|source| CallError::Model { worker: worker(), source }),
        }
    }

    /// A model that gives its output through a tool must call one in each answer: that one, if there is no other.
    ///
    /// Where the provider runs tools of its own, that would keep the model from them.
    fn tool_choice(&self) -> ToolChoice<'_> {
        if !self.server_side_tools.is_empty() {
            return ToolChoice::Auto;
        }
        match (self.output.tool(), self.tools.len()) {
            (Some(_), 1) => ToolChoice::Tool(OUTPUT_TOOL),
            (Some(_), _) => ToolChoice::Required,
            (None, _) => ToolChoice::Auto,
        }
    }

    async fn answer(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let stream =
            if self.streaming { self.model.stream(request).await? } else { replay(self.model.request(request).await?) };
        self.collect(stream).await
    }

    /// Reports the pieces of an answer and returns the whole.
    async fn collect(&self, mut stream: ResponseStream) -> Result<Response, ProviderError> {
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
                _ => continue,
            };
            self.ctx.emit(|| EventKind::ModelDelta { delta });
        }
        let text = "the stream broke off before the answer was complete; ask again";
        Err(ProviderError::new(self.model.name(), ErrorKind::Protocol, text))
    }

    /// Makes the calls of one turn, in order.
    async fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<Called>, CallError> {
        let mut called = Vec::with_capacity(calls.len());
        for call in calls {
            called.push(self.call(call).await?);
        }
        Ok(called)
    }

    /// Makes one call; an error that the model may mend becomes its result.
    async fn call(&self, call: &ToolCall) -> Result<Called, CallError> {
        let outcome = self.ctx.dispatch(Callee::Shown(&call.name), parse(&call.arguments), Caller::Model).await;
        let is_denied = outcome.as_ref().is_err_and(CallError::is_denied);
        let result = match outcome {
            Ok(returned) => answered(call, returned),
            Err(error) if is_denied && self.return_denials => {
                failed(call, denial(&self.told(error, &call.name), &call.name))
            }
            Err(error) if error.is_mendable() => failed(call, chain(&self.told(error, &call.name))),
            Err(error) => return Err(error),
        };
        Ok(Called { result, is_denied })
    }

    /// Returns the error of a call as the model is told of it: it knows the tool by the name that it called.
    fn told(&self, error: CallError, shown: &str) -> CallError {
        match self.ctx.frame().declared.as_ref().and_then(|declared| declared.tool(shown)) {
            Some(tool) => error.renamed(tool, shown),
            None => error,
        }
    }
}

/// Reads arguments as a model wrote them; nothing at all stands for no arguments.
fn parse(arguments: &str) -> Result<Value, String> {
    if arguments.trim().is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_str(arguments).map_err(|error| format!("not JSON: {error}"))
}

fn answered(call: &ToolCall, returned: ToolReturn) -> ToolResult {
    let ToolReturn { value, attachments, .. } = returned;
    let content = match value {
        // Nothing but files: some providers refuse an empty text.
        Value::Null if !attachments.is_empty() => "see the files".to_owned(),
        value => text_of(value),
    };
    ToolResult::new(call, content).with_attachments(attachments)
}

fn failed(call: &ToolCall, content: String) -> ToolResult {
    ToolResult::new(call, content).with_error(true)
}

/// Writes a result as a model reads it: text as it is, anything else as JSON.
fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn denial(error: &CallError, tool: &str) -> String {
    serde_json::json!({ "error": chain(error), "tool_name": tool, "error_type": "permission" }).to_string()
}
