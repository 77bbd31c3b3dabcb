//! How a connection is negotiated, for each transport and version of the protocol.

use std::sync::Arc;

use llm_do_core::base::mutex::IgnorePoison;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::streamable_http_client::{StreamableHttpClient, StreamableHttpClientTransportConfig};
use rmcp::transport::{StreamableHttpClientTransport, Transport as Messages};

use super::error::McpError;
use super::exchange::Exchange;
use super::handler::Handler;
use super::lines::Lines;
use super::oauth::{self, Authorized};
use super::process::Process;
use super::request_limit::{EndReason, LimitedTransport, Own};
use super::server::McpServer;
use super::transport::{Launch, Transport};
use super::{http, reason, text};

/// How a connection is negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Era {
    /// By discovery, and by the handshake if the server does not support discovery.
    #[default]
    Any,
    /// By the handshake of 2025-11-25 and before, since some servers exit on a discovery.
    Handshake,
    /// By discovery, without a separate timeout: a server that starts slowly might not support a handshake.
    Discovery,
}

/// A connection, and the program of the server if it is one.
type Connected = (RunningService<RoleClient, Handler>, Option<Process>);

/// Connects to a server.
pub(super) async fn connect(
    server: &McpServer,
    handler: Handler,
    era: Era,
    authorized: Option<&Authorized>,
) -> Result<Connected, ConnectAttempt> {
    match &server.transport {
        Transport::Command(launch) => start(server, launch, handler, era).await,
        Transport::Http(endpoint) => {
            let config = http::config(server, endpoint);
            let service = match authorized {
                Some(client) => over_http(server, handler, era, client.clone(), config).await,
                None => over_http(server, handler, era, client(server, Exchange::new())?, config).await,
            };
            Ok((service?, None))
        }
        #[cfg(unix)]
        Transport::Socket(socket, endpoint) => {
            let client = client(server, Exchange::on_socket(socket))?;
            Ok((over_http(server, handler, era, client, http::config(server, endpoint)).await?, None))
        }
    }
}

/// Returns a client of a server at a URL.
fn client(server: &McpServer, client: reqwest::Result<Exchange>) -> Result<Exchange, ConnectAttempt> {
    let failed = |error: reqwest::Error| McpError::Connect { server: server.name.clone(), reason: text::root(&error) };
    client.map_err(|error| ConnectAttempt::Failed(failed(error)))
}

/// The failure of an attempt to connect.
pub(super) enum ConnectAttempt {
    /// The server does not support the request, but may support a different negotiation: its answer has an unknown
    /// form, or it exited.
    Unfit(McpError, Era),
    Failed(McpError),
}

impl ConnectAttempt {
    pub(super) fn into_error(self) -> McpError {
        match self {
            Self::Unfit(error, _) | Self::Failed(error) => error,
        }
    }
}

impl Era {
    fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Any => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            Self::Handshake => ClientLifecycleMode::Initialize,
            Self::Discovery => {
                ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
            }
        }
    }
}

async fn start(server: &McpServer, launch: &Launch, handler: Handler, era: Era) -> Result<Connected, ConnectAttempt> {
    let failed = |error: std::io::Error| {
        let program = text::line(&launch.program.to_string_lossy());
        let reason = format!("`{program}`: {error}{}", words_hint(&program, &error));
        ConnectAttempt::Failed(McpError::Start { server: server.name.clone(), reason })
    };
    let fault = Arc::clone(&handler.fault);
    let started = Process::start(launch, server.max_message, Arc::clone(&fault));
    let (process, (output, input)) = started.map_err(failed)?;
    let (own, transport) = (Own::default(), Lines::new(output, input));
    match serve(server, handler, era, transport, &own).await {
        Ok(service) => Ok((service, Some(process))),
        Err(error) if is_end(&error) => {
            let cause = match fault.get() {
                Some(fault) => fault.clone(),
                None => process.cause().await,
            };
            let reason = format!("{cause}{}", last_words(&process));
            Err(ConnectAttempt::Unfit(McpError::Connect { server: server.name.clone(), reason }, Era::Handshake))
        }
        Err(error) => Err(refused(server, &error, &fault, &own, &last_words(&process))),
    }
}

/// Returns advice if the program is a whole command line, such as `python -m server`.
fn words_hint(program: &str, error: &std::io::Error) -> String {
    match program.split_once(char::is_whitespace) {
        Some((first, rest)) if error.kind() == std::io::ErrorKind::NotFound => format!(
            "; the program is one word, without its arguments: is it `{first}`, with `{}` as arguments (`args` in `.mcp.json`)?",
            rest.trim_start()
        ),
        _ => String::new(),
    }
}

/// Returns whether the program ended or closed its output.
fn is_end(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_end(fallback),
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => true,
        _ => false,
    }
}

/// Returns the last output of a program, as the end of a reason.
fn last_words(process: &Process) -> String {
    let words = process.last_words();
    words.map(|words| format!("; its last line on standard error: {words}")).unwrap_or_default()
}

/// Negotiates a connection, with a limit of the requests of its server.
async fn serve(
    server: &McpServer,
    handler: Handler,
    era: Era,
    transport: impl Messages<RoleClient> + 'static,
    own: &Own,
) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError> {
    let limited = LimitedTransport::new(transport, server.max_message, Arc::clone(&handler.fault), Arc::clone(own));
    handler.serve_with_lifecycle(limited, era.mode()).await
}

