//! Accumulates an answer of chat completions, whole or streamed.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::fault;
use super::stream::ChatAccumulator;
use super::wire::Chunk;
use crate::error::ProviderError;
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json};
use crate::http::{Endpoint, Event};
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
        event: &Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        let data = &*event.data;
        // Most pieces are objects, which need no look at their end.
        if !data.starts_with('{') && matches!(data.trim(), "[DONE]" | "\"[DONE]\"" | "DONE") {
            return Ok(Absorbed::End);
        }
        let chunk: Chunk<'_> = serde_json::from_str(data).map_err(|error| invalid_json(server, &error))?;
        let is_known = chunk.choices.is_some() || chunk.usage.is_some() || chunk.x_groq.is_some();
        self.read(server, chunk, Some(ready))?;
        Ok(if is_known { Absorbed::More } else { Absorbed::Unknown })
    }

    fn parts(&self) -> usize {
        self.count()
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
