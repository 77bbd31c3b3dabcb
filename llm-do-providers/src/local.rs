//! The embedded model: a language model that runs inside the process.

mod builder;
mod capabilities;
mod chat;
mod decoder;
mod engine;
mod event_sender;
mod fault;
mod generation;
mod gguf;
mod grammar;
mod sampler;
mod schema;
mod schema_check;
mod single_thread;
mod task;
mod template;
mod text_stream;
mod thinking;
mod thread;
mod vocabulary;
mod weights;

#[cfg(test)]
#[path = "../tests/local/families/tiny.rs"]
#[expect(dead_code, reason = "most of it is used by the integration tests only")]
mod tiny;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::poll_fn;
use tokio::sync::mpsc::unbounded_channel;

pub use self::builder::LocalBuilder;
use self::event_sender::EventSender;
use self::task::Task;
use self::thread::Job;
pub use self::weights::FetchProgress;
use self::weights::Weights;
use crate::batched;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::model::{Model, Profile, Request, ResponseStream, StreamEvent, ToolSpec};
use crate::response::Response;

inventory::submit! { ModelProvider::new("local", |name| Ok(Arc::new(LocalModel::new(name)?))) }

/// A language model that runs inside the process: no key, no network, no cost.
///
/// `local:smollm2-135m-instruct` is SmolLM2-135M-Instruct (Apache-2.0), which
/// `sh llm-do-providers/fetch-local-model.sh` downloads once into the cache directory (98 MB). `local:PATH.gguf` is any
/// GGUF file of a dense model with the architecture `llama`, `qwen2` or `qwen3`.
///
/// # Files on the Hugging Face Hub
///
/// `local:OWNER/REPO/FILE.gguf` is a file on the [Hugging Face Hub](https://huggingface.co/docs/hub/gguf), unless a
/// file with this path exists. With the feature `local-download` it is downloaded if it is not in the cache of the
/// hub's own tools. `hf download OWNER/REPO FILE.gguf` fills the same cache; then neither the network nor the feature
/// is needed. `OWNER/REPO@REVISION/FILE.gguf` names a branch, a tag or a commit (write `%2F` for a slash). Default:
/// `main`, **as of the first download**: a cached file is never updated. For reproducible runs name a commit; for a
/// newer file delete the cached one.
///
/// The first request downloads the file, which may take minutes, and reports progress ([`StreamEvent::Waiting`],
/// every 5 %). [`fetch`](Self::fetch) downloads it ahead of time, as does `APPLICATION fetch local:..` on the command
/// line of `llm-do`. A download is used once it is complete and matches the SHA-256 that the hub states for large
/// files; **files that other tools put into the cache are not checked**. With the suffix `#sha256=` and 64
/// hexadecimal digits the file must match that checksum, also in the cache and at a path; it is checked once per
/// model and its clones. The next request resumes an interrupted download. Concurrent tasks and processes download a
/// file once. Split models (`-00001-of-00003.gguf`) are rejected. In tests,
#[cfg_attr(feature = "testing", doc = "[`forbid_requests`](crate::forbid_requests) also forbids downloads.")]
#[cfg_attr(not(feature = "testing"), doc = "`forbid_requests` also forbids downloads.")]
///
/// # Suitable uses
///
/// The default model is a stand-in for a larger one, not an agent. It streams text, extracts fields from a short note
/// by a schema, and fills in the arguments of one forced tool. Its JSON always matches the schema
/// ([`Profile::NATIVE_OUTPUT`]), because tokens that would violate it are never sampled, unless
/// [`max_tokens`](crate::Settings::max_tokens) cuts it off; the values may still be wrong. It cannot choose among
/// tools, decide whether to call one, or answer questions of fact. Keep instructions short and without examples,
/// which degrade its answers.
///
/// # Supported files
///
/// Files whose [`general.architecture`](https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) is `llama` (Llama
/// 2 and 3, Mistral, `SmolLM` 1 and 2, `TinyLlama`), `qwen2` (Qwen 2 and 2.5, and models distilled into them) or
/// `qwen3`, in any tensor type that candle reads. Mixtures of experts, `RoPE` scaling by `yarn`, and files with unknown
/// tensors are rejected. The vocabulary types are `gpt2` and `llama` (`SentencePiece`); an unknown pre-tokenizer is
/// rejected by name, since a wrong one yields tokens that the model was not trained on. Model files are untrusted
/// input: an invalid one is an error of kind [`Configuration`](crate::ErrorKind::Configuration). But a chat template
/// is a program whose steps are limited and whose memory is not: use files from sources you trust.
///
/// The chat template of the file
/// ([`tokenizer.chat_template`](https://huggingface.co/docs/transformers/main/en/chat_templating_writing)) renders
/// conversations; a file without one uses `ChatML` if it has its special tokens. For requests with tools
/// `tokenizer.chat_template.tool_use` is used instead, if it exists and renders tools; no other named template is
/// used. The features of a template are detected by rendering test conversations:
///
/// - Tools, calls and results are passed to a template that renders them, and calls use its format, such as Qwen's
///   `<tool_call>`. Otherwise the instructions describe the tools, and the model answers a tool result without
///   another call, since such models would repeat the call forever. An answer has several calls, at most 8, if the
///   template separates them and [`parallel_tool_calls`](crate::Settings::parallel_tool_calls) is not off.
/// - Without a system role the instructions are part of the first message.
/// - Only the template can write special tokens such as `<|im_end|>`: in a message, a tool or a result they are text.
///
/// # Thinking
///
/// Models with the tokens `<think>` and `</think>` think if [`thinking`](crate::Settings::thinking) is set: `minimal`
/// is at most 128 tokens, `low` 256, `medium` 512, `high` 2048; a number sets the budget directly. Thinking is ended
/// when the budget is used up. By default they do not think, since thinking takes minutes; a model whose template
/// always starts to think gets 512 tokens unless the setting is `off`. [`Thinking`](crate::Thinking) parts of the
/// answer are sent back to the model if its template renders them and tools; those signed by other providers are not.
///
/// # Resources
///
/// The first request loads the model, which takes a second for the default one. All models of the same file share it
/// until the process ends. The default model takes 250 to 300 MB, plus 46 kB for each token in its KV cache. Requests
/// of one model run one after the other on its own thread and never block an async thread. Dropping a request stops
/// it before the next token, or within 128 tokens of its prompt. The default model reads about 100 tokens per second
/// and writes about 50, on one core. The KV cache keeps the last conversation, so that a further turn reads only its
/// new tokens; [`Usage::cached_tokens`](crate::Usage) counts the cached ones. A prompt and its answer together are
/// limited to the context length of the file, at most 32,768 tokens.
///
/// Text attachments (`text/*` and JSON, in UTF-8) become part of the prompt; any other is an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest).
///
/// # Settings
///
/// Without a `temperature` the most likely token is sampled, and `top_p` and `seed` have no effect. Plain text has a
/// repetition penalty. The default of `max_tokens` is 512 plus the thinking budget; if set, it includes thinking. A
/// [forced call](crate::ToolChoice) is enforced by the grammar; an output schema beside it is ignored. `stop` applies
/// to plain text, not to JSON. With `batch`, a request is an error. Penalties, service tiers, extra fields, headers, `timeout` and `cache_prompt` are
/// ignored; a setting without effect is a [warning](crate::Response::warnings) of the response. Server-side tools are
/// not supported: a worker with one is rejected.
///
/// # Schemas
///
/// Keywords that relate values to each other, such as `if` and `contains`, are not part of the grammar: those of a tool go into its
/// descriptions, and an output schema with one is an error.
///
/// Values without a limit in their schema get one, so that generation ends; **longer values are cut off there, and
/// still valid**:
///
/// - A string has at most 200 characters, or 60 if its `format` is a date, a time, a duration, a UUID or an IP
///   address. A string without format and pattern does not start with white space, unless it is up to four white
///   space characters only.
/// - An array, or an object without named properties, has at most 8 items; an integer has 32 bits. The digits of a
///   number, the names of such properties, and the depth of a recursive type are limited by `max_tokens` only.
/// - An object with named properties has no other properties, and an array with `prefixItems` no further items, unless the
///   schema allows them.
/// - A value of any type, such as `serde_json::Value`, may contain arrays and objects to a depth of two, with at most
///   4 items. A schema without a type gets the types of its keywords: with `prefixItems`, it is an array.
///
/// Unsupported keywords that only narrow a value, such as `not` or `uniqueItems`, are ignored. Keywords that make
/// values depend on other values, such as `if`, `contains` or `dependentRequired`, are an error with their path.
///
/// # Environment
///
/// - `LLM_DO_LOCAL_WEIGHTS`: the path of the file of `local:smollm2-135m-instruct`. Default:
///   `${XDG_CACHE_HOME:-~/.cache}/llm-do/SmolLM2-135M-Instruct.Q4_1.gguf`.
/// - [Those of the hub's tools](https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables):
///   `HF_HUB_CACHE`, or `hub` in `HF_HOME`, or in `${XDG_CACHE_HOME:-~/.cache}/huggingface`: the cache directory.
///   `HF_ENDPOINT`: the URL of another hub. `HF_TOKEN`, or the file `HF_TOKEN_PATH`, or `token` in `HF_HOME`: the token
///   for gated and private repositories; it is sent to the hub only and never shown in errors. `HF_HUB_OFFLINE=1`:
///   disables downloads.
/// - `CANDLE_NUM_THREADS`, or else `RAYON_NUM_THREADS`: the number of compute threads. Default: 1, since the threads
///   wait for each other by spinning, and two of them on a busy machine are many times slower than one.
#[derive(Clone, Debug)]
pub struct LocalModel {
    name: String,
    weights: Arc<Weights>,
}

