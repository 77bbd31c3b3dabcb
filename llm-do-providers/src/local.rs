//! The embedded model: a language model that runs inside the process.

mod builder;
mod chat;
mod decoder;
mod dialect;
mod engine;
mod fault;
mod gguf;
mod grammar;
mod outlet;
mod sampler;
mod schema;
mod single;
mod task;
mod template;
mod text;
mod thought;
mod thread;
mod unsaid;
mod vocabulary;
mod weights;
mod writer;

#[cfg(test)]
#[path = "../tests/families/tiny.rs"]
#[expect(dead_code, reason = "most of it is for the tests of the whole model")]
mod tiny;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt as _;
use futures_util::stream::poll_fn;
use tokio::sync::mpsc::unbounded_channel;

pub use self::builder::LocalBuilder;
use self::outlet::Outlet;
use self::task::Task;
use self::thread::Job;
pub use self::weights::FetchProgress;
use self::weights::Weights;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::model::{Model, Profile, Request, ResponseStream, StreamEvent};
use crate::response::Response;

inventory::submit! { ModelProvider::new("local", |name| Ok(Arc::new(LocalModel::new(name)?))) }

/// A language model that runs inside the process: no key, no network, no cost.
///
/// Its name is `local:smollm2-135m-instruct`, for SmolLM2-135M-Instruct (Apache-2.0), which
/// `sh llm-do-providers/fetch-local-model.sh` fetches once into the cache folder (98 MB). `local:PATH.gguf` takes
/// another file in GGUF, of a dense model whose architecture is `llama`, `qwen2` or `qwen3`.
///
/// # Files of the hub
///
/// `local:OWNER/REPO/FILE.gguf` is a file of the [Hugging Face Hub](https://huggingface.co/docs/hub/gguf); a path that
/// is there goes before it. With the feature `local-download` it is fetched where it is not in the hub's cache yet,
/// which the hub's own tools share: `hf download OWNER/REPO FILE.gguf` fills it as well, and then neither the network nor
/// the feature is needed. `OWNER/REPO@REVISION/FILE.gguf` asks for a branch, a tag or a commit (`%2F` for a slash in it);
/// default: `main`, **as it was when the file was fetched**: what is in the cache is not asked for again, so name a
/// commit to have the same everywhere, or delete the file to have a newer one.
///
/// The first request fetches it and says how far it is ([`StreamEvent::Waiting`], each 5 %), which may take minutes;
/// [`fetch`](Self::fetch) does so ahead, and so does `APPLICATION fetch local:..` on the command line of `llm-do`. What it
/// fetches is used once all of it is there and has the SHA-256 that the hub names (of a large file it has one); **what
/// other tools put into the cache is not checked**. What ends with `#sha256=` and 64 hexadecimal digits must have that
/// one, in the cache and at a path as well: each model, with its clones, checks it once. A download that breaks off is
/// resumed, by whoever asks next; several tasks or processes that ask at once fetch it once. Models in several parts
/// (`-00001-of-00003.gguf`) are refused. In tests,
#[cfg_attr(feature = "testing", doc = "[`forbid_requests`](crate::forbid_requests) forbids all of it.")]
#[cfg_attr(not(feature = "testing"), doc = "`forbid_requests` forbids all of it.")]
///
/// # What it is fit for
///
/// A model of the size of the first is an honest stand-in, not an agent. It streams text, extracts fields from a short note
/// by a schema, and fills in the arguments of one forced tool. Its JSON always follows the schema
/// ([`Profile::NATIVE_OUTPUT`]), unless [`max_tokens`](crate::Settings::max_tokens) cuts it off, because tokens that
/// would break it are never chosen; but what stands in it may be wrong. It cannot choose among tools, decide whether to
/// call one, or answer questions of fact. Keep instructions short and without examples, which make it worse.
///
/// # Which files it takes
///
/// Files whose [`general.architecture`](https://github.com/ggml-org/ggml/blob/master/docs/gguf.md) is `llama` (Llama 2 and
/// 3, Mistral, `SmolLM` 1 and 2, `TinyLlama`), `qwen2` (Qwen 2 and 2.5, and what was distilled into them) or `qwen3`, in any
/// type of numbers that candle reads. Mixtures of experts, rotations scaled by `yarn`, and files with a tensor that such models
/// do not have are refused. Vocabularies are those called `gpt2` and `llama` (`SentencePiece`); a way of splitting text that is
/// not known is refused by name, for a model that reads other tokens than it was trained on answers nonsense. All in a file is
/// foreign: what is not as it should be is an error of kind [`Configuration`](crate::ErrorKind::Configuration). But a template is a
/// program, whose steps are limited and whose memory is not: take files from those whom you trust.
///
/// A conversation is written down by the chat template of the file
/// ([`tokenizer.chat_template`](https://huggingface.co/docs/transformers/main/en/chat_templating_writing)); a file without
/// one is spoken to in `ChatML` if it has its marks. Where there are tools to call, `tokenizer.chat_template.tool_use` is taken
/// instead, if it is there and knows tools; no other named template is. What a template knows is found out by asking it:
///
/// - Tools, calls and results go to it if it shows them, and calls are then made in its form, such as Qwen's
///   `<tool_call>`. Other models are told of tools in our own words, and answer a result without another call, for they would
///   repeat the call forever. An answer has several calls, 8 at most, where the template writes several apart from each other and
///   [`parallel_tool_calls`](crate::Settings::parallel_tool_calls) is not off.
/// - Instructions stand in the first message if it has no role for them.
/// - A mark such as `<|im_end|>` is one only where the template writes it: in a message, a tool or a result it is text.
///
/// # Thinking
///
/// Models with the marks `<think>` and `</think>` think if [`thinking`](crate::Settings::thinking) says how much: `minimal`
/// is 128 tokens, `low` 256, `medium` 512, `high` 2048, a number itself. A thought that is longer is ended. By default
/// they do not, for a thought takes minutes; a model whose template always begins one thinks in 512 tokens, unless it is
/// told `off`. Thoughts are [`Thinking`](crate::Thinking) parts, and go back to the model as its template has them, if that
/// has tools, too; those that other providers signed do not.
///
/// # What it takes
///
/// The model is loaded by the first request, the small one in a second, and shared by all models of the same file until the
/// process ends. The small one then takes 250 to 300 MB, and 46 kB more for each token that it remembers. Requests are
/// answered one after the other by a thread of its own, and no async thread is ever blocked; dropping a request stops
/// it before the next token, or within 128 tokens of its prompt. It reads about 100 tokens a second and writes about 50, on
/// one core. It remembers what it read last, and reads the next prompt from where that differs: a turn, not the conversation.
/// A prompt and its answer may have as many tokens together as the file says, 32,768 at most.
/// [`Usage::cached_tokens`](crate::Usage) are those of the prompt that it still remembers.
///
/// It reads attachments of text (`text/*` and JSON, in UTF-8) as part of the prompt; any other is an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest).
///
/// # Settings
///
/// The likeliest token is chosen unless a temperature is set, and only with one do `top_p` and `seed` count; in plain text,
/// words just written count as less likely. `max_tokens` is 512 and the thought's tokens unless set; one that is set counts
/// both. A [call that is forced](crate::ToolChoice) is held to by the grammar; an output schema beside it is passed over.
/// `stop` is heeded in plain text, not in JSON. The penalties, tiers, extra fields and headers of other providers are passed
/// over, and so are `timeout` and `cache_prompt`; a setting that has no effect is a [warning](crate::Response::warnings) of
/// the answer. There are no server-side tools: a worker that has some is refused.
///
/// # Schemas
///
/// What has no bound in its schema gets one, so that it ends; **what would be longer is cut off there, and still valid**:
///
/// - A text has 200 characters at most; 60 if it is a date, a time, a duration, a UUID or an IP address by its `format`. One
///   without format and pattern does not begin with white space, unless it is up to four characters of nothing else.
/// - An array, or an object that names no properties, has 8 items at most, an integer 32 bits. A number's digits, the names of
///   such properties, and the depth of a recursive type have no bound but `max_tokens`.
/// - An object that names properties has no others, and an array that lists its items no more, unless the schema says so.
/// - A value of any kind, such as `serde_json::Value`, may have lists and objects, two deep, with 4 items at most. A schema
///   without a type has those that its keywords speak of: with `prefixItems`, it is an array.
///
/// Keywords that the grammar does not know are let pass where they only narrow a value, such as `not` or `uniqueItems`; those by
/// which values depend on others, such as `if`, `contains` or `dependentRequired`, are an error that says where they are.
///
/// # Environment
///
/// - `LLM_DO_LOCAL_WEIGHTS`: the file of `local:smollm2-135m-instruct`. Default:
///   `${XDG_CACHE_HOME:-~/.cache}/llm-do/SmolLM2-135M-Instruct.Q4_1.gguf`.
/// - [Those of the hub's tools](https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables):
///   `HF_HUB_CACHE`, or `hub` in `HF_HOME`, or in `${XDG_CACHE_HOME:-~/.cache}/huggingface`: where its files are kept.
///   `HF_ENDPOINT`: another hub. `HF_TOKEN`, or the file `HF_TOKEN_PATH`, or `token` in `HF_HOME`: for repositories that
///   are gated or private; only the hub is shown it, and no error does. `HF_HUB_OFFLINE=1`: nothing is fetched.
/// - `CANDLE_NUM_THREADS`, or else `RAYON_NUM_THREADS`: how many threads compute. Default: one, since the threads wait for
///   each other spinning, and two of them on a busy machine are many times slower than one.
#[derive(Clone, Debug)]
pub struct LocalModel {
    name: String,
    weights: Arc<Weights>,
}

