//! A local server with the batch APIs of OpenAI, Anthropic and Gemini. Models at it echo the number in a prompt such as `#17#`.

use std::collections::HashMap;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use llm_do::model::{AnthropicModel, ApiKey, GeminiModel, OpenAiModel, OpenAiResponsesModel};
use llm_do::{Model, Value, json};

/// The API of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

pub(super) const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini];

/// How a batch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Answered,
    Expired,
    /// It goes on.
    Held,
}

/// A server for one API; it runs in a thread until the process ends.
#[derive(Clone)]
pub(super) struct Fake {
    api: Api,
    port: u16,
    account: Arc<Mutex<Account>>,
}

/// What the provider knows.
struct Account {
    api: Api,
    ending: Ending,
    /// Whether requests with the word `refuse` are answered too.
    answers_all: bool,
    files: HashMap<String, Vec<(String, Value)>>,
    /// The requests of each batch, by their ids, with what becomes of them.
    batches: Vec<Vec<(String, Outcome)>>,
    cancelled: Vec<String>,
    /// The numbers of requests with the word `busy` that failed once.
    failed: Vec<String>,
    /// Requests that are not of a batch.
    single: usize,
}

impl Fake {
    pub(super) fn start(api: Api) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let account = Arc::new(Mutex::new(Account {
            api,
            ending: Ending::Answered,
            answers_all: false,
            files: HashMap::new(),
            batches: Vec::new(),
            cancelled: Vec::new(),
            failed: Vec::new(),
            single: 0,
        }));
        let routes =
            axum::Router::new().fallback(handle).layer(DefaultBodyLimit::disable()).with_state(Arc::clone(&account));
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                axum::serve(listener, routes).await.unwrap();
            });
        });
        Self { api, port, account }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap()
    }

    pub(super) fn set_ending(&self, ending: Ending) {
        self.account().ending = ending;
    }

    pub(super) fn answer_all(&self) {
        self.account().answers_all = true;
    }

    /// The number of requests of each batch.
    pub(super) fn batches(&self) -> Vec<usize> {
        self.account().batches.iter().map(Vec::len).collect()
    }

    pub(super) fn cancelled(&self) -> usize {
        self.account().cancelled.len()
    }

    /// The number of requests that are not of a batch.
    pub(super) fn single(&self) -> usize {
        self.account().single
    }

    /// The name of the model.
    pub(super) fn name(&self) -> &'static str {
        match self.api {
            Api::Chat => "openai:gpt-5-mini",
            Api::Responses => "openai-responses:gpt-5-mini",
            Api::Anthropic => "anthropic:claude-haiku-4-5",
            Api::Gemini => "gemini:gemini-2.5-flash",
        }
    }

    /// Builds the model, which collects requests for a short time.
    pub(super) fn model(&self) -> Arc<dyn Model> {
        let (window, interval) = (Duration::from_millis(100), Duration::from_millis(20));
        let (url, key) = (format!("http://127.0.0.1:{}", self.port), ApiKey::new("key").unwrap());
        let (_, name) = self.name().split_once(':').unwrap();
        macro_rules! built {
            ($model:ident, $url:expr) => {{
                let builder = $model::builder(name).base_url($url).api_key(key).retries(2);
                Arc::new(builder.batch_window(window).batch_interval(interval).build().unwrap()) as Arc<dyn Model>
            }};
        }
        match self.api {
            Api::Chat => built!(OpenAiModel, format!("{url}/v1")),
            Api::Responses => built!(OpenAiResponsesModel, format!("{url}/v1")),
            Api::Anthropic => built!(AnthropicModel, url),
            Api::Gemini => built!(GeminiModel, url),
        }
    }
}

async fn handle(State(account): State<Arc<Mutex<Account>>>, method: Method, uri: Uri, body: Bytes) -> Response {
    let mut account = account.lock().unwrap();
    let body = String::from_utf8(body.to_vec()).unwrap();
    if let Some(answer) = account.handle(&method, uri.path(), &body) {
        return answer.into_response();
    }
    account.single += 1;
    (StatusCode::NOT_FOUND, "{}").into_response()
}

impl Account {
    fn handle(&mut self, method: &Method, path: &str, body: &str) -> Option<String> {
        let is_post = *method == Method::POST;
        match self.api {
            Api::Chat | Api::Responses => self.openai(is_post, path.strip_prefix("/v1/")?, body),
            Api::Anthropic => self.anthropic(is_post, path.strip_prefix("/v1/messages/batches")?, body),
            Api::Gemini => self.gemini(is_post, path.strip_prefix("/v1beta/")?, body),
        }
    }

