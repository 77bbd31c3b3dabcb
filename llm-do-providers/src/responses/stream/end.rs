//! The end of an answer: the whole answer again, or the completion of the events before.

use std::mem;

use serde::Deserialize;
use serde_json::Value;

use super::{End, PendingCall, ResponsesAccumulator, item, put_arguments, usage};
use crate::error::ProviderError;
use crate::exchange::reported;
use crate::http::{Endpoint, has_content};
use crate::lenient::{list, text};
use crate::message::{FinishReason, ResponsePart};
use crate::responses::fault;

/// The whole answer.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Whole {
    #[serde(deserialize_with = "text")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "text")]
    model: Option<String>,
    error: Value,
    incomplete_details: Value,
    #[serde(deserialize_with = "list")]
    output: Option<Vec<Value>>,
    usage: Value,
    #[serde(deserialize_with = "text")]
    service_tier: Option<String>,
}

impl ResponsesAccumulator {
    /// Adds the whole answer, which may be an error.
    pub(super) fn end(&mut self, server: &Endpoint, whole: Whole) -> Result<(), ProviderError> {
        self.update_usage(&whole.usage);
        self.tier.report(whole.service_tier.as_deref());
        if has_content(&whole.error) || whole.status.as_deref() == Some("failed") {
            return Err(reported(server, &whole.error));
        }
        if let Some(error) = whole.status.as_deref().and_then(|status| fault::unfinished(server, status)) {
            return Err(error);
        }
        let is_complete = whole.status.as_deref() == Some("completed");
        match whole.output.filter(|output| !output.is_empty()) {
            Some(output) => self.replace_items(output, is_complete),
            None => self.complete_items(is_complete),
        }
        let reason = match whole.incomplete_details["reason"].as_str() {
            _ if self.refused => Some(FinishReason::ContentFilter),
            Some("max_output_tokens") => Some(FinishReason::Length),
            Some("content_filter") => Some(FinishReason::ContentFilter),
            Some(_) => Some(FinishReason::Other),
            None => None,
        };
        self.end = Some(End { model: whole.model, reason, is_complete });
        Ok(())
    }

    /// Replaces the items by those of the whole answer; text that these lack is taken from the stream.
    fn replace_items(&mut self, output: Vec<Value>, is_complete: bool) {
        let streamed = mem::take(&mut self.parts).into_iter().filter_map(|part| match part {
            ResponsePart::Text { text } => Some(text),
            _ => None,
        });
        let text = streamed.collect::<String>() + &mem::take(&mut self.text);
        let (mut calls, mut text_place) = (0, None);
        for mut item in output {
            match item["type"].as_str() {
                Some("function_call") => {
                    // Cut-off arguments are not used.
                    let call = self.call_of_item(&item, calls).filter(|call| is_complete || call.is_whole);
                    put_arguments(&mut item, call);
                    calls += 1;
                    text_place.get_or_insert(self.parts.len());
                }
                Some("message") => _ = text_place.get_or_insert(self.parts.len()),
                _ => {}
            }
            self.refused |= item::add_parts(item, &mut self.parts);
        }
        let has_text = self.parts.iter().any(|part| matches!(part, ResponsePart::Text { .. }));
        if !has_text && !text.is_empty() {
            self.parts.insert(text_place.unwrap_or(self.parts.len()), ResponsePart::Text { text });
        }
    }

    /// Returns the started call of an item of the whole answer; `number` is the index of the item among calls.
    fn call_of_item(&self, item: &Value, number: usize) -> Option<&PendingCall> {
        let is_same = |call: &PendingCall, key: &str| {
            item[key].as_str().is_some_and(|id| !id.is_empty() && call.item[key].as_str() == Some(id))
        };
        let by_id = self.calls.iter().find(|call| is_same(call, "id") || is_same(call, "call_id"));
        by_id.or_else(|| self.calls.get(number).filter(|call| item["name"] == *call.name))
    }

    /// Updates the usage with newer counts, which only grow.
    fn update_usage(&mut self, tokens: &Value) {
        let newer = usage::usage(tokens);
        let update = |figure: &mut u64, newer: u64| {
            if newer > 0 {
                *figure = newer;
            }
        };
        update(&mut self.usage.input_tokens, newer.input_tokens);
        update(&mut self.usage.output_tokens, newer.output_tokens);
        update(&mut self.usage.cached_tokens, newer.cached_tokens);
        update(&mut self.usage.cache_write_tokens, newer.cache_write_tokens);
        update(&mut self.usage.reasoning_tokens, newer.reasoning_tokens);
    }

    /// Completes the items without an end event, if the answer is complete.
    fn complete_items(&mut self, is_complete: bool) {
        if !self.text.is_empty() {
            self.parts.push(ResponsePart::Text { text: mem::take(&mut self.text) });
        }
        for PendingCall { mut item, arguments, .. } in self.calls.drain(..).filter(|call| is_complete && !call.is_whole)
        {
            if !arguments.is_empty() {
                item["arguments"] = arguments.into();
            }
            item::add_parts(item, &mut self.parts);
        }
    }
}
