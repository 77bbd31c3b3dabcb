//! Windows: requests stay within them by the provider's own count, and the run ends right.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use llm_do::history::Compaction;
use llm_do::journal::MemoryJournal;
use llm_do::model::{
    ContextWindow, ErrorKind, Message, OpenAiModel, Profile, ProviderError, Request, Response, ResponsePart, Server,
    ToolCall,
};
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::testing::{FunctionModel, ScriptedModel};
use llm_do::usage::Usage;
use llm_do::{Model, json};

use super::chat::{fault, text};

/// Fill the window.
#[worker(toolsets = [fill_window], max_turns = 1_000)]
async fn filler(input: String) -> String;

/// Return a long text.
#[tool(effect = read_only, inline)]
fn fill_window(turn: usize, bytes: usize) -> String {
    format!("turn {turn}\n").repeat(bytes / 7)
}

/// A provider that counts in its own way, refuses what is beyond its limit, and has a model that makes some calls.
#[derive(Clone, Default)]
struct Provider {
    limit: usize,
    turns: usize,
    /// The turn in which the provider fails once.
    fails_in: Option<usize>,
    counts: Arc<Counts>,
    /// The messages of the last request with tools.
    last: Arc<Mutex<Vec<Message>>>,
}

#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    summaries: AtomicUsize,
    largest: AtomicUsize,
    refused: AtomicUsize,
    failures: AtomicUsize,
}

impl Provider {
    fn new(limit: usize, turns: usize) -> Self {
        Self { limit, turns, ..Self::default() }
    }

    /// Returns the model, whose window the runtime knows or not.
    fn model(&self, window: Option<u32>) -> FunctionModel {
        let (provider, known) = (self.clone(), |tokens| Profile::BASIC.with_window(ContextWindow::new(tokens)));
        FunctionModel::new(move |request| provider.answer(&request)).profile(window.map_or(Profile::BASIC, known))
    }

    fn answer(&self, request: &Request<'_>) -> Result<Response, ProviderError> {
        let tokens = count(request);
        if tokens > self.limit {
            self.counts.refused.fetch_add(1, Relaxed);
            return Err(ProviderError::new("function", ErrorKind::ContextTooLong, "the conversation is too long"));
        }
        self.counts.largest.fetch_max(tokens, Relaxed);
        let fails = self.fails_in == Some(self.counts.calls.load(Relaxed)) && !request.tools.is_empty();
        if fails && self.counts.failures.fetch_add(1, Relaxed) == 0 {
            return Err(ProviderError::new("function", ErrorKind::InvalidRequest, "refused once"));
        }
        let part = if request.tools.is_empty() {
            self.counts.summaries.fetch_add(1, Relaxed);
            text("notes")
        } else {
            *self.last.lock().unwrap() = request.messages.to_vec();
            self.next()
        };
        Ok(Response::new("model", vec![part], Usage::of_request(u64::try_from(tokens).unwrap(), 5)))
    }

    fn next(&self) -> ResponsePart {
        let turn = self.counts.calls.fetch_add(1, Relaxed);
        if turn >= self.turns {
            return text("done");
        }
        let bytes = [10, 500, 20_000, 300, 200_000, 3_000, 5_000_000][turn % 7];
        let arguments = json!({ "turn": turn, "bytes": bytes }).to_string();
        ResponsePart::ToolCall(ToolCall::new(format!("c{turn}"), "fill_window", arguments))
    }

    fn counts(&self) -> [usize; 3] {
        let Counts { summaries, largest, refused, .. } = &*self.counts;
        [summaries, largest, refused].map(|count| count.load(Relaxed))
    }
}

/// Counts about one token for three bytes of JSON.
fn count(request: &Request<'_>) -> usize {
    let spec = |tool: &llm_do::model::ToolSpec| tool.description.len() + tool.parameters.to_string().len();
    let tools: usize = request.tools.iter().map(spec).sum();
    (json!(request.messages).to_string().len() + request.instructions.map_or(0, str::len) + tools) / 3
}

async fn run(builder: RuntimeBuilder) -> Result<String, CallError> {
    builder.build().unwrap().run(filler { input: "Fill the window, please.".into() }).await
}

#[tokio::test]
async fn a_run_of_many_turns_stays_within_each_known_window() {
    for window in [8_000_u32, 32_000, 200_000] {
        let limit = usize::try_from(window).unwrap();
        let provider = Provider::new(limit, 80);
        assert_eq!(run(Runtime::builder().force_model(provider.model(Some(window)))).await.unwrap(), "done");
        let [_, largest, refused] = provider.counts();
        assert_eq!(refused, 0, "{window}");
        assert!(largest > limit / 4 && largest <= limit, "{largest} of {window}");
        let last = provider.last.lock().unwrap();
        assert_eq!(fault(&last), None);
        assert!(json!(*last).to_string().contains("Fill the window, please."), "the task stays");
    }
}

#[tokio::test]
async fn a_refused_request_is_compacted_once_and_sent_again() {
    let provider = Provider::new(10_000, 40);
    assert_eq!(run(Runtime::builder().force_model(provider.model(None))).await.unwrap(), "done");
    let [_, largest, refused] = provider.counts();
    assert!(refused > 0 && largest <= 10_000, "{refused} refused, {largest}");
    assert_eq!(fault(&provider.last.lock().unwrap()), None);
}

#[tokio::test]
async fn a_request_that_cannot_become_shorter_fails_with_what_the_provider_reports() {
    let provider = Provider::new(10, 0);
    let error = run(Runtime::builder().force_model(provider.model(None))).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("the conversation is too long"), "{error}");
    assert_eq!(provider.counts(), [0, 0, 1]);
}