impl LocalModel {
    /// Returns the model that `name`, what follows `local:`, stands for; nothing is fetched or loaded yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if there is no such model, if its file
    /// is not there and may not be fetched, or if it is one of several parts; the text says what to do.
    pub fn new(name: &str) -> Result<Self, ProviderError> {
        Self::builder(name).build()
    }

    /// Sets up the model that `name` stands for, with another cache or another hub than the environment says.
    pub fn builder(name: impl Into<String>) -> LocalBuilder {
        LocalBuilder::new(name.into())
    }

    /// Fetches and checks the model's file, if that is still to be done, and returns where it is.
    ///
    /// So the first request does not wait for it. `tell` is told where each try begins, then whenever a 200th of the file
    /// more is there, and of what is waited for. Dropping the future ends the download; what came is kept, and the next
    /// one goes on from there.
    ///
    /// # Errors
    ///
    /// Returns an error that says what to do: of kind [`Configuration`](crate::ErrorKind::Configuration) if the cache
    /// cannot be written, the disk is full, or the file is not the one that is pinned;
    /// [`Auth`](crate::ErrorKind::Auth) if the repository is gated or the token refused;
    /// [`InvalidRequest`](crate::ErrorKind::InvalidRequest) if there is no such file;
    /// [`Transport`](crate::ErrorKind::Transport) and [`Timeout`](crate::ErrorKind::Timeout) if the connection broke;
    /// [`Protocol`](crate::ErrorKind::Protocol) if the file arrived damaged, of which nothing is kept.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # use llm_do_providers as llm_do;
    /// # async fn fetch() -> Result<(), llm_do::ProviderError> {
    /// let model = llm_do::LocalModel::new("Qwen/Qwen2.5-0.5B-Instruct-GGUF/qwen2.5-0.5b-instruct-q4_k_m.gguf")?;
    /// model.fetch(|progress| eprintln!("{progress}")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn fetch(&self, tell: impl FnMut(FetchProgress) + Send) -> Result<PathBuf, ProviderError> {
        weights::fetch(&self.weights, tell).await
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

    async fn request(&self, request: Request<'_>) -> Result<Response, ProviderError> {
        let mut stream = self.stream(request).await?;
        while let Some(event) = stream.next().await {
            if let StreamEvent::Done(response) = event? {
                return Ok(response);
            }
        }
        Err(fault::broken("the model's thread ended without an answer; ask again"))
    }

    async fn stream(&self, request: Request<'_>) -> Result<ResponseStream, ProviderError> {
        let (sender, mut receiver) = unbounded_channel();
        unsaid::refuse(&request)?;
        let task = Task::new(&request)?;
        weights::submit(&self.weights, Job { task, model: self.name.clone(), outlet: Outlet::new(sender) })?;
        Ok(Box::pin(poll_fn(move |context| receiver.poll_recv(context))))
    }
}
