//! How a server is reached, and what is expected of it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use llm_do_core::declare::tool::Effect;
use llm_do_worker_file::mcp_toolset_name;
use serde::Serialize;
use serde_json::json;

use super::connection::McpConnection;
use super::error::McpError;
use super::http;
use super::oauth::OAuth;
use super::transport::{Endpoint, Launch, Transport};

/// An MCP server: how it is reached, and what of it is used.
///
/// Give it to [`WithMcp::mcp`](crate::WithMcp::mcp), which makes a toolset of its tools: `mcp__NAME`, with
/// the tools `mcp__NAME__TOOL`. See [the page about MCP servers](https://docs.rs/llm-do/latest/llm_do/mcp/using_servers/index.html).
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// use llm_do::mcp::McpServer;
/// use llm_do::{Effect, Runtime};
///
/// # fn main() -> llm_do::Result<()> {
/// let files = McpServer::command("files", "npx", ["-y", "@modelcontextprotocol/server-filesystem", "."])
///     .tool_effect("read_text_file", Effect::ReadOnly)
///     .except(["move_file"]);
/// let search = McpServer::http("search", "https://example.org/mcp")
///     .bearer_token(std::env::var("SEARCH_TOKEN")?)
///     .effect(Effect::ReadOnly)
///     .timeout(Duration::from_secs(20));
/// let runtime = Runtime::builder().mcp(files).mcp(search).build()?;
/// # drop(runtime);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "give the server to `RuntimeBuilder::mcp`"]
pub struct McpServer {
    pub(super) name: String,
    pub(super) transport: Transport,
    pub(super) only: Option<Vec<String>>,
    pub(super) except: Vec<String>,
    pub(super) effect: Option<Effect>,
    pub(super) tool_effects: BTreeMap<String, Effect>,
    pub(super) trusts_hints: bool,
    pub(super) connect_timeout: Duration,
    pub(super) timeout: Duration,
    pub(super) max_result: usize,
    pub(super) max_message: usize,
    /// The model that answers requests of the server.
    pub(super) sampling: Option<String>,
    pub(super) max_sampling_tokens: u32,
    pub(super) retries: u32,
    pub(super) restart_delay: Duration,
    /// Whether its tools may be missing.
    pub(super) is_optional: bool,
    /// Settings that do not apply to the transport, or with invalid values.
    pub(super) faults: Vec<String>,
}

impl McpServer {
    /// Describes a server that is a program, which speaks MCP on its standard input and output.
    ///
    /// The program is started when the runtime is built, and ends with the runtime.
    pub fn command(
        name: impl Into<String>,
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item: Into<OsString>>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        let (variables, inherits) = (Vec::new(), Vec::new());
        let launch = Launch { program: program.into(), arguments, variables, inherits, folder: None, check: None };
        Self::new(name.into(), Transport::Command(launch))
    }

