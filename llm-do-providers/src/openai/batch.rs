//! OpenAI's Batch API, for chat completions and the Responses API.
//!
//! By <https://platform.openai.com/docs/guides/batch> and <https://platform.openai.com/docs/api-reference/batch> (read 2026-11-29):
//! a file of JSON lines with up to 50,000 requests to one model, of up to 200 MB, is uploaded, and a batch created of it. It is
//! `validating`, `in_progress`, `finalizing`, and then `completed`; or `failed`, `expired` after 24 hours, `cancelling` and
//! `cancelled`. The answers are in the file `output_file_id`, and the errors in `error_file_id`, each in any order, by `custom_id`.
//! What was answered before a batch expired or was cancelled is charged, and is in the files.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::batch::{self, BatchApi, BatchLimits, BatchLine, Batcher, Deliver, Look};
use crate::batched::{BatchAnswer, BatchPace};
use crate::error::ProviderError;
use crate::exchange;
use crate::http::{Endpoint, PreparedRequest};

/// Separates the parts of an upload; no JSON line begins with it.
const BOUNDARY: &str = "llm-do-batch-file";

/// The batches of requests to one path and one model.
struct Batches {
    endpoint: Arc<Endpoint>,
    /// The headers of each request.
    call: PreparedRequest,
    /// The path of the API.
    base: String,
    /// The path of the requests.
    url: String,
}

/// A line of an output file or an error file.
#[derive(Deserialize)]
struct Line<'a> {
    custom_id: String,
    #[serde(borrow)]
    response: Option<LineResponse<'a>>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct LineResponse<'a> {
    status_code: u16,
    request_id: Option<String>,
    #[serde(borrow)]
    body: &'a RawValue,
}

/// Returns the batcher of requests with these headers to `model`, at an endpoint whose path ends with `end`.
pub(crate) fn batcher(
    endpoint: &Arc<Endpoint>,
    end: &str,
    model: &str,
    call: &PreparedRequest,
    pace: BatchPace,
) -> Arc<Batcher> {
    let mut account = endpoint.account(call);
    account.push(b'\n');
    account.extend_from_slice(model.as_bytes());
    batch::shared(account, pace, || Batches {
        endpoint: endpoint.for_call(call),
        call: call.with_body(""),
        base: endpoint.path_before(end).to_owned(),
        url: format!("/v1{end}"),
    })
}

impl Batches {
    fn at(&self, path: &str) -> Endpoint {
        self.endpoint.at(&format!("{}{path}", self.base))
    }

    /// Uploads the requests, and returns the id of the file.
    async fn upload(&self, requests: &[BatchLine]) -> Result<String, ProviderError> {
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        let call = self.call.with_body(form(&self.url, requests)).with_content_type(&content_type);
        let file = self.at("/files").post_json(&call).await.map_err(batch::no_api)?;
        batch::id(self.provider(), &file["id"])
    }

    /// Passes the lines of a file on.
    async fn read(&self, file: &Value, deliver: Deliver<'_>) -> Result<(), ProviderError> {
        if file.is_null() {
            return Ok(());
        }
        let path = format!("/files/{}/content", batch::id(self.provider(), file)?);
        let mut read = |line: &[u8]| {
            if let Ok(line) = serde_json::from_slice::<Line<'_>>(line) {
                let id = line.custom_id.clone();
                deliver(&id, self.answer(line));
            }
        };
        self.at(&path).read_lines(&self.call, &mut read).await
    }

    fn answer(&self, line: Line<'_>) -> BatchAnswer {
        if let Some(response) = line.response {
            let body = response.body.get().as_bytes();
            if (200..300).contains(&response.status_code) {
                return Ok(body.to_vec());
            }
            let error = self.endpoint.refusal(response.status_code, body);
            return Err(match response.request_id {
                Some(id) => error.with_request_id(id),
                None => error,
            });
        }
        let error = line.error.unwrap_or_default();
        Err(match error["code"].as_str() {
            Some("batch_expired") => batch::expired(self.provider()),
            Some("batch_cancelled") => batch::cancelled(self.provider()),
            _ => exchange::reported(&self.endpoint, &error),
        })
    }
}

#[async_trait]
impl BatchApi for Batches {
    fn provider(&self) -> &'static str {
        self.endpoint.provider
    }

    fn limits(&self) -> BatchLimits {
        BatchLimits { requests: 50_000, bytes: 190_000_000, within: Duration::from_secs(24 * 60 * 60) }
    }

    async fn submit(&self, requests: &[BatchLine]) -> Result<String, ProviderError> {
        let file = self.upload(requests).await?;
        let create = json!({ "input_file_id": file, "endpoint": self.url, "completion_window": "24h" });
        let call = self.call.with_body(create.to_string());
        let batch = self.at("/batches").post_json(&call).await.map_err(batch::no_api)?;
        batch::id(self.provider(), &batch["id"])
    }

    async fn look(&self, batch: &str, deliver: Deliver<'_>) -> Result<Look, ProviderError> {
        const SIZE: usize = 1 << 20;
        let batch = self.at(&format!("/batches/{batch}")).read_json(&self.call, SIZE).await?;
        let reason = match batch["status"].as_str() {
            Some("completed") => None,
            Some("expired") => Some(batch::expired(self.provider())),
            Some("cancelled") => Some(batch::cancelled(self.provider())),
            Some("failed") => {
                let error = batch["errors"]["data"].get(0).unwrap_or(&batch["errors"]);
                return Ok(Look::Ended(Some(batch::failed(exchange::reported(&self.endpoint, error)))));
            }
            _ => {
                let count = |key: &str| batch["request_counts"][key].as_u64().unwrap_or_default();
                return Ok(Look::Running { ended: count("completed") + count("failed"), requests: count("total") });
            }
        };
        self.read(&batch["output_file_id"], deliver).await?;
        self.read(&batch["error_file_id"], deliver).await?;
        Ok(Look::Ended(reason))
    }

    async fn cancel(&self, batch: &str) -> Result<(), ProviderError> {
        let call = self.call.with_body("{}");
        self.at(&format!("/batches/{batch}/cancel")).post_json(&call).await.map(drop)
    }
}

/// Returns the form of an upload.
fn form(url: &str, requests: &[BatchLine]) -> Vec<u8> {
    let purpose = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n");
    let file = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"batch.jsonl\"\r\ncontent-type: \
         application/jsonl\r\n\r\n"
    );
    let mut form = [purpose, file].concat().into_bytes();
    for BatchLine { id, body } in requests {
        let line = format!("{{\"custom_id\":\"{id}\",\"method\":\"POST\",\"url\":\"{url}\",\"body\":");
        form.extend_from_slice(line.as_bytes());
        form.extend_from_slice(body);
        form.extend_from_slice(b"}\n");
    }
    form.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
    form
}
