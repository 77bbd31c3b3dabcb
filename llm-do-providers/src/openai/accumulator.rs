//! Accumulates an answer of chat completions, whole or streamed.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::fault;
use super::stream::ChatAccumulator;
use super::wire::Chunk;
use crate::error::ProviderError;
use crate::exchange::{ResponseAccumulator, invalid_json};
use crate::http::Endpoint;
use crate::model::StreamEvent;
use crate::response::Response;

impl ResponseAccumulator for ChatAccumulator {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let chunk = serde_json::from_slice(body).map_err(|error| invalid_json(server, &error))?;
        self.read(server, chunk, None)
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        data: &str,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<bool, ProviderError> {
        // Most pieces are objects, which need no look at their end.
        if !data.starts_with('{') && data.trim() == "[DONE]" {
            return Ok(false);
        }
        let chunk = serde_json::from_str(data).map_err(|error| invalid_json(server, &error))?;
        self.read(server, chunk, Some(ready))?;
        Ok(true)
    }

    fn is_finished(&self) -> bool {
        self.has_finished()
    }

    fn fault(&self) -> Option<&'static str> {
        self.has_fault()
    }

    fn complete(self) -> Response {
        self.into_response()
    }

    fn partial_response(self) -> Response {
        self.into_arrived()
    }
}

impl ChatAccumulator {
    /// Takes an answer, or a piece of one with its events.
    fn read(
        &mut self,
        server: &Endpoint,
        chunk: Chunk<'_>,
        ready: Option<&mut VecDeque<StreamEvent>>,
    ) -> Result<(), ProviderError> {
        let Some(error) = fault::find(server, &chunk, self.has_call()) else {
            self.take(chunk, ready);
            return Ok(());
        };
        // Content that came with an error is kept, but not shown: then the request can still be retried.
        self.take(chunk, None);
        let arrived = self.clone().into_arrived();
        Err(if arrived.parts.is_empty() { error } else { error.with_partial_response(arrived) })
    }
}