    /// Describes a server at a URL: streamable HTTP.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self::new(name.into(), Transport::Http(Endpoint::new(url)))
    }

    /// Describes a server that speaks streamable HTTP on a Unix socket. The URL gives the host and the path of requests.
    #[cfg(unix)]
    pub fn unix_socket(name: impl Into<String>, socket: impl Into<PathBuf>, url: impl Into<String>) -> Self {
        Self::new(name.into(), Transport::Socket(socket.into(), Endpoint::new(url)))
    }

    fn new(name: String, transport: Transport) -> Self {
        Self {
            name,
            transport,
            only: None,
            except: Vec::new(),
            effect: None,
            tool_effects: BTreeMap::new(),
            trusts_hints: false,
            connect_timeout: Duration::from_secs(30),
            timeout: Duration::from_secs(60),
            max_result: 128 << 10,
            max_message: 16 << 20,
            sampling: None,
            max_sampling_tokens: 4096,
            retries: 1,
            restart_delay: Duration::from_millis(500),
            is_optional: false,
            faults: Vec::new(),
        }
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns what identifies the server, and its definition of a tool: an approval holds for these only.
    pub(super) fn identity(&self, tool: &impl Serialize) -> String {
        json!([self.transport.identity(), tool]).to_string()
    }

    /// Returns the name of the toolset: `mcp__NAME`. Characters that are not allowed are replaced, and a digest is added.
    #[must_use]
    pub fn toolset(&self) -> String {
        mcp_toolset_name(&self.name)
    }

    /// Sets a variable of the program's environment.
    ///
    /// Of this process, a server gets only the variables that programs need to run, such as `PATH` and `HOME`, and those that
    /// [`inherit`](Self::inherit) names: the rest may be secret.
    pub fn env(mut self, variable: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        if let Some(launch) = self.launch("env") {
            launch.variables.push((variable.into(), value.into()));
        }
        self
    }

    /// Passes a variable of this process on to the program.
    pub fn inherit(mut self, variable: impl Into<String>) -> Self {
        if let Some(launch) = self.launch("inherit") {
            launch.inherits.push(variable.into());
        }
        self
    }

    /// Sets the folder in which the program is started. Default: the current folder.
    pub fn working_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        if let Some(launch) = self.launch("working_folder") {
            launch.folder = Some(folder.into());
        }
        self
    }

    /// Adds a header to each request. It may be secret, so it is never printed.
    pub fn header(mut self, header: impl Into<String>, value: impl Into<String>) -> Self {
        let (header, value) = (header.into(), value.into());
        let fault = http::header_fault(&header, &value);
        self.faults.extend(fault);
        if let Some(endpoint) = self.endpoint("header") {
            endpoint.headers.push((header, value));
        }
        self
    }

    /// Sets the token of the header `authorization`. It is secret, so it is never printed.
    pub fn bearer_token(mut self, token: impl Into<String>) -> Self {
        let token = token.into();
        self.faults.extend(http::header_fault("authorization", &token));
        if let Some(endpoint) = self.endpoint("bearer_token") {
            endpoint.token = Some(token);
        }
        self
    }

    /// Authorizes by OAuth, if the server demands it. Default: a server that demands it is an error.
    pub fn oauth(mut self, oauth: OAuth) -> Self {
        if let Some(endpoint) = self.endpoint("oauth") {
            endpoint.oauth = Some(Box::new(oauth));
        }
        self
    }

    /// Uses only these tools, by the server's names. Default: all.
    pub fn only(mut self, tools: impl IntoIterator<Item: Into<String>>) -> Self {
        self.only.get_or_insert_default().extend(tools.into_iter().map(Into::into));
        self
    }

    /// Leaves these tools out, by the server's names. Default: none.
    pub fn except(mut self, tools: impl IntoIterator<Item: Into<String>>) -> Self {
        self.except.extend(tools.into_iter().map(Into::into));
        self
    }

    /// Sets the effect of all tools. Default: [`Effect::Undeclared`].
    ///
    /// A hint of the server that a tool does more, such as that it is destructive, replaces it.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// Sets the effect of one tool, by the server's name. The server's hints do not change it.
    pub fn tool_effect(mut self, tool: impl Into<String>, effect: Effect) -> Self {
        self.tool_effects.insert(tool.into(), effect);
        self
    }

    /// Takes the effects from the server's hints: a tool that it calls read-only runs without approval.
    ///
    /// Only for a server that you trust as your own code. Default: hints can only make an effect stricter.
    pub fn trust_hints(mut self) -> Self {
        self.trusts_hints = true;
        self
    }

    /// Sets the time for starting the server and listing its tools. Default: 30 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the time for an answer to a call; the time in which a user is asked does not count. Default: 60 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many bytes of text a result may have; longer text is cut, and a longer structured value is an error.
    /// Default: 128 KiB.
    pub fn max_result(mut self, bytes: usize) -> Self {
        self.max_result = bytes;
        self
    }

    /// Sets how many bytes a message of the server may have, files included. Default: 16 MiB.
    ///
    /// A longer one ends the connection.
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.max_message = bytes;
        self
    }

    /// Lets the server ask this model, `provider:model` (sampling). Default: its requests are refused.
    ///
    /// Each request is a call of the tool `mcp_sampling__NAME`, which [needs approval](https://docs.rs/llm-do/latest/llm_do/mcp/using_servers/index.html#questions-of-a-server)
    /// and counts for the run whose call the server answers.
    pub fn sampling(mut self, model: impl Into<String>) -> Self {
        self.sampling = Some(model.into());
        self
    }

    /// Sets how many tokens an answer to the server may have; requests for more get this many. Default: 4096.
    pub fn max_sampling_tokens(mut self, tokens: u32) -> Self {
        self.max_sampling_tokens = tokens;
        self
    }

    /// Sets how often a call is repeated if the connection is lost during it. Default: once.
    ///
    /// Only calls that are read-only or idempotent are repeated.
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets the delay before a server that ended twice without a call between is started again; it doubles each time, up to
    /// 30 seconds. Default: 500 milliseconds.
    pub fn restart_delay(mut self, delay: Duration) -> Self {
        self.restart_delay = delay;
        self
    }

    /// Lets the runtime be built without the server: if it cannot be used, its tools are missing, and a
    /// [warning](llm_do_core::session::runtime::Runtime::warnings) has the cause. Default: that is an error.
    pub fn optional(mut self) -> Self {
        self.is_optional = true;
        self
    }

    /// Connects to the server, and waits for its tools.
    ///
    /// [`WithMcp::mcp`](crate::WithMcp::mcp) takes the connection in place of the server; building the
    /// runtime then waits for nothing.
    ///
    /// # Errors
    ///
    /// Returns an [`McpError`] if the server cannot be reached in time, or if its list of tools is unusable.
    pub async fn connect(self) -> Result<McpConnection, McpError> {
        McpConnection::open(self, std::path::Path::new(".")).ready().await
    }

    /// Has the program checked before each start.
    #[doc(hidden)]
    pub fn check_before_start(mut self, check: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        if let Some(launch) = self.launch("check_before_start") {
            launch.check = Some(std::sync::Arc::new(check));
        }
        self
    }

    /// Returns the time for starting the server and listing its tools.
    #[doc(hidden)]
    #[must_use]
    pub fn connect_time(&self) -> Duration {
        self.connect_timeout
    }

    /// Adds faults of the file that describes it.
    #[doc(hidden)]
    pub fn with_faults(mut self, faults: Vec<String>) -> Self {
        self.faults.extend(faults);
        self
    }

    fn launch(&mut self, setting: &str) -> Option<&mut Launch> {
        if let Transport::Command(launch) = &mut self.transport {
            return Some(launch);
        }
        self.faults.push(format!("`{setting}` applies only to a server that is started by a command; remove it"));
        None
    }

    fn endpoint(&mut self, setting: &str) -> Option<&mut Endpoint> {
        match &mut self.transport {
            Transport::Http(endpoint) => Some(endpoint),
            #[cfg(unix)]
            Transport::Socket(_, endpoint) => Some(endpoint),
            Transport::Command(_) => {
                self.faults.push(format!("`{setting}` applies only to a server over HTTP; remove it"));
                None
            }
        }
    }
}
