//! How a connection is made, on each kind of transport and in each era of the protocol.

use std::sync::Arc;

use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::{StreamableHttpClientTransport, Transport as Messages};

use super::error::McpError;
use super::handler::Handler;
use super::oauth::{self, Authorized};
use super::process::Process;
use super::request_limit::{EndReason, LimitedTransport};
use super::server::McpServer;
use super::transport::{Endpoint, Launch, Transport};
use super::{http, text};

/// How a connection is negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Era {
    /// By asking a server what it supports, and by the handshake if it does not know the question.
    #[default]
    Any,
    /// By the handshake of 2025-11-25 and before: some servers end when they are asked.
    Handshake,
}

/// A connection, and the program of the server if it is one.
type Connected = (RunningService<RoleClient, Handler>, Option<Process>);

/// Connects to a server.
pub(super) async fn connect(
    server: &McpServer,
    handler: Handler,
    era: Era,
    authorized: Option<&Authorized>,
) -> Result<Connected, Attempt> {
    match &server.transport {
        Transport::Command(launch) => start(server, launch, handler, era).await,
        Transport::Http(endpoint) => Ok((reach(server, endpoint, handler, era, authorized).await?, None)),
        #[cfg(unix)]
        Transport::Socket(socket, endpoint) => {
            let (config, socket) = (http::config(server, endpoint), socket.to_string_lossy());
            let transport = StreamableHttpClientTransport::from_unix_socket_with_config(&socket, config);
            Ok((negotiate(server, handler, era, transport).await?, None))
        }
    }
}

/// Why a connection could not be made.
pub(super) enum Attempt {
    /// The program ended, or its answer has another form: old servers do not know the request.
    Unfit(McpError),
    Failed(McpError),
}

impl Attempt {
    pub(super) fn into_error(self) -> McpError {
        match self {
            Self::Unfit(error) | Self::Failed(error) => error,
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
        }
    }
}

async fn start(server: &McpServer, launch: &Launch, handler: Handler, era: Era) -> Result<Connected, Attempt> {
    let failed = |error: std::io::Error| {
        let program = text::line(&launch.program.to_string_lossy());
        let reason = format!("`{program}`: {error}{}", words_hint(&program, &error));
        Attempt::Failed(McpError::Start { server: server.name.clone(), reason })
    };
    let fault = Arc::clone(&handler.fault);
    let started = Process::start(launch, server.max_message, Arc::clone(&fault));
    let (process, (output, input)) = started.map_err(failed)?;
    // A line is measured before it gets there.
    let transport = AsyncRwTransport::new_client(output, input).with_max_line_length(usize::MAX);
    match serve(server, handler, era, transport).await {
        Ok(service) => Ok((service, Some(process))),
        Err(ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }) => {
            let cause = match fault.get() {
                Some(fault) => fault.clone(),
                None => process.cause().await,
            };
            let said = process
                .last_words()
                .map(|said| format!("; its last line on standard error: {said}"))
                .unwrap_or_default();
            let reason = format!("{cause}{said}");
            Err(Attempt::Unfit(McpError::Connect { server: server.name.clone(), reason }))
        }
        Err(error) => Err(refused(server, &error, &fault)),
    }
}

/// Returns advice for a program that is a whole command line, such as `python -m server`.
fn words_hint(program: &str, error: &std::io::Error) -> String {
    match program.split_once(char::is_whitespace) {
        Some((first, rest)) if error.kind() == std::io::ErrorKind::NotFound => format!(
            "; the program is one word, without its arguments: is it `{first}`, with `{}` as arguments (`args` in `.mcp.json`)?",
            rest.trim_start()
        ),
        _ => String::new(),
    }
}

/// Negotiates a connection, with a limit of the requests of its server.
async fn serve(
    server: &McpServer,
    handler: Handler,
    era: Era,
    transport: impl Messages<RoleClient> + 'static,
) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError> {
    let limited = LimitedTransport::new(transport, server.max_message, Arc::clone(&handler.fault));
    handler.serve_with_lifecycle(limited, era.mode()).await
}

async fn negotiate(
    server: &McpServer,
    handler: Handler,
    era: Era,
    transport: impl Messages<RoleClient> + 'static,
) -> Result<RunningService<RoleClient, Handler>, Attempt> {
    let fault = Arc::clone(&handler.fault);
    serve(server, handler, era, transport).await.map_err(|error| refused(server, &error, &fault))
}

async fn reach(
    server: &McpServer,
    endpoint: &Endpoint,
    handler: Handler,
    era: Era,
    authorized: Option<&Authorized>,
) -> Result<RunningService<RoleClient, Handler>, Attempt> {
    let config = http::config(server, endpoint);
    match authorized {
        Some(client) => {
            let transport = StreamableHttpClientTransport::with_client(client.clone(), config);
            negotiate(server, handler, era, transport).await
        }
        None => negotiate(server, handler, era, StreamableHttpClientTransport::from_config(config)).await,
    }
}

/// Returns whether a server answered with 401, with no challenge.
fn is_unauthorized(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::TransportError { error, .. } => oauth::is_unauthorized(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => is_unauthorized(fallback),
        _ => false,
    }
}

fn refused(server: &McpServer, error: &ClientInitializeError, fault: &EndReason) -> Attempt {
    let has_login = server.transport.has_login();
    let server = server.name.clone();
    let is_demanded = error.is_authorization_required() || error.auth_challenge().is_some();
    if is_demanded || (has_login && is_unauthorized(error)) {
        let challenge = error.auth_challenge().unwrap_or_default().to_owned();
        return Attempt::Failed(McpError::Unauthorized { server, challenge });
    }
    let reason = match (fault.get(), error) {
        (Some(fault), _) => fault.clone(),
        // The rest of its text names parts of the program.
        (None, ClientInitializeError::TransportError { error, .. }) => text::root(error.error.as_ref()),
        (None, error) => text::root(error),
    };
    let refused = McpError::Connect { server, reason: text::line(&reason) };
    match error {
        ClientInitializeError::ExpectedInitResult(_) => Attempt::Unfit(refused),
        _ => Attempt::Failed(refused),
    }
}
