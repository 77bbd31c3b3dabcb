//! The Gemini Batch API, with the requests in the batch itself.
//!
//! By <https://ai.google.dev/gemini-api/docs/batch-api> and <https://ai.google.dev/api/batch-api> (read 2026-11-29): a batch is of one
//! model, and a request that creates one has up to 20 MB; larger ones are split into several batches, in place of a file. A batch is
//! `BATCH_STATE_PENDING`, `BATCH_STATE_RUNNING`, and then `BATCH_STATE_SUCCEEDED`, `BATCH_STATE_FAILED`, `BATCH_STATE_CANCELLED` or,
//! after 48 hours, `BATCH_STATE_EXPIRED`, without results; the clients of Google call the states `JOB_STATE_..`. Each answer, or
//! its error, has the `metadata` of its request. Cached tokens are priced the same as in single requests.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};

use crate::batch::{self, BatchApi, BatchLimits, BatchLine, Batcher, Deliver, Look};
use crate::batched::{BatchAnswer, BatchPace};
use crate::error::ProviderError;
use crate::exchange;
use crate::http::{Endpoint, PreparedRequest};

/// The path of the batches.
const BATCHES: &str = "batches/";
/// The end of the path of single requests.
const SINGLE: &str = ":generateContent";

/// The batches of one model.
struct Batches {
    endpoint: Arc<Endpoint>,
    /// The headers of each request.
    call: PreparedRequest,
    /// The path of the version of the API.
    version: String,
}

/// Returns the batcher of requests with these headers to the model of an endpoint.
pub(super) fn batcher(endpoint: &Arc<Endpoint>, model: &str, call: &PreparedRequest, pace: BatchPace) -> Arc<Batcher> {
    let folder = if model.contains('/') { "/" } else { "/models/" };
    batch::shared(endpoint.account(call), pace, || Batches {
        endpoint: endpoint.for_call(call),
        call: call.with_body(""),
        version: endpoint.path_before(&format!("{folder}{model}{SINGLE}")).to_owned(),
    })
}

impl Batches {
    fn at(&self, batch: &str) -> Endpoint {
        self.endpoint.at(&format!("{}/{BATCHES}{batch}", self.version))
    }

    fn answer(&self, inlined: &Value) -> BatchAnswer {
        let error = &inlined["error"];
        if error.is_null() {
            return Ok(inlined["response"].to_string().into_bytes());
        }
        Err(self.endpoint.refusal(status(&error["code"]), json!({ "error": error }).to_string().as_bytes()))
    }
}

#[async_trait]
impl BatchApi for Batches {
    fn provider(&self) -> &'static str {
        self.endpoint.provider
    }

    /// Returns fewer requests than Google accepts, since all answers arrive in one JSON value.
    fn limits(&self) -> BatchLimits {
        BatchLimits { requests: 1_000, bytes: 19_000_000, within: Duration::from_secs(48 * 60 * 60) }
    }

    async fn submit(&self, requests: &[BatchLine]) -> Result<String, ProviderError> {
        let path = format!("{}:batchGenerateContent", self.endpoint.path_before(SINGLE));
        let call = self.call.with_body(list(requests));
        let batch = self.endpoint.at(&path).post_json(&call).await.map_err(batch::no_api)?;
        let name = batch["name"].as_str().and_then(|name| name.strip_prefix(BATCHES));
        batch::id(self.provider(), &name.into())
    }

    async fn look(&self, batch: &str, deliver: Deliver<'_>) -> Result<Look, ProviderError> {
        const SIZE: usize = 512 << 20;
        let batch = self.at(batch).read_json(&self.call, SIZE).await?;
        let state = batch["metadata"]["state"].as_str().or(batch["state"].as_str()).unwrap_or_default();
        let reason = match state.rsplit('_').next() {
            Some("SUCCEEDED") => None,
            Some("EXPIRED") => Some(batch::expired(self.provider())),
            Some("CANCELLED") => Some(batch::cancelled(self.provider())),
            Some("FAILED") => Some(batch::failed(exchange::reported(&self.endpoint, &batch["error"]))),
            _ if batch["done"] == true => None,
            _ => return Ok(running(&batch["metadata"]["batchStats"])),
        };
        for inlined in inlined(&batch) {
            if let Some(key) = inlined["metadata"]["key"].as_str() {
                deliver(key, self.answer(inlined));
            }
        }
        Ok(Look::Ended(reason))
    }

    async fn cancel(&self, batch: &str) -> Result<(), ProviderError> {
        self.at(&format!("{batch}:cancel")).post_json(&self.call.with_body("{}")).await.map(drop)
    }
}

/// Returns the state of a batch by its statistics, whose numbers are texts.
fn running(stats: &Value) -> Look {
    let count = |key: &str| {
        let count = &stats[key];
        count.as_u64().or_else(|| count.as_str()?.parse().ok()).unwrap_or_default()
    };
    let ended = count("successfulRequestCount") + count("failedRequestCount");
    Look::Running { ended, requests: count("requestCount") }
}

/// Returns the answers of a batch: those of its response, or of its metadata.
fn inlined(batch: &Value) -> &[Value] {
    let lists = [&batch["response"], &batch["metadata"]["output"]].map(|output| {
        let inlined = &output["inlinedResponses"];
        inlined.as_array().or_else(|| inlined["inlinedResponses"].as_array())
    });
    lists.into_iter().flatten().next().map(Vec::as_slice).unwrap_or_default()
}

/// Returns the HTTP status of an error, by <https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto>.
///
/// A request that Google cancels can be tried again, unlike one that the client cancels.
fn status(code: &Value) -> u16 {
    match code.as_u64() {
        Some(3 | 9 | 11) => 400,
        Some(16) => 401,
        Some(7) => 403,
        Some(5) => 404,
        Some(6 | 10) => 409,
        Some(8) => 429,
        Some(12) => 501,
        Some(1 | 14) => 503,
        Some(4) => 504,
        Some(status @ 400..600) => u16::try_from(status).unwrap_or(500),
        _ => 500,
    }
}

/// Returns the body that creates a batch.
fn list(requests: &[BatchLine]) -> Vec<u8> {
    let begin = "{\"batch\":{\"displayName\":\"llm-do\",\"inputConfig\":{\"requests\":{\"requests\":[";
    let mut list = begin.as_bytes().to_vec();
    for (index, BatchLine { id, body }) in requests.iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        list.extend_from_slice(format!("{comma}{{\"request\":").as_bytes());
        list.extend_from_slice(body);
        list.extend_from_slice(format!(",\"metadata\":{{\"key\":\"{id}\"}}}}").as_bytes());
    }
    list.extend_from_slice(b"]}}}}");
    list
}
