//! The embedded model: a small language model that runs inside the process.

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

use self::outlet::Outlet;
use self::task::Task;
use self::thread::Job;
use crate::catalog::ModelProvider;
use crate::error::ProviderError;
use crate::model::{Model, Profile, Request, ResponseStream, StreamEvent};
use crate::response::Response;

inventory::submit! { ModelProvider::new("local", |name| Ok(Arc::new(LocalModel::new(name)?))) }

/// A small language model that runs inside the process: no key, no network, no cost.
///
/// Its name is `local:smollm2-135m-instruct`, for SmolLM2-135M-Instruct (Apache-2.0), which
/// `sh llm-do-providers/fetch-local-model.sh` fetches once into the cache folder (98 MB). `local:PATH.gguf` takes
/// another file: any model of the Llama family in GGUF whose chat is `ChatML`.
///
/// # What it is fit for
///
/// A model of this size is an honest stand-in, not an agent. It streams text, extracts fields from a short note by a
/// schema, and fills in the arguments of one forced tool. Its JSON always follows the schema
/// ([`Profile::NATIVE_OUTPUT`]), unless [`max_tokens`](crate::Settings::max_tokens) cuts it off, because tokens that
/// would break it are never chosen; but what stands in it may be wrong. It cannot choose among tools, decide whether to
/// call one, or answer questions of fact. Unless it must call a tool, it answers a tool's result without another call,
/// for it would repeat the call forever. Keep instructions short and without examples, which make it worse.
///
/// # What it takes
///
/// The model is loaded by the first request, in one to two seconds, and shared by all models of the same file until the
/// process ends; it then takes about 350 MB, and up to 200 MB more while it remembers a long conversation. Requests are
/// answered one after the other by a thread of its own, and no async thread is ever blocked; dropping a request stops
/// it before the next token. It reads about 90 tokens a second and writes about 45, on one core. It remembers the
/// instructions and the conversation that it read last, so that the next turn is read from where it left off. A prompt
/// and its answer may have 4096 tokens together.
///
/// It reads attachments of text (`text/*` and JSON, in UTF-8) as part of the prompt; any other is an error of kind
/// [`InvalidRequest`](crate::ErrorKind::InvalidRequest).
///
/// # Settings
///
/// The likeliest token is chosen unless a temperature is set; in plain text, words just written count as less likely.
/// `max_tokens` is 512 unless set. `stop` is heeded in plain text, not in JSON. Strings, arrays and integers without a
/// bound in their schema get one, so that they end: 200 characters, 8 items and 32 bits. Keywords that the grammar does
/// not know, such as `not` or `uniqueItems`, are let pass; a number's digits and the depth of a recursive type have no
/// bound but `max_tokens`.
///
/// # Environment
///
/// - `LLM_DO_LOCAL_WEIGHTS`: the file of `local:smollm2-135m-instruct`. Default:
///   `${XDG_CACHE_HOME:-~/.cache}/llm-do/SmolLM2-135M-Instruct.Q4_1.gguf`.
/// - `RAYON_NUM_THREADS`: how many threads compute. Default: one, since the threads wait for each other spinning, and
///   two of them on a busy machine are many times slower than one.
#[derive(Clone, Debug)]
pub struct LocalModel {
    name: String,
    path: PathBuf,
}

impl LocalModel {
    /// Returns the model that `name`, what follows `local:`, stands for; nothing is loaded yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if there is no such model, or if
    /// its file is not there; the text says how to fetch it.
    pub fn new(name: &str) -> Result<Self, ProviderError> {
        let path = weights::find(name)?;
        let path = path.canonicalize().unwrap_or(path);
        Ok(Self { name: format!("local:{name}"), path })
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
        let task = Task::new(&request)?;
        thread::submit(&self.path, Job { task, model: self.name.clone(), outlet: Outlet::new(sender) })?;
        Ok(Box::pin(poll_fn(move |context| receiver.poll_recv(context))))
    }
}