#[tokio::test]
async fn without_compaction_a_refused_request_fails_the_call() {
    let provider = Provider::new(10_000, 40);
    let builder = Runtime::builder().force_model(provider.model(Some(10_000))).compaction(None);
    run(builder).await.unwrap_err();
    assert_eq!(provider.counts()[2], 1);
}

#[tokio::test]
async fn a_resumed_run_compacts_as_it_did() {
    for window in [Some(8_000), None] {
        let whole = Provider::new(8_000, 30);
        assert_eq!(run(Runtime::builder().force_model(whole.model(window))).await.unwrap(), "done");
        let provider = Provider { fails_in: Some(25), ..Provider::new(8_000, 30) };
        let journal = MemoryJournal::new();
        let builder = |journal: MemoryJournal| Runtime::builder().force_model(provider.model(window)).journal(journal);
        run(builder(journal.clone())).await.unwrap_err();
        assert_eq!(provider.counts.calls.load(Relaxed), 25);
        assert_eq!(run(builder(journal.replayed())).await.unwrap(), "done");
        assert_eq!(*provider.last.lock().unwrap(), *whole.last.lock().unwrap(), "{window:?}");
        assert_eq!(provider.counts(), whole.counts(), "{window:?}");
    }
}

#[tokio::test]
async fn a_number_of_tokens_is_a_bound_without_a_window() {
    let provider = Provider::new(100_000, 40);
    let compaction = Compaction::over(4_000).keep(0.5);
    let builder = Runtime::builder().force_model(provider.model(None)).max_result(2_000).compaction(compaction);
    assert_eq!(run(builder).await.unwrap(), "done");
    let [_, largest, _] = provider.counts();
    assert!(largest < 6_000, "{largest}");
}

#[tokio::test]
async fn a_worker_at_the_greatest_depth_goes_on_without_a_summary() {
    let provider = Provider::new(8_000, 60);
    let builder = Runtime::builder().force_model(provider.model(Some(8_000))).max_depth(1);
    assert_eq!(run(builder).await.unwrap(), "done");
    let [summaries, _, refused] = provider.counts();
    assert_eq!((summaries, refused), (0, 0));
}

#[tokio::test]
async fn what_was_shortened_can_be_read_again() {
    let provider = Provider::new(8_000, 30);
    run(Runtime::builder().force_model(provider.model(Some(8_000)))).await.unwrap();
    let last = json!(*provider.last.lock().unwrap()).to_string();
    assert!(last.contains("read it with `result_read` or `result_search`, handle `"), "{last}");
}

#[tokio::test]
async fn shares_as_a_history_processor_fail_the_call() {
    let script = ScriptedModel::new().text("done");
    let builder = Runtime::builder().force_model(script).history_processor(Compaction::at(0.5));
    let error = run(builder).await.unwrap_err();
    assert!(llm_do::error::chain(&error).contains("set this by `RuntimeBuilder::compaction`"), "{error}");
}

/// A model whose server reports the window.
#[derive(Debug)]
struct Reporting {
    model: FunctionModel,
    window: u32,
    asked: Arc<AtomicUsize>,
}

#[llm_do::async_trait]
impl Model for Reporting {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reports_window(&self) -> bool {
        true
    }

    async fn ask_window(&self) -> Result<Option<ContextWindow>, ProviderError> {
        self.asked.fetch_add(1, Relaxed);
        Ok(Some(ContextWindow::new(self.window)))
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        self.model.request(request).await
    }
}

#[tokio::test]
async fn a_server_is_asked_once_for_the_window_and_a_journal_records_it() {
    let provider = Provider { fails_in: Some(25), ..Provider::new(8_000, 30) };
    let (asked, journal) = (Arc::new(AtomicUsize::new(0)), MemoryJournal::new());
    let builder = |journal: MemoryJournal| {
        let model = Reporting { model: provider.model(None), window: 8_000, asked: Arc::clone(&asked) };
        Runtime::builder().force_model(model).journal(journal)
    };
    run(builder(journal.clone())).await.unwrap_err();
    assert_eq!(run(builder(journal.replayed())).await.unwrap(), "done");
    assert_eq!((asked.load(Relaxed), provider.counts()[2]), (1, 0));
}

#[tokio::test]
async fn each_server_is_asked_at_its_own_path() {
    let listed = |key: &str| json!({ "data": [{ "id": "m", key: 4_096 }] });
    let cases = [
        (Server::LlamaCpp, "/props", json!({ "default_generation_settings": { "n_ctx": 4_096 } })),
        (Server::Ollama, "/api/ps", json!({ "models": [{ "model": "m", "context_length": 4_096 }] })),
        (Server::OpenRouter, "/v1/models", listed("context_length")),
        (Server::Vllm, "/v1/models", listed("max_model_len")),
    ];
    for (server, path, answer) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() > 0 {
                head.push(byte[0]);
            }
            let body = answer.to_string();
            let length = body.len();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}").unwrap();
            String::from_utf8(head).unwrap()
        });
        let model = OpenAiModel::at(server, "m").base_url(url).build().unwrap();
        assert!(model.reports_window());
        assert_eq!(model.ask_window().await.unwrap(), Some(ContextWindow::new(4_096)));
        let head = answering.join().unwrap();
        assert!(head.starts_with(&format!("GET {path} HTTP/1.1\r\n")), "{head}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_answer_leaves_the_window_unknown() {
    let model = OpenAiModel::at(Server::Vllm, "m").base_url("http://127.0.0.1:1/v1").build().unwrap();
    assert!(model.ask_window().await.is_err());
    let model = OpenAiModel::builder("m").base_url("http://127.0.0.1:1/v1").build().unwrap();
    assert!(!model.reports_window());
    assert_eq!(model.ask_window().await.unwrap(), None);
}
