//! A single answer of a model, for a call that is not a worker.

use std::sync::Arc;

use llm_do_providers::{Message, Response};

use super::WorkerRun;
use super::turn::{Limits, Turns};
use crate::base::error::CallError;
use crate::plane::context::StepOutcome;

impl WorkerRun {
    /// Asks the model once, and returns its response, even if that was cut off.
    pub(crate) async fn respond(self, messages: Vec<Message>) -> Result<Response, CallError> {
        let turns = Turns::new(messages, 0, Limits { max_turns: 1, retries: 0 });
        let run = Arc::new(self);
        match run.unless_cancelled(run.exchange(&turns)).await? {
            (StepOutcome { value: response, .. }, None) => Ok(response),
            (_, Some(reason)) => Err(CallError::GaveUp { worker: run.ctx.name().to_owned(), message: reason }),
        }
    }
}
