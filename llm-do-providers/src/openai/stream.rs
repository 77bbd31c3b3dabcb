//! How an answer grows by chat completions, whole or streamed.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use serde_json::json;

use super::answer::Answer;
use super::wire::Chunk;
use crate::error::ProviderError;
use crate::exchange::{Growing, unread};
use crate::http::{Endpoint, reported};
use crate::model::StreamEvent;
use crate::response::Response;

impl Growing for Answer {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let chunk = serde_json::from_slice(body).map_err(|error| unread(server, &error))?;
        self.take(honest(server, chunk)?, &mut VecDeque::new());
        Ok(())
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        data: &str,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<bool, ProviderError> {
        if data.trim() == "[DONE]" {
            return Ok(false);
        }
        let chunk = serde_json::from_str(data).map_err(|error| unread(server, &error))?;
        self.take(honest(server, chunk)?, ready);
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

    fn arrived(self) -> Response {
        self.into_arrived()
    }
}

/// Returns an answer, or a piece of one, unless it is an error in disguise.
fn honest<'a>(server: &Endpoint, chunk: Chunk<'a>) -> Result<Chunk<'a>, ProviderError> {
    if let Some(error) = chunk.error.as_ref().or(chunk.x_groq.as_ref().and_then(|groq| groq.error.as_ref())) {
        return Err(reported(server.provider, &server.key_hint, error));
    }
    if chunk.object.as_ref().is_some_and(|object| object.as_str() == "error") {
        let error = json!({ "code": chunk.code, "type": chunk.kind, "message": chunk.message });
        return Err(reported(server.provider, &server.key_hint, &error));
    }
    Ok(chunk)
}
