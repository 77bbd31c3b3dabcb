//! What a call over MCP costs beside the same tool on the bare SDK: one client, one run.
//!
//! `cargo bench --package llm-do-tests --bench mcp`. Over stdio, the server is a process of its own: this program, started again. The
//! streams are the same without the processes.

use std::hint::black_box;
use std::process::Stdio;
use std::sync::Arc;

use criterion::{BenchmarkId, Criterion, criterion_group};
use llm_do::mcp::{HttpOptions, McpService};
use llm_do::prelude::*;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ClientConfig, JsonObject, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ServerCapabilities, ServerConfig,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpClientTransport, StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleClient, RoleServer, ServerHandler, ServiceExt};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::runtime::Runtime as Tokio;

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// The same tool, by hand.
#[derive(Clone)]
struct Bare(rmcp::model::Tool);

impl Bare {
    fn new() -> Self {
        let number = json!({ "type": "integer", "format": "int64" });
        let schema = json!({
            "type": "object",
            "properties": { "a": number, "b": number },
            "required": ["a", "b"],
            "additionalProperties": false,
        });
        let schema: JsonObject = serde_json::from_value(schema).expect("the schema is an object");
        let output: JsonObject = serde_json::from_value(number).expect("the schema is an object");
        Self(rmcp::model::Tool::new("add", "Add two numbers.", schema).with_raw_output_schema(Arc::new(output)))
    }
}

impl ServerHandler for Bare {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![self.0.clone()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let number = |name: &str| {
            let value = arguments.get(name).and_then(serde_json::Value::as_i64);
            value.ok_or_else(|| ErrorData::invalid_params(format!("`{name}` must be a number"), None))
        };
        Ok(CallToolResult::structured(json!(number("a")? + number("b")?)).into())
    }

    fn get_tool(&self, _: &str) -> Option<rmcp::model::Tool> {
        Some(self.0.clone())
    }
}

type Client = RunningService<RoleClient, ClientConfig>;

fn lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

fn service() -> McpService {
    McpService::new(Runtime::builder().build().expect("the runtime is valid"))
}

async fn over_streams(is_bare: bool) -> Client {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    if is_bare {
        tokio::spawn(async move { Bare::new().serve((input, output)).await.expect("it serves").waiting().await });
    } else {
        tokio::spawn(service().serve(input, output));
    }
    let client = ClientConfig::default().serve_with_lifecycle(tokio::io::split(ours), lifecycle());
    client.await.expect("the client connects")
}

/// The variable that makes this program a server on standard input and output: `rmcp` or `llm-do`.
const SERVER: &str = "MCP_BENCH_SERVER";

/// Starts a server as a process, which ends with the returned child.
async fn over_stdio(server: &str) -> (Client, Child) {
    let program = std::env::current_exe().expect("this program has a path");
    let mut command = Command::new(program);
    command.env(SERVER, server).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("the server starts");
    let pipes = (child.stdout.take().expect("it is piped"), child.stdin.take().expect("it is piped"));
    let client = ClientConfig::default().serve_with_lifecycle(pipes, lifecycle());
    (client.await.expect("the client connects"), child)
}

/// Serves on standard input and output until the client ends.
async fn serve_stdio(server: &str) {
    if server == "rmcp" {
        let pipes = (tokio::io::stdin(), tokio::io::stdout());
        Bare::new().serve(pipes).await.expect("it serves").waiting().await.expect("it ends");
    } else {
        service().serve_stdio().await.expect("it serves");
    }
}

async fn over_http(is_bare: bool) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let url = format!("http://{}/mcp", listener.local_addr().expect("it is bound"));
    if is_bare {
        let (sessions, config) = (Arc::new(LocalSessionManager::default()), StreamableHttpServerConfig::default());
        let service = StreamableHttpService::new(|| Ok(Bare::new()), sessions, config);
        let router = axum::Router::new().route_service("/mcp", service);
        tokio::spawn(async move { axum::serve(listener, router).await });
    } else {
        tokio::spawn(service().serve_http(listener, HttpOptions::default()));
    }
    let transport = StreamableHttpClientTransport::from_uri(url);
    ClientConfig::default().serve_with_lifecycle(transport, lifecycle()).await.expect("the client connects")
}

async fn call(client: &Client) -> CallToolResult {
    let arguments = json!({ "a": 20, "b": 22 }).as_object().cloned().unwrap_or_default();
    client.call_tool(CallToolRequestParams::new("add").with_arguments(arguments)).await.expect("the call succeeds")
}

fn tokio() -> Tokio {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("tokio starts")
}

fn calls(criterion: &mut Criterion) {
    let tokio = tokio();
    let mut group = criterion.benchmark_group("mcp");
    for is_bare in [true, false] {
        let server = if is_bare { "rmcp" } else { "llm-do" };
        let (client, child) = tokio.block_on(over_stdio(server));
        assert_eq!(tokio.block_on(call(&client)).structured_content, Some(json!(42)));
        group.bench_function(BenchmarkId::new("stdio", server), |bencher| {
            bencher.to_async(&tokio).iter(async || black_box(call(&client).await));
        });
        drop((client, child));
        let client = tokio.block_on(over_streams(is_bare));
        assert_eq!(tokio.block_on(call(&client)).structured_content, Some(json!(42)));
        group.bench_function(BenchmarkId::new("streams", server), |bencher| {
            bencher.to_async(&tokio).iter(async || black_box(call(&client).await));
        });
        let client = tokio.block_on(over_http(is_bare));
        assert_eq!(tokio.block_on(call(&client)).structured_content, Some(json!(42)));
        group.bench_function(BenchmarkId::new("http", server), |bencher| {
            bencher.to_async(&tokio).iter(async || black_box(call(&client).await));
        });
    }
    group.finish();
}

criterion_group!(benches, calls);

fn main() {
    if let Ok(server) = std::env::var(SERVER) {
        return tokio().block_on(serve_stdio(&server));
    }
    benches();
    Criterion::default().configure_from_args().final_summary();
}