    fn openai(&mut self, is_post: bool, path: &str, body: &str) -> Option<String> {
        let parts: Vec<_> = path.split('/').collect();
        let answer = match (is_post, parts.as_slice()) {
            (true, ["files"]) => {
                let id = format!("file-{}", self.files.len());
                let lines = self.lines(body);
                self.files.insert(id.clone(), lines);
                json!({ "id": id, "object": "file" })
            }
            (true, ["batches"]) => {
                let create: Value = serde_json::from_str(body).unwrap();
                let endpoint = if self.api == Api::Chat { "/v1/chat/completions" } else { "/v1/responses" };
                assert_eq!((&create["endpoint"], &create["completion_window"]), (&json!(endpoint), &json!("24h")));
                let requests = self.files[create["input_file_id"].as_str().unwrap()].clone();
                json!({ "id": format!("batch_{}", self.add(requests)), "status": "validating" })
            }
            (true, ["batches", id, "cancel"]) => {
                self.cancelled.push((*id).to_owned());
                json!({ "id": id, "status": "cancelling" })
            }
            (false, ["batches", id]) => {
                let status = match self.ending {
                    Ending::Answered => "completed",
                    Ending::Expired => "expired",
                    Ending::Held => "in_progress",
                };
                let counts = json!({ "total": self.batches[number(id)].len(), "completed": 0, "failed": 0 });
                json!({
                    "id": id, "status": status, "request_counts": counts,
                    "output_file_id": format!("file-output_{}", number(id)),
                    "error_file_id": format!("file-error_{}", number(id)),
                })
            }
            (false, ["files", file, "content"]) => return Some(self.openai_file(file)),
            _ => return None,
        };
        Some(answer.to_string())
    }

