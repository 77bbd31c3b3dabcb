//! Anthropic's Message Batches API.
//!
//! By <https://platform.claude.com/docs/en/build-with-claude/batch-processing> and
//! <https://platform.claude.com/docs/en/api/messages/batches> (read 2026-11-29): a batch has up to 100,000 requests, of up to
//! 256 MB, to any models. It is `in_progress`, `canceling` and then `ended`, at the latest after 24 hours. Each result is
//! `succeeded`, `errored`, `canceled` or `expired`, of which only the first is charged; results are lines in any order, by
//! `custom_id`, and can be read for 29 days.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fault;
use crate::batch::{self, BatchApi, BatchLimits, BatchLine, Batcher, Deliver, Look};
use crate::batched::{BatchAnswer, BatchPace};
use crate::error::ProviderError;
use crate::http::{Endpoint, PreparedRequest};

/// The batches of an account.
struct Batches {
    endpoint: Arc<Endpoint>,
    /// The headers of each request.
    call: PreparedRequest,
    /// The path of all batches.
    path: String,
}

/// A line of the results.
#[derive(Deserialize)]
struct Line<'a> {
    custom_id: String,
    #[serde(borrow)]
    result: LineResult<'a>,
}

#[derive(Deserialize)]
struct LineResult<'a> {
    r#type: String,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    error: Option<Value>,
}

/// Returns the batcher of requests with these headers.
pub(super) fn batcher(endpoint: &Arc<Endpoint>, call: &PreparedRequest, pace: BatchPace) -> Arc<Batcher> {
    batch::shared(endpoint.account(call), pace, || Batches {
        endpoint: endpoint.for_call(call),
        call: call.with_body(""),
        path: format!("{}/v1/messages/batches", endpoint.path_before("/v1/messages")),
    })
}

impl Batches {
    fn at(&self, path: &str) -> Endpoint {
        self.endpoint.at(&format!("{}{path}", self.path))
    }

    fn answer(&self, result: LineResult<'_>) -> BatchAnswer {
        match (&*result.r#type, result.message) {
            ("succeeded", Some(message)) => Ok(message.get().as_bytes().to_vec()),
            ("expired", _) => Err(batch::expired(self.provider())),
            ("canceled", _) => Err(batch::cancelled(self.provider())),
            _ => {
                let error = result.error.unwrap_or_default();
                // The error of a request is in an error of its result.
                let inner = if error["error"].is_object() { &error["error"] } else { &error };
                Err(fault::reported(&self.endpoint, inner))
            }
        }
    }
}

#[async_trait]
impl BatchApi for Batches {
    fn provider(&self) -> &'static str {
        self.endpoint.provider
    }

    fn limits(&self) -> BatchLimits {
        BatchLimits { requests: 100_000, bytes: 250_000_000, within: Duration::from_secs(24 * 60 * 60) }
    }

    async fn submit(&self, requests: &[BatchLine]) -> Result<String, ProviderError> {
        let call = self.call.with_body(list(requests));
        let batch = self.at("").post_json(&call).await.map_err(batch::no_api)?;
        batch::id(self.provider(), &batch["id"])
    }

    async fn look(&self, batch: &str, deliver: Deliver<'_>) -> Result<Look, ProviderError> {
        const SIZE: usize = 1 << 20;
        let state = self.at(&format!("/{batch}")).read_json(&self.call, SIZE).await?;
        if state["processing_status"] != "ended" {
            let count = |key: &str| state["request_counts"][key].as_u64().unwrap_or_default();
            let ended: u64 = ["succeeded", "errored", "canceled", "expired"].map(count).into_iter().sum();
            return Ok(Look::Running { ended, requests: ended + count("processing") });
        }
        let mut read = |line: &[u8]| {
            if let Ok(Line { custom_id, result }) = serde_json::from_slice(line) {
                deliver(&custom_id, self.answer(result));
            }
        };
        // Not at its `results_url`, which could be at another server.
        self.at(&format!("/{batch}/results")).read_lines(&self.call, &mut read).await?;
        Ok(Look::Ended(None))
    }

    async fn cancel(&self, batch: &str) -> Result<(), ProviderError> {
        self.at(&format!("/{batch}/cancel")).post_json(&self.call.with_body("{}")).await.map(drop)
    }
}

/// Returns the body that creates a batch.
fn list(requests: &[BatchLine]) -> Vec<u8> {
    let mut list = b"{\"requests\":[".to_vec();
    for (index, BatchLine { id, body }) in requests.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        list.extend_from_slice(format!("{comma}{{\"custom_id\":\"{id}\",\"params\":").as_bytes());
        list.extend_from_slice(body);
        list.push(b'}');
    }
    list.extend_from_slice(b"]}");
    list
}
