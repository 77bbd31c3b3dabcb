//! What the requests of a worker used, whatever became of them: whoever asks anew after a failure meets the limits too.

use std::sync::Arc;

use llm_do_providers::{ErrorKind, ProviderError, Response, Usage};

use super::{Asked, WorkerRun};
use crate::base::error::CallError;
use crate::observe::event::EventKind;
use crate::plane::context::ReservedRequest;

/// A request that a model was given; it counts if it is given up, since nobody will say then what became of it.
struct OnItsWay {
    run: Arc<WorkerRun>,
    under_way: Arc<ReservedRequest>,
    has_ended: bool,
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        if !self.has_ended {
            self.run.count(&self.under_way, None, Usage::default());
        }
    }
}

impl WorkerRun {
    /// Sends a request, after so many answers, and waits for its own.
    pub(super) async fn send(
        self: Arc<Self>,
        asked: Asked,
        answers: u32,
        under_way: Arc<ReservedRequest>,
    ) -> Result<Response, CallError> {
        let mut on_its_way = OnItsWay { run: self, under_way, has_ended: false };
        let answer = on_its_way.run.answer(&asked, answers).await;
        on_its_way.has_ended = true;
        answer
    }

    /// Counts a request that has ended.
    ///
    /// A journal keeps one that failed too, so that it counts again in a replay. If the failure ended the run, it is made
    /// again when the run is started again, and counts as what it is by then.
    pub(super) fn count_ended(&self, under_way: &ReservedRequest, answer: &Result<Response, CallError>) {
        match answer {
            Ok(response) => self.count(under_way, response.answered_by.as_deref(), response.usage),
            Err(CallError::Model { source, .. }) if was_sent(source) => {
                let arrived = source.arrived();
                let usage = arrived.map(|arrived| arrived.usage).unwrap_or_default();
                self.count(under_way, arrived.and_then(|arrived| arrived.answered_by.as_deref()), usage);
                self.ctx.emit(|| EventKind::Usage { used: self.ctx.usage() });
            }
            Err(_) => {}
        }
    }

    fn count(&self, under_way: &ReservedRequest, answered_by: Option<&str>, usage: Usage) {
        // Of a row of models another may have answered than the first.
        let by = answered_by.map_or_else(|| Arc::clone(&self.model_name), Arc::from);
        let cost = self.prices.price(&by).map(|price| price.cost(&usage));
        under_way.count(&by, usage, cost);
    }
}

/// Whether a request that failed was sent at all: something may be missing for it, or the model not take what is asked.
fn was_sent(error: &ProviderError) -> bool {
    let may_be_unsent = match error.kind() {
        ErrorKind::Configuration => true,
        ErrorKind::InvalidRequest => error.status().is_none(),
        _ => false,
    };
    !may_be_unsent || error.arrived().is_some()
}
