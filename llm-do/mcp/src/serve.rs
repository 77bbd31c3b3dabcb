//! An MCP server whose tools are the linked items.

mod advance;
#[expect(deprecated, reason = "the protocol keeps sampling and roots until 2027-07-28 at least")]
mod ask;
#[expect(deprecated, reason = "the protocol keeps sampling and roots until 2027-07-28 at least")]
mod caller;
mod client;
mod form;
#[expect(deprecated, reason = "the protocol keeps log entries until 2027-07-28 at least")]
mod handler;
mod http;
#[expect(deprecated, reason = "the protocol keeps log entries until 2027-07-28 at least")]
mod log;
mod metadata;
mod offer;
mod open_call;
mod parked;
mod prompts;
#[expect(deprecated, reason = "the protocol keeps log entries until 2027-07-28 at least")]
mod report;
mod resource;
mod result;
mod session_id;
mod sessions;
mod tasks;

use std::sync::Arc;
use std::time::Duration;

use llm_do_core::plane::registry::Application;
use llm_do_core::session::runtime::Runtime;
use rmcp::ServiceExt;
use rmcp::model::{Implementation, ServerCapabilities, ServerConfig};
use tokio::io::{AsyncRead, AsyncWrite};

pub use self::caller::{ClientRequest, McpClient, MissingCapability};
use self::handler::Handler;
pub use self::http::{HttpOptions, McpHttpService};
use self::offer::Offer;
use self::parked::ParkedCalls;
use self::resource::Resources;
use self::tasks::Tasks;

#[doc = include_str!("../docs/mcp_serving.md")]
#[derive(Clone, Debug)]
#[must_use = "it serves nothing until one of its `serve` methods is awaited"]
pub struct McpService {
    runtime: Runtime,
    offer: Offer,
    resources: Resources,
    name: String,
    version: String,
    instructions: Option<String>,
    asks_client: bool,
    answer_timeout: Duration,
    task_after: Duration,
    task_expiry: Duration,
}

/// State that all connections of a service share.
#[derive(Debug)]
struct Shared {
    runtime: Runtime,
    offer: Offer,
    resources: Resources,
    info: ServerConfig,
    parked: ParkedCalls,
    tasks: Tasks,
    asks_client: bool,
    answer_timeout: Duration,
    task_after: Duration,
    task_expiry: Duration,
}

impl McpService {
    /// Offers everything in the runtime's registry.
    pub fn new(runtime: Runtime) -> Self {
        Self {
            offer: Offer::everything(runtime.registry()),
            runtime,
            resources: Resources::default(),
            name: Application::current().name.clone(),
            version: Application::current().version().to_owned(),
            instructions: None,
            asks_client: true,
            answer_timeout: Duration::from_secs(10 * 60),
            task_after: Duration::from_secs(5),
            task_expiry: Duration::from_secs(60 * 60),
        }
    }

    /// Offers only the items and toolsets with these names. Default: everything.
    ///
    /// A call of an offered item can still call items that are not offered.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown name.
    pub fn only(mut self, names: impl IntoIterator<Item: Into<String>>) -> Result<Self, ServeError> {
        let names: Vec<_> = names.into_iter().map(Into::into).collect();
        self.offer = self.offer.only(self.runtime.registry(), &names)?;
        Ok(self)
    }

    /// Offers only items that change nothing: tools with the effect `read_only`, and workers whose tools all have it.
    /// Default: false.
    pub fn read_only(mut self) -> Self {
        self.offer = self.offer.read_only();
        self
    }

    /// Sets the name and the version that clients show. Default: those of the command line, or the package of the
    /// linked items. If the items are from several packages, it is the package with the name of the program, or else
    /// `llm-do`.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Sets instructions for the client's model on how to use the tools. Default: none.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Lets the approver and the input handler of the runtime answer. Default: the user of the client answers.
    pub fn ask_runtime(mut self) -> Self {
        self.asks_client = false;
        self
    }

    /// Sets the maximum time for which a call waits for an answer of its client. Default: 10 minutes.
    ///
    /// After that, a call that waits for the client's next request is cancelled. Other calls continue without an
    /// answer: a call that needed approval does not run.
    pub fn answer_timeout(mut self, timeout: Duration) -> Self {
        self.answer_timeout = timeout;
        self
    }

    /// Sets the time after which the call of a worker or an entry becomes a task, which the client polls. Default: 5
    /// seconds.
    ///
    /// Only for clients with the extension `io.modelcontextprotocol/tasks`; a client without it waits for the result.
    pub fn task_after(mut self, time: Duration) -> Self {
        self.task_after = time;
        self
    }

    /// Sets the lifetime of a task, from its start; it is then cancelled, and its result is deleted. Default: 1 hour.
    pub fn task_expiry(mut self, time: Duration) -> Self {
        self.task_expiry = time;
        self
    }

    /// Serves one client on standard input and output, until the client closes them.
    ///
    /// Nothing else may be written to standard output.
    ///
    /// # Errors
    ///
    /// Returns an error if the client does not speak the protocol.
    pub async fn serve_stdio(self) -> Result<(), ServeError> {
        self.serve(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Serves one client on a pair of streams, such as a socket, until the client closes them.
    ///
    /// # Errors
    ///
    /// Returns an error if the client does not speak the protocol.
    pub async fn serve<R, W>(self, input: R, output: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let handler = Handler::new(Arc::new(self.into_shared()));
        let serving = handler.serve((input, output)).await;
        let serving = serving.map_err(|error| ServeError::new(format!("cannot start the MCP session: {error}")))?;
        serving.waiting().await.map_err(|error| ServeError::new(error.to_string()))?;
        Ok(())
    }

    #[expect(deprecated, reason = "the protocol keeps log entries until 2027-07-28 at least")]
    fn into_shared(self) -> Shared {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_prompts().enable_resources();
        let capabilities = capabilities.enable_resources_subscribe().enable_completions().enable_logging();
        let mut capabilities = capabilities.enable_tasks().build();
        if self.resources.is_empty() {
            capabilities.resources = None;
        }
        if !self.offer.has_workers() {
            (capabilities.prompts, capabilities.completions) = (None, None);
        }
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new(self.name, self.version);
        info.instructions = self.instructions;
        Shared {
            runtime: self.runtime,
            offer: self.offer,
            resources: self.resources,
            info,
            parked: ParkedCalls::new(self.answer_timeout),
            tasks: Tasks::new(self.task_expiry),
            asks_client: self.asks_client,
            answer_timeout: self.answer_timeout,
            task_after: self.task_after,
            task_expiry: self.task_expiry,
        }
    }
}

/// Why tools could not be served.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ServeError(String);

impl ServeError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}
