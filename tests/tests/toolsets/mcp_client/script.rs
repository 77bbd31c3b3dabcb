//! The server of the tests: a script.

use std::path::{Path, PathBuf};
use std::time::Duration;

use llm_do::approval::ApprovalMode;
use llm_do::mcp::{McpServer, McpTools, WithMcp};
use llm_do::runtime::RuntimeBuilder;
use llm_do::{Runtime, Value, json};
use tempfile::TempDir;

/// Flags of the script, with a folder for its files.
pub(crate) struct Script {
    flags: Vec<String>,
    folder: TempDir,
}

impl Script {
    pub(crate) fn new(flags: &[&str]) -> Self {
        Self { flags: flags.iter().map(|flag| (*flag).to_owned()).collect(), folder: TempDir::new().unwrap() }
    }

    /// Adds a flag whose value is the path of a file.
    pub(crate) fn with_file(mut self, flag: &str) -> Self {
        self.flags.push(format!("{flag}={}", self.path(flag).display()));
        self
    }

    /// Adds tools that the server lists besides its own.
    pub(crate) fn with_tools(self, tools: &Value) -> Self {
        let script = self.with_file("tools");
        script.list(tools);
        script
    }

    /// Replaces the tools that the server lists besides its own.
    pub(crate) fn list(&self, tools: &Value) {
        std::fs::write(self.path("tools"), tools.to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the lines of a file that the server writes.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the messages that the server got, of one method.
    pub(crate) fn received(&self, method: &str) -> Vec<Value> {
        let messages = self.lines("log").into_iter().map(|line| serde_json::from_str::<Value>(&line).unwrap());
        messages.filter(|message| message["method"] == method).collect()
    }

    /// Waits until the server has got messages of a method.
    pub(crate) async fn wait_for(&self, method: &str) -> Vec<Value> {
        for _ in 0..1000 {
            match self.received(method) {
                received if received.is_empty() => tokio::time::sleep(Duration::from_millis(10)).await,
                received => return received,
            }
        }
        panic!("the server got no `{method}` within 10 seconds");
    }

    pub(crate) fn server(&self) -> McpServer {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mcp/server.py");
        let flags = self.flags.iter().map(String::as_str);
        let arguments = std::iter::once(script.to_str().unwrap()).chain(flags);
        McpServer::command("s", "python3", arguments).restart_delay(Duration::from_millis(1))
    }

    pub(crate) fn runtime(&self) -> Runtime {
        builder(self.server()).build().unwrap()
    }
}

/// Returns a builder with a server, of nothing else.
pub(crate) fn builder(server: impl Into<McpTools>) -> RuntimeBuilder {
    Runtime::builder().only([""; 0]).approval_mode(ApprovalMode::ApproveAll).mcp(server)
}

/// Calls a tool of the server, and returns its result, or the text that a model gets.
pub(crate) async fn call(runtime: &Runtime, tool: &str, arguments: Value) -> Result<Value, String> {
    let name = format!("mcp__s__{tool}");
    runtime.run_named(&name, arguments).await.map_err(|error| error.model_message())
}

/// Calls `echo`.
pub(crate) async fn echo(runtime: &Runtime, text: &str) -> Result<Value, String> {
    call(runtime, "echo", json!({ "text": text })).await
}
