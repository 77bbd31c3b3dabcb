//! Accumulates an answer of the Gemini API, whole or streamed.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::convert::CandidateFinish;
use super::stream::GeminiAccumulator;
use super::wire::Chunk;
use crate::error::{ErrorKind, ProviderError};
use crate::exchange::{Absorbed, ResponseAccumulator, invalid_json, malformed, protocol_error, reported};
use crate::http::{Endpoint, Event, has_content};
use crate::model::StreamEvent;
use crate::response::Response;

impl ResponseAccumulator for GeminiAccumulator {
    fn absorb_whole(&mut self, server: &Endpoint, body: &[u8]) -> Result<(), ProviderError> {
        let text = str::from_utf8(body).map_err(|_| protocol_error(server, "the answer is not UTF-8"))?;
        absorb(self, server, text, &mut VecDeque::new()).map(|_| ())
    }

    fn absorb(
        &mut self,
        server: &Endpoint,
        event: &Event,
        ready: &mut VecDeque<StreamEvent>,
    ) -> Result<Absorbed, ProviderError> {
        if event.data.trim() == "[DONE]" {
            return Ok(Absorbed::More);
        }
        // Only the end of the body ends the stream.
        absorb(self, server, &event.data, ready)
    }

    fn parts(&self) -> usize {
        self.count()
    }

    fn is_finished(&self) -> bool {
        self.finish_reason().is_some()
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

/// Takes a piece, or the list of pieces that servers send to clients that do not request events.
fn absorb(
    answer: &mut GeminiAccumulator,
    server: &Endpoint,
    json: &str,
    ready: &mut VecDeque<StreamEvent>,
) -> Result<Absorbed, ProviderError> {
    let is_list = json.trim_ascii_start().starts_with('[');
    if !is_list {
        let chunk = serde_json::from_str(json).map_err(|error| invalid_json(server, &error))?;
        return take(answer, server, chunk, ready);
    }
    let chunks: Vec<Chunk<'_>> = serde_json::from_str(json).map_err(|error| invalid_json(server, &error))?;
    chunks.into_iter().try_for_each(|chunk| take(answer, server, chunk, ready).map(|_| ()))?;
    Ok(Absorbed::More)
}

fn take(
    answer: &mut GeminiAccumulator,
    server: &Endpoint,
    mut chunk: Chunk<'_>,
    ready: &mut VecDeque<StreamEvent>,
) -> Result<Absorbed, ProviderError> {
    if let Some(error) = chunk.error.as_ref().filter(|error| has_content(error)) {
        return Err(reported(server, error));
    }
    let is_known = chunk.candidates.is_some() || chunk.usage_metadata.is_some() || chunk.prompt_feedback.is_some();
    let blocked = chunk.prompt_feedback.take().and_then(|feedback| feedback.block_reason);
    answer.take(chunk, ready);
    if let Some(reason) = blocked.filter(|_| !answer.has_begun()) {
        return Err(refused(server, &reason));
    }
    match answer.finish_reason() {
        Some(CandidateFinish::Malformed) => Err(malformed(server)),
        Some(CandidateFinish::UnexpectedCall) if !answer.has_call() => Err(malformed(server)),
        _ if is_known => Ok(Absorbed::More),
        _ => Ok(Absorbed::Unknown),
    }
}

/// The error for a prompt that the filter stopped, so that there is no answer.
fn refused(server: &Endpoint, reason: &str) -> ProviderError {
    let is_word = reason.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') && reason.len() <= 64;
    let reason = if is_word { format!(" ({reason})") } else { String::new() };
    let text = format!("the provider's content filter refused the request{reason}; rephrase the request");
    ProviderError::new(server.provider, ErrorKind::ContentFilter, text).with_status(200)
}
