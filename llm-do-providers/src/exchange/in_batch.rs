//! An exchange whose requests go to a batch.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{Exchange, ResponseAccumulator};
use crate::batch::Batcher;
use crate::batched::{BatchAnswer, BatchStep, BatchTicket, BatchedExchange, OpenRequest};
use crate::error::ProviderError;
use crate::response::Response;
use crate::usage::ServiceTier;

/// An exchange, and the batches that its requests go to.
pub(super) struct InBatch<F> {
    pub(super) exchange: Exchange<F>,
    pub(super) batcher: Arc<Batcher>,
}

impl<F, G> BatchedExchange for InBatch<F>
where
    F: Fn() -> G + Send + 'static,
    G: ResponseAccumulator,
{
    fn submit(&self) -> BoxFuture<'static, Result<BatchTicket, ProviderError>> {
        self.batcher.submit(self.exchange.call.shared_body())
    }

    fn submitted(&self, ticket: BatchTicket) -> Result<Box<dyn OpenRequest>, ProviderError> {
        self.batcher.submitted(ticket)
    }

    fn read(&mut self, answer: BatchAnswer) -> Result<BatchStep, ProviderError> {
        let exchange = &mut self.exchange;
        match answer.and_then(|body| exchange.read(&body)) {
            Ok(answer) => Ok(match exchange.finish_or_continue(answer) {
                Some(response) => BatchStep::Done(Box::new(charged(response))),
                None => BatchStep::Again(Duration::ZERO),
            }),
            Err(error) => match exchange.after(error) {
                Ok(delay) => Ok(BatchStep::Again(delay.wait)),
                Err(mut error) => Err(match error.take_partial_response() {
                    Some(arrived) => error.with_partial_response(charged(arrived)),
                    None => error,
                }),
            },
        }
    }
}

/// Returns the response with the tier of batches, unless another tier makes its price unknown.
fn charged(mut response: Response) -> Response {
    if response.usage.other_tier_requests == 0 {
        response.usage = response.usage.at_tier(ServiceTier::Batch);
    }
    response
}