async fn over_http(
    server: &McpServer,
    handler: Handler,
    era: Era,
    client: impl StreamableHttpClient + Sync,
    config: StreamableHttpClientTransportConfig,
) -> Result<RunningService<RoleClient, Handler>, ConnectAttempt> {
    let (fault, own) = (Arc::clone(&handler.fault), Own::default());
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let service = serve(server, handler, era, transport, &own).await;
    service.map_err(|error| refused(server, &error, &fault, &own, ""))
}

/// Returns whether a server answered with 401, without a challenge.
fn is_unauthorized(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::TransportError { error, .. } => oauth::is_unauthorized(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_unauthorized(fallback),
        _ => false,
    }
}

fn refused(
    server: &McpServer,
    error: &ClientInitializeError,
    fault: &EndReason,
    own: &Own,
    words: &str,
) -> ConnectAttempt {
    let has_login = server.transport.has_login();
    let server = server.name.clone();
    let is_demanded = error.is_authorization_required() || error.auth_challenge().is_some();
    if is_demanded || (has_login && is_unauthorized(error)) {
        let challenge = error.auth_challenge().unwrap_or_default().to_owned();
        return ConnectAttempt::Failed(McpError::Unauthorized { server, challenge });
    }
    let reason = fault.get().cloned().unwrap_or_else(|| text::line(&reason::of_start(error)));
    let refused = McpError::Connect { server, reason: format!("{reason}{words}") };
    if own.lock().ignore_poison().was_discovered_late {
        return ConnectAttempt::Unfit(refused, Era::Discovery);
    }
    match error {
        ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            ConnectAttempt::Unfit(refused, Era::Handshake)
        }
        _ => ConnectAttempt::Failed(refused),
    }
}

/// Checks that the server chose a version that exists.
pub(super) fn check_version(
    server: &McpServer,
    service: &RunningService<RoleClient, Handler>,
) -> Result<(), ConnectAttempt> {
    let Some(info) = service.peer_info() else { return Ok(()) };
    if ProtocolVersion::KNOWN_VERSIONS.contains(&info.protocol_version) {
        return Ok(());
    }
    let reason = reason::of_versions(std::slice::from_ref(&info.protocol_version));
    Err(ConnectAttempt::Failed(McpError::Connect { server: server.name.clone(), reason }))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};

    use super::super::handler::Owner;
    use super::*;

    /// Answers to a discovery only after the handshake was asked for: with `late`, and then with `handshake`.
    async fn slow_server(stream: DuplexStream, late: Value, handshake: Value) {
        let (input, mut output) = tokio::io::split(stream);
        let (mut lines, mut discovery) = (BufReader::new(input).lines(), Value::Null);
        while let Ok(Some(line)) = lines.next_line().await {
            let message: Value = serde_json::from_str(&line).unwrap();
            let answers = match message["method"].as_str() {
                Some("server/discover") => {
                    discovery = message["id"].clone();
                    continue;
                }
                Some("initialize") => [(discovery.clone(), &late), (message["id"].clone(), &handshake)],
                _ => continue,
            };
            for (id, fields) in answers {
                let mut answer = fields.clone();
                answer["jsonrpc"] = json!("2.0");
                answer["id"] = id;
                output.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
            }
        }
    }

    /// Negotiates with a slow server, on a clock that goes on when nothing else is left to do.
    fn negotiated(late: Value, handshake: Value) -> (Result<String, String>, bool) {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        tokio.block_on(async {
            let (own_end, other_end) = tokio::io::duplex(1 << 16);
            tokio::spawn(slow_server(other_end, late, handshake));
            let server = Arc::new(McpServer::command("s", "s", [""; 0]));
            let owner = Owner::new(Path::new("."));
            let (calls, is_stale, fault) = Default::default();
            let handler = Handler { server: Arc::clone(&server), calls, is_stale, owner, fault };
            let ((input, output), own) = (tokio::io::split(own_end), Own::default());
            let outcome = super::serve(&server, handler, Era::Any, Lines::new(input, output), &own).await;
            let version = |service: RunningService<RoleClient, Handler>| {
                service.peer_info().map(|info| info.protocol_version.to_string()).unwrap_or_default()
            };
            let is_late = own.lock().ignore_poison().was_discovered_late;
            (outcome.map(version).map_err(|error| reason::of_start(&error)), is_late)
        })
    }

    fn handshake() -> Value {
        let info = json!({ "name": "slow", "version": "1" });
        json!({ "result": { "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": info } })
    }

    #[test]
    fn a_late_answer_to_a_discovery_that_was_given_up_is_ignored() {
        let refusal = json!({ "error": { "code": -32601, "message": "unknown method" } });
        assert_eq!(negotiated(refusal, handshake()), (Ok("2025-06-18".to_owned()), false));
    }

    #[test]
    fn a_server_that_knows_no_handshake_and_starts_slowly_is_asked_again() {
        let discovery = json!({ "supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0 });
        let refusal = json!({ "error": { "code": -32601, "message": "unknown method" } });
        let (error, is_late) = negotiated(json!({ "result": discovery }), refusal);
        assert_eq!(error.unwrap_err(), "the server refused the handshake: unknown method");
        assert!(is_late, "it is asked in the other way");
    }
}