    /// Reads the lines of an upload.
    fn lines(&self, form: &str) -> Vec<(String, Value)> {
        assert!(form.contains("name=\"purpose\"\r\n\r\nbatch\r\n"), "{form}");
        let url = if self.api == Api::Chat { "/v1/chat/completions" } else { "/v1/responses" };
        let lines = form.lines().filter(|line| line.starts_with('{'));
        let read = lines.map(|line| {
            let mut line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["method"], &line["url"]), (&json!("POST"), &json!(url)));
            (line["custom_id"].as_str().unwrap().to_owned(), line["body"].take())
        });
        read.collect()
    }

    /// Returns an output file or an error file; its lines are in reverse order.
    fn openai_file(&self, file: &str) -> String {
        let has_expired = self.ending == Ending::Expired;
        let mut lines = Vec::new();
        for (id, outcome) in self.batches[number(file)].iter().rev() {
            let (is_error, line) = if has_expired {
                (
                    true,
                    json!({ "custom_id": id, "response": null, "error": { "code": "batch_expired", "message": "late" } }),
                )
            } else {
                let (status, body) = match outcome {
                    Outcome::Echo(text) => (200, answer(self.api, text)),
                    Outcome::Refused => (400, json!({ "error": { "message": "no", "type": "invalid_request_error" } })),
                    Outcome::Busy => (503, json!({ "error": { "message": "busy", "type": "server_error" } })),
                };
                let response = json!({ "status_code": status, "request_id": "r1", "body": body });
                (status != 200, json!({ "id": "l", "custom_id": id, "response": response, "error": null }))
            };
            if is_error == file.starts_with("file-error") {
                lines.push(line.to_string());
            }
        }
        lines.join("\n")
    }

    fn anthropic(&mut self, is_post: bool, path: &str, body: &str) -> Option<String> {
        let parts: Vec<_> = path.split('/').collect();
        let answer = match (is_post, parts.as_slice()) {
            (true, [""]) => {
                let create: Value = serde_json::from_str(body).unwrap();
                let requests = create["requests"].as_array().unwrap().iter();
                let requests =
                    requests.map(|one| (one["custom_id"].as_str().unwrap().to_owned(), one["params"].clone()));
                let requests = requests.collect();
                json!({ "id": format!("msgbatch_{}", self.add(requests)), "processing_status": "in_progress" })
            }
            (true, ["", id, "cancel"]) => {
                self.cancelled.push((*id).to_owned());
                json!({ "id": id, "processing_status": "canceling" })
            }
            (false, ["", id]) => {
                let status = if self.ending == Ending::Held { "in_progress" } else { "ended" };
                json!({ "id": id, "processing_status": status, "request_counts": { "processing": 1 } })
            }
            (false, ["", id, "results"]) => {
                let has_expired = self.ending == Ending::Expired;
                let lines = self.batches[number(id)].iter().rev().map(|(id, outcome)| {
                    let error = |kind| json!({ "type": "error", "error": { "type": kind, "message": "no" } });
                    let result = match outcome {
                        _ if has_expired => json!({ "type": "expired" }),
                        Outcome::Echo(text) => json!({ "type": "succeeded", "message": answer(Api::Anthropic, text) }),
                        Outcome::Refused => json!({ "type": "errored", "error": error("invalid_request_error") }),
                        Outcome::Busy => json!({ "type": "errored", "error": error("overloaded_error") }),
                    };
                    json!({ "custom_id": id, "result": result }).to_string() + "\n"
                });
                return Some(lines.collect());
            }
            _ => return None,
        };
        Some(answer.to_string())
    }

    fn gemini(&mut self, is_post: bool, path: &str, body: &str) -> Option<String> {
        if is_post && path == "models/gemini-2.5-flash:batchGenerateContent" {
            let create: Value = serde_json::from_str(body).unwrap();
            let requests = create["batch"]["inputConfig"]["requests"]["requests"].as_array().unwrap().iter();
            let key = |one: &Value| one["metadata"]["key"].as_str().unwrap().to_owned();
            let requests = requests.map(|one| (key(one), one["request"].clone())).collect();
            return Some(json!({ "name": format!("batches/b_{}", self.add(requests)) }).to_string());
        }
        let batch = path.strip_prefix("batches/")?;
        if let Some(batch) = batch.strip_suffix(":cancel") {
            self.cancelled.push(batch.to_owned());
            return Some("{}".to_owned());
        }
        let state = match self.ending {
            Ending::Answered => "BATCH_STATE_SUCCEEDED",
            Ending::Expired => "BATCH_STATE_EXPIRED",
            Ending::Held => "BATCH_STATE_RUNNING",
        };
        let mut operation =
            json!({ "name": path, "metadata": { "state": state, "batchStats": { "requestCount": "1" } } });
        if state.ends_with("SUCCEEDED") {
            let inlined = self.batches[number(batch)].iter().rev().map(|(id, outcome)| {
                let (field, value) = match outcome {
                    Outcome::Echo(text) => ("response", answer(Api::Gemini, text)),
                    Outcome::Refused => ("error", json!({ "code": 3, "message": "no" })),
                    Outcome::Busy => ("error", json!({ "code": 14, "message": "busy" })),
                };
                json!({ "metadata": { "key": id }, field: value })
            });
            let inlined: Vec<_> = inlined.collect();
            operation["done"] = json!(true);
            operation["response"] = json!({ "inlinedResponses": { "inlinedResponses": inlined } });
        }
        Some(operation.to_string())
    }

    fn add(&mut self, requests: Vec<(String, Value)>) -> usize {
        let requests = requests.into_iter().map(|(id, body)| (id, self.outcome(&body)));
        let requests = requests.collect();
        self.batches.push(requests);
        self.batches.len() - 1
    }

    fn outcome(&mut self, body: &Value) -> Outcome {
        let text = body.to_string();
        let prompt = text.split('#').nth(1).unwrap_or_else(|| panic!("no number in {text}"));
        if text.contains("refuse") && !self.answers_all {
            return Outcome::Refused;
        }
        if text.contains("busy") && !self.failed.iter().any(|failed| failed == prompt) {
            self.failed.push(prompt.to_owned());
            return Outcome::Busy;
        }
        Outcome::Echo(format!("echo {prompt}"))
    }
}

/// What becomes of a request.
enum Outcome {
    Echo(String),
    Refused,
    Busy,
}

/// Returns the number at the end of an id.
fn number(id: &str) -> usize {
    id.rsplit('_').next().unwrap().parse().unwrap()
}

/// Returns the answer of a model, which has read 1,000 tokens and written 100.
fn answer(api: Api, text: &str) -> Value {
    match api {
        Api::Chat => json!({
            "id": "c", "object": "chat.completion", "model": "gpt-5-mini",
            "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text } }],
            "usage": { "prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100 },
        }),
        Api::Responses => json!({
            "id": "r", "object": "response", "status": "completed", "model": "gpt-5-mini",
            "output": [{
                "type": "message", "id": "m", "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }],
            }],
            "usage": { "input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100 },
        }),
        Api::Anthropic => json!({
            "id": "m", "type": "message", "role": "assistant", "model": "claude-haiku-4-5",
            "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn",
            "usage": { "input_tokens": 1000, "output_tokens": 100, "service_tier": "batch" },
        }),
        Api::Gemini => json!({
            "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] }, "finishReason": "STOP" }],
            "usageMetadata": { "promptTokenCount": 1000, "candidatesTokenCount": 100, "totalTokenCount": 1100 },
            "modelVersion": "gemini-2.5-flash",
        }),
    }
}