impl LocalModel {
    /// Returns the model `name`, the part after `local:`; it is downloaded and loaded later.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the name is unknown, if the
    /// file is missing and cannot be downloaded, or if it is one part of a split model; the message states what to do.
    pub fn new(name: &str) -> Result<Self, ProviderError> {
        Self::builder(name).build()
    }

    /// Returns a builder for the model `name`, with settings that override the environment.
    pub fn builder(name: impl Into<String>) -> LocalBuilder {
        LocalBuilder::new(name.into())
    }

    /// Downloads and checks the model's file if necessary, and returns its path.
    ///
    /// Afterwards the first request does not wait for it. `report` is called at the start of each attempt, after
    /// every further 0.5 % of the file, and with each reason for waiting. Dropping the future stops the download; the
    /// received part is kept, and the next download resumes it.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the cache
    /// cannot be written, the disk is full, or the file does not match the pinned checksum;
    /// [`Auth`](crate::ErrorKind::Auth) if the repository is gated or the token is rejected;
    /// [`InvalidRequest`](crate::ErrorKind::InvalidRequest) if the hub has no such file;
    /// [`Transport`](crate::ErrorKind::Transport) or [`Timeout`](crate::ErrorKind::Timeout) if the connection failed;
    /// [`Protocol`](crate::ErrorKind::Protocol) if the received file was damaged, in which case nothing is kept.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # mod llm_do { pub use llm_do_providers as model; }
    /// # async fn fetch() -> Result<(), llm_do::model::ProviderError> {
    /// let model = llm_do::model::LocalModel::new("Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf")?;
    /// model.fetch(|progress| eprintln!("{progress}")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn fetch(&self, report: impl FnMut(FetchProgress) + Send) -> Result<PathBuf, ProviderError> {
        weights::fetch(&self.weights, report).await
    }
}

#[async_trait]
impl Model for LocalModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn profile(&self) -> Profile {
        Profile::NATIVE_OUTPUT
    }

    fn tool_notes(&self, tool: &ToolSpec) -> Result<Vec<String>, String> {
        Ok(schema_check::notes(tool))
    }

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let mut stream = self.stream(request).await?;
        while let Some(event) = stream.next().await {
            if let StreamEvent::Done(response) = event? {
                return Ok(response);
            }
        }
        Err(fault::internal("the model's thread stopped without an answer; retry the request"))
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        if request.settings.is_batch() {
            return Err(batched::unsupported(&self.name));
        }
        let (sender, mut receiver) = unbounded_channel();
        schema_check::check_output(&request)?;
        let tools = schema_check::supported_tools(request.tools);
        let task = Task::new(&request.tools(&tools))?;
        weights::submit(&self.weights, Job { task, model: self.name.clone(), events: EventSender::new(sender) })?;
        Ok(Box::pin(poll_fn(move |context| receiver.poll_recv(context))))
    }
}
