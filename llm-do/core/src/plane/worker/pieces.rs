//! Emits the pieces of an answer, for display: those of a stream as they arrive, and each part of a whole answer.

use futures_util::StreamExt;
use llm_do_providers::{ErrorKind, ProviderError, Response, ResponsePart, ResponseStream, StreamEvent};

use super::WorkerRun;
use super::repeat::StreamProgress;
use super::server_side::{ToolUses, started_and_finished};
use crate::declare::toolset::OUTPUT_TOOL;
use crate::observe::event::{Delta, EventKind};

impl WorkerRun {
    /// Begins an answer for who receives the result in pieces.
    pub(super) fn begin_pieces(&self) {
        if let Some(pieces) = self.ctx.frame().pieces() {
            pieces.begin(self.output.form());
        }
    }

    /// Passes a piece of the result on.
    fn pass_on(&self, event: &StreamEvent) {
        let Some(pieces) = self.ctx.frame().pieces() else { return };
        match event {
            StreamEvent::Text(text) if self.output.tool().is_none() => pieces.push(text),
            StreamEvent::ToolCall { name, arguments, .. } if self.output.tool().is_some() && **name == *OUTPUT_TOOL => {
                pieces.push(arguments);
            }
            _ => {}
        }
    }

    /// Passes the result on as one piece if the answer did not arrive in pieces, such as a recorded one.
    pub(super) fn pass_on_whole(&self, response: &Response) {
        if let Some(pieces) = self.ctx.frame().pieces().filter(|pieces| !pieces.has_begun())
            && let Some(text) = self.output.written(response)
        {
            pieces.push(&text);
        }
    }

    /// Emits the pieces of an answer, and returns the whole.
    pub(super) async fn collect(
        &self,
        stream: ResponseStream,
        progress: &mut StreamProgress,
    ) -> Result<Response, ProviderError> {
        let mut uses = ToolUses::default();
        let answer = self.read_stream(stream, &mut uses, progress).await;
        let parts = answer.as_ref().map(|response| &*response.parts).map_err(|_| "the answer was interrupted");
        uses.complete(parts).into_iter().for_each(|kind| self.ctx.emit(|| kind));
        answer
    }

    async fn read_stream(
        &self,
        mut stream: ResponseStream,
        uses: &mut ToolUses,
        progress: &mut StreamProgress,
    ) -> Result<Response, ProviderError> {
        while let Some(event) = stream.next().await {
            let event = event?;
            self.pass_on(&event);
            let delta = match event {
                StreamEvent::Done(response) => return Ok(response),
                StreamEvent::Waiting { on } => {
                    self.ctx.emit(|| EventKind::ModelWaiting { on });
                    continue;
                }
                StreamEvent::Text(text) => {
                    self.keep_partial(&text);
                    Delta::Text(text)
                }
                StreamEvent::Thinking(text) => Delta::Thinking(text),
                StreamEvent::ToolCall { arguments, .. } => Delta::Arguments(arguments),
                StreamEvent::ServerSideTool { name, input } => {
                    progress.has_begun = true;
                    progress.has_run_tools = true;
                    let kind = uses.start(name, input);
                    self.ctx.emit(|| kind);
                    continue;
                }
                StreamEvent::ServerSideToolDone { name, input, error } => {
                    uses.finish(&name, &input, error).into_iter().for_each(|kind| self.ctx.emit(|| kind));
                    continue;
                }
                _ => continue,
            };
            progress.has_begun = true;
            self.ctx.emit(|| EventKind::ModelDelta { delta });
        }
        let text = "the stream ended before the answer was complete; retry the request";
        Err(ProviderError::new(&*self.model.name, ErrorKind::Transport, text))
    }

    /// Emits the parts of an answer that was not streamed.
    pub(super) fn show_pieces(&self, response: &Response) {
        if !self.ctx.is_observed() {
            return;
        }
        for part in &response.parts {
            let delta = match part {
                ResponsePart::Text { text } => Delta::Text(text.clone()),
                ResponsePart::Thinking(thought) => Delta::Thinking(thought.text.clone()),
                ResponsePart::ToolCall(call) => Delta::Arguments(call.arguments.clone()),
                ResponsePart::ServerSideTool(used) if !used.is_result_alone() => {
                    for kind in started_and_finished(used) {
                        self.ctx.emit(|| kind);
                    }
                    continue;
                }
                _ => continue,
            };
            self.ctx.emit(|| EventKind::ModelDelta { delta });
        }
    }
}
