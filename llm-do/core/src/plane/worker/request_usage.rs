//! Counts the usage of a worker's requests, including failed ones, so that retries reach the limits too.

use std::sync::Arc;

use llm_do_providers::{ErrorKind, ProviderError, Response, Unpriced, Usage};

use super::batch::BatchPlace;
use super::{RequestParts, WorkerRun};
use crate::base::error::CallError;
use crate::observe::event::EventKind;
use crate::observe::journal::StepSpec;
use crate::plane::context::ReservedRequest;

/// A request that was sent. If it is dropped, cancelled or interrupted before an answer, it counts with what its broken answers
/// used; the usage of the attempt in flight is unknown.
struct InFlightRequest {
    run: Arc<WorkerRun>,
    reserved: Arc<ReservedRequest>,
    lost: Usage,
    is_finished: bool,
}

impl Drop for InFlightRequest {
    fn drop(&mut self) {
        if !self.is_finished {
            self.run.count(&self.reserved, None, &self.lost);
        }
    }
}

impl WorkerRun {
    /// Sends a request after `answers` answers, and waits for its own; a broken one is asked for again, up to `repeats` times.
    ///
    /// A message to the run may interrupt it: its answer is then the text that has arrived.
    pub(super) async fn send(
        self: Arc<Self>,
        parts: RequestParts,
        answers: u32,
        repeats: u32,
        reserved: Arc<ReservedRequest>,
        step: Option<StepSpec>,
    ) -> Result<Response, CallError> {
        let mut in_flight = InFlightRequest { run: self, reserved, lost: Usage::default(), is_finished: false };
        let InFlightRequest { run, lost, .. } = &mut in_flight;
        let place = BatchPlace::new(step.as_ref());
        let interrupted = async {
            run.interrupted().await;
            place.give_up();
        };
        let answer = tokio::select! {
            biased;
            answer = run.answer_or_repeat(&parts, answers, repeats, lost, &place) => answer,
            () = interrupted => Ok(run.interrupted_answer(*lost)),
        };
        in_flight.is_finished = !matches!(answer, Err(CallError::Cancelled { .. }));
        answer
    }

    /// Counts a finished request.
    ///
    /// The journal records failed requests too, so they count again in a replay. If the failure failed the run, the
    /// request is sent again when the run is resumed, and counts with its new usage.
    pub(super) fn count_finished(&self, reserved: &ReservedRequest, answer: Result<&Response, &CallError>) {
        match answer {
            Ok(response) => self.count(reserved, response.answered_by.as_deref(), &response.usage),
            Err(CallError::Model { source, .. }) if was_sent(source) => {
                let arrived = source.partial_response();
                let usage = arrived.map(|arrived| arrived.usage).unwrap_or_default();
                self.count(reserved, arrived.and_then(|arrived| arrived.answered_by.as_deref()), &usage);
                self.ctx.emit(|| EventKind::Usage { used: self.ctx.usage() });
            }
            Err(_) => {}
        }
    }

    /// Returns the charges that a request may have without a known price; `None` if the price of the model is unknown.
    pub(super) fn unpriced(&self, parts: &RequestParts) -> Option<Unpriced> {
        let tools = parts.server_side_tools.as_deref().unwrap_or(&self.server_side_tools);
        let settings = self.settings_of(parts);
        self.model.price().map(|price| price.unpriced(tools, settings.priced_tier()))
    }

    fn count(&self, reserved: &ReservedRequest, answered_by: Option<&str>, usage: &Usage) {
        // A fallback model may have answered instead of the first one.
        let (by, price) = match answered_by.filter(|by| **by != *self.model.name) {
            Some(by) => (Arc::from(by), self.prices.price(by)),
            None => (Arc::clone(&self.model.name), self.model.price()),
        };
        reserved.count(&by, usage, price.map(|price| price.charge(usage)));
    }
}

/// Returns whether a failed request was sent. It was not if the configuration is incomplete or the model does not
/// support it.
fn was_sent(error: &ProviderError) -> bool {
    let may_be_unsent = match error.kind() {
        ErrorKind::Configuration => true,
        ErrorKind::InvalidRequest => error.status().is_none(),
        _ => false,
    };
    !may_be_unsent || error.partial_response().is_some()
}
