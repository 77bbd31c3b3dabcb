//! Tools, workers and entries as tools of an MCP server, called by the client of the official SDK.
#![expect(deprecated, reason = "the protocol keeps log entries until 2027-07-28 at least")]

mod approvals;
mod cancelled;
mod content;
mod http;
mod listed;
mod parity;
mod prompts;
mod reports;
mod sessions;
mod tasks;

use std::sync::{Arc, Mutex};

use self::cancelled::Ends;
use llm_do::mcp::McpService;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, Implementation, LoggingMessageNotificationParam, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};

/// Add two numbers.
#[tool(effect = read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Delete a file.
#[tool(effect = destructive)]
fn delete(path: String) -> String {
    format!("deleted {path}")
}

/// Ask the user for a name.
#[tool(effect = read_only)]
async fn who(ctx: &CallContext) -> Result<String> {
    Ok(format!("You are {}.", ctx.request_user_input("Who are you?").await?))
}

fn greeting() -> String {
    "Greet.".to_owned()
}

/// Welcome a person.
#[worker(instructions_with = greeting)]
async fn welcome(
    /// Whom.
    name: String,
) -> String {
    format!("Greet {name}.")
}

/// Cleans up by two calls.
#[entry(toolsets = [add, delete])]
async fn clean(ctx: &CallContext<clean>, paths: Vec<String>) -> Result<Vec<String>> {
    ctx.progress("cleaning");
    let mut deleted = Vec::new();
    for path in paths {
        deleted.push(ctx.call(delete { path }).await?);
    }
    Ok(deleted)
}

/// The version of the protocol that a client speaks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    /// 2025-11-25, with a handshake.
    Handshake,
    /// 2026-07-28, with rounds.
    Rounds,
}

impl Era {
    fn lifecycle(self) -> ClientLifecycleMode {
        match self {
            Self::Handshake => ClientLifecycleMode::Initialize,
            Self::Rounds => ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
        }
    }
}

const ERAS: [Era; 2] = [Era::Handshake, Era::Rounds];

/// A client whose user answers every form in the same way, and which keeps what it is sent.
#[derive(Clone, Debug, Default)]
struct User {
    /// `None` for a client without forms.
    answer: Option<ElicitResult>,
    has_tasks: bool,
    /// Whether it shows forms and never answers.
    is_silent: bool,
    asked: Arc<Mutex<Vec<String>>>,
    progress: Arc<Mutex<Vec<String>>>,
    log: Arc<Mutex<Vec<Value>>>,
}

impl User {
    /// A user who accepts forms with these fields.
    fn accepting(content: Value) -> Self {
        Self::answering(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }

    fn answering(answer: ElicitResult) -> Self {
        Self { answer: Some(answer), ..Self::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if self.answer.is_some() {
            capabilities.elicitation = Some(rmcp::model::ElicitationCapability::default());
        }
        if self.has_tasks {
            capabilities = ClientCapabilities::builder().enable_elicitation().enable_tasks().build();
        }
        ClientConfig::new(capabilities, Implementation::new("tests", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Err(ErrorData::invalid_params("only forms", None));
        };
        self.asked.lock().unwrap().push(message);
        if self.is_silent {
            std::future::pending::<()>().await;
        }
        Ok(self.answer.clone().unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel)))
    }

    async fn on_progress(&self, report: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(format!("{}: {}", report.progress, report.message.unwrap_or_default()));
    }

    async fn on_logging_message(&self, entry: LoggingMessageNotificationParam, _: NotificationContext<RoleClient>) {
        self.log.lock().unwrap().push(json!([entry.level, entry.logger, entry.data]));
    }
}

/// A client that is connected to a service.
type Connected = RunningService<RoleClient, User>;

/// Connects a client to a service in this process.
async fn connect(service: McpService, era: Era, user: User) -> Connected {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(service.serve(input, output));
    user.serve_with_lifecycle(tokio::io::split(ours), era.lifecycle()).await.unwrap()
}

/// Serves all items of this program.
fn serving(configure: impl FnOnce(RuntimeBuilder) -> RuntimeBuilder) -> McpService {
    McpService::new(configure(builder()).build().unwrap())
}

/// Returns a builder with the state that a tool of this program needs.
fn builder() -> RuntimeBuilder {
    crate::own_builder().state(Ends::default()).state(tasks::Gate::default())
}

fn call(name: &'static str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object: {arguments}") };
    CallToolRequestParams::new(name).with_arguments(arguments)
}

/// Returns the text of a result.
fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|part| part.as_text()).map(|part| part.text.as_str()).collect()
}

/// Returns a service with all items of this program.
pub(crate) fn service() -> McpService {
    serving(|builder| builder)
}

pub(crate) use self::http::listen;
