//! A running call of a client, until it finishes or makes a request to its client.

use std::future::IntoFuture;
use std::sync::Arc;

use futures_util::FutureExt;
use futures_util::future::{Either, Ready, ready};
use llm_do_core::base::error::CallError;
use llm_do_core::declare::tool::ToolReturn;
use llm_do_core::observe::event::{Event, EventReceiver, event_channel};
use llm_do_core::plane::mailbox::Mailbox;
use llm_do_core::session::runtime::{RunHandle, Runtime};
use rmcp::model::ClientCapabilities;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinHandle};

use super::ask::{Ask, Asker};
use super::caller::McpClient;
use super::report::Reports;

/// The capacity of the queue of events for a client.
const EVENT_CAPACITY: usize = 256;

type Returned = Result<ToolReturn, CallError>;

/// A run on behalf of a client; dropping it cancels the run.
#[derive(Debug)]
pub(super) struct OpenCall {
    name: String,
    run: Either<Ready<Result<Returned, JoinError>>, JoinHandle<Returned>>,
    handle: RunHandle,
    asks: mpsc::UnboundedReceiver<Ask>,
    events: Option<EventReceiver>,
}

/// The next step of a call.
#[derive(Debug)]
pub(super) enum Step {
    Finished(Returned),
    /// The call has requests for its client; never empty.
    Asked(Vec<Ask>),
}

impl OpenCall {
    /// Starts a gated run, in a separate task unless it finishes immediately: spawning a task wakes another thread.
    pub(super) fn start(runtime: &Runtime, name: &str, arguments: Value, wanted: &Wanted) -> Self {
        let (asker, asks) = Asker::new();
        let mut start = runtime.start_named(name, arguments).with_files().gated();
        if wanted.is_prompt {
            start = start.prompt_only();
        }
        start = start.state(McpClient::new(wanted.capabilities.clone(), asker.clone()));
        if wanted.asks_client {
            start = start.approver(asker.clone()).input_handler(asker);
        }
        let mut events = None;
        if wanted.has_reports {
            let (sink, receiver) = event_channel(EVENT_CAPACITY);
            start = start.sink(sink);
            events = Some(receiver);
        }
        let handle = start.handle();
        let mut run = Box::pin(wanted.traced(name, start.into_future()));
        let run = match run.as_mut().now_or_never() {
            Some(returned) => Either::Left(ready(Ok(returned))),
            None => Either::Right(tokio::spawn(run)),
        };
        Self { name: name.to_owned(), run, handle, asks, events }
    }

    /// Returns the messages to its run.
    pub(super) fn mailbox(&self) -> Arc<Mailbox> {
        self.handle.mailbox()
    }

    /// Waits until the call finishes or has requests, and reports its events meanwhile.
    ///
    /// It is cancel safe.
    pub(super) async fn next(&mut self, reports: &mut Reports) -> Step {
        self.step(Some(reports)).await
    }

    /// Waits like [`next`](Self::next), without reports.
    pub(super) async fn next_unreported(&mut self) -> Step {
        self.events = None;
        self.step(None).await
    }

    async fn step(&mut self, mut reports: Option<&mut Reports>) -> Step {
        loop {
            tokio::select! {
                biased;
                Some(event) = next_event(&mut self.events) => report(&mut reports, &event).await,
                Some(ask) = self.asks.recv() => {
                    let others = std::iter::from_fn(|| self.asks.try_recv().ok());
                    let asks: Vec<_> = std::iter::once(ask).chain(others).filter(Ask::is_open).collect();
                    if !asks.is_empty() {
                        return Step::Asked(asks);
                    }
                }
                result = &mut self.run => {
                    while let Some(event) = self.events.as_mut().and_then(EventReceiver::try_recv) {
                        report(&mut reports, &event).await;
                    }
                    // A run does not panic: only the end of the async runtime stops it.
                    let stopped = |_| Err(CallError::Cancelled { tool: self.name.clone() });
                    return Step::Finished(result.unwrap_or_else(stopped));
                }
            }
        }
    }
}

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.handle.cancel();
    }
}

async fn next_event(events: &mut Option<EventReceiver>) -> Option<Arc<Event>> {
    match events {
        Some(receiver) => receiver.recv().await,
        None => None,
    }
}

async fn report(reports: &mut Option<&mut Reports>, event: &Arc<Event>) {
    if let Some(reports) = reports {
        reports.send(event).await;
    }
}

/// The client's options for a call.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Whether the result is the prompt of a worker.
    pub(super) is_prompt: bool,
    pub(super) capabilities: ClientCapabilities,
    /// Whether approvals and questions go to the client.
    pub(super) asks_client: bool,
    /// Whether the client receives any events.
    pub(super) has_reports: bool,
    /// The client's trace, in the form of the W3C header `traceparent`.
    pub(super) trace_parent: Option<String>,
}

impl Wanted {
    /// Puts the spans of a run into a span that names the client's trace.
    #[cfg(feature = "tracing")]
    fn traced<F: Future>(&self, name: &str, run: F) -> impl Future<Output = F::Output> + use<F> {
        use tracing::Instrument;

        let parent = self.trace_parent.as_deref();
        let span = tracing::info_span!(
            target: "llm_do",
            "mcp",
            "otel.name" = format!("tools/call {name}"),
            "otel.kind" = "server",
            "mcp.method.name" = "tools/call",
            "gen_ai.tool.name" = name,
            "traceparent" = parent,
        );
        run.instrument(span)
    }

    #[cfg(not(feature = "tracing"))]
    fn traced<F: Future>(&self, _: &str, run: F) -> F {
        let _ = &self.trace_parent;
        run
    }
}
