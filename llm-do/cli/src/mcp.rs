//! `mcp`: serves tools, workers and entries to MCP clients, and keeps snapshots of servers.

mod browser;
mod login;
mod snapshot;

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;

use llm_do_core::observe::event::ItemKind;
use llm_do_core::plane::registry::{Registered, Registry};
use llm_do_core::session::runtime::RuntimeBuilder;
use llm_do_mcp::{HttpOptions, McpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub(super) use self::login::tokens;
use super::CommandError;
use super::args::{McpCommand, McpOptions, ServeOptions};
use super::input::{entry_names, exposed_names};
use super::progress::Progress;
use super::project::Entries;
use super::record::Recorder;
use super::run::{block_on, configure};

/// The variable with the token of HTTP clients.
const TOKEN: &str = "LLM_DO_MCP_TOKEN";

/// Serves, or compares servers with their snapshots.
pub(super) fn mcp(
    builder: RuntimeBuilder,
    options: &McpOptions,
    exposed: Vec<String>,
    runs_projects: bool,
) -> Result<(), CommandError> {
    match &options.command {
        None => serve(builder, &options.serve, exposed, runs_projects),
        Some(McpCommand::Snapshot(options)) => snapshot::snapshot(builder, options, runs_projects),
        Some(McpCommand::Check(options)) => snapshot::check(builder, options, runs_projects),
        Some(McpCommand::Login(options)) => login::log_in(&builder.cancellation_token(), options),
        Some(McpCommand::Logout(options)) => login::log_out(&builder.cancellation_token(), options),
    }
}

/// Serves the linked items, and the files of the options, until the client or the user ends it.
fn serve(
    builder: RuntimeBuilder,
    options: &ServeOptions,
    exposed: Vec<String>,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let mut settings = options.session.settings().read(options.session.items.project.as_deref())?;
    let (mut builder, entries) = options.session.add_files(builder, &mut settings, runs_projects)?;
    let registry = super::project::collect(&mut builder)?;
    let progress = Progress::new(settings.verbosity());
    let token = builder.cancellation_token();
    let recorder = Recorder::open(&options.record)?;
    let builder = recorder.add_to(configure(builder, &settings, &entries, &progress));
    let builder = options.session.keep_evidence(builder, entries.project.as_deref());
    progress.show_panics();
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    let offered = exposed_names(runtime.registry(), &entries, exposed);
    let default = default_offer(runtime.registry(), &entries);
    let service = service(McpService::new(runtime), options, offered, default)?;
    block_on(&token, async {
        let served = match options.http {
            Some(address) => over_http(service, address, http_options(options, &token)?).await,
            None => over_stdio(service, &token).await,
        };
        served.and(recorder.finish(&token).await)
    })?
}

/// Returns the names of entries and workers, or of the application's own tools if it has neither.
///
/// The tools of this crate's toolsets are for workers and entries; if they were offered directly, a client could use
/// them without restriction.
fn default_offer(registry: &Registry, entries: &Entries) -> Vec<String> {
    let names = |is_offered: &dyn Fn(&Registered) -> bool| -> Vec<String> {
        registry.iter().filter(|item| is_offered(item)).map(|item| item.name().to_owned()).collect()
    };
    let entries = entry_names(registry, entries);
    let offered = names(&|item| item.kind() == ItemKind::Worker || entries.iter().any(|name| name == item.name()));
    if offered.is_empty() { names(&|item| !item.is_of_this_crate()) } else { offered }
}

fn service(
    service: McpService,
    options: &ServeOptions,
    exposed: Option<Vec<String>>,
    default: Vec<String>,
) -> Result<McpService, CommandError> {
    let (place, names) = match exposed {
        _ if !options.expose.is_empty() => ("--expose", options.expose.clone()),
        Some(names) => ("what the project or the program exposes", names),
        None => ("the default", default),
    };
    let fault = |error: llm_do_mcp::ServeError| CommandError::Usage(format!("{place}: {error}"));
    let mut service = service.only(names).map_err(fault)?;
    if options.read_only {
        service = service.read_only();
    }
    Ok(if options.ask_here { service.ask_runtime() } else { service })
}

async fn over_stdio(service: McpService, token: &CancellationToken) -> Result<(), CommandError> {
    if io::stdin().is_terminal() {
        // Ignored, here and below: standard error may be closed.
        let _ =
            writeln!(io::stderr(), "serving MCP on standard input and output, for a client that starts this program");
    }
    tokio::select! {
        served = service.serve_stdio() => served.map_err(CommandError::from_error),
        () = token.cancelled() => Ok(()),
    }
}

async fn over_http(service: McpService, address: SocketAddr, http: HttpOptions) -> Result<(), CommandError> {
    let fault = |error: io::Error| CommandError::Error(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    let report = || drop(writeln!(io::stderr(), "serving MCP at http://{address}/mcp"));
    let served = service.serve_http_and_report(listener, http, report).await;
    served.map_err(|error| CommandError::Usage(error.to_string()))
}

fn http_options(options: &ServeOptions, token: &CancellationToken) -> Result<HttpOptions, CommandError> {
    let mut http = HttpOptions::default().cancellation(token.clone());
    http = options.host.iter().fold(http, HttpOptions::host);
    http = options.origin.iter().fold(http, HttpOptions::origin);
    http = http.max_connections_per_address(options.max_connections_per_address);
    Ok(match secret(options)? {
        Some(secret) => http.token(secret),
        None if options.unauthenticated => http.allow_unauthenticated(),
        None => http,
    })
}

/// Reads the token of HTTP clients, if any.
fn secret(options: &ServeOptions) -> Result<Option<String>, CommandError> {
    let Some(path) = &options.token_file else {
        return Ok(std::env::var(TOKEN)
            .ok()
            .filter(|token| !token.trim().is_empty())
            .filter(|_| !options.unauthenticated));
    };
    let fault = |fault: &str| CommandError::Usage(format!("--token-file {}: {fault}", path.display()));
    let token = std::fs::read_to_string(path).map_err(|error| fault(&error.to_string()))?;
    let token = token.trim();
    if token.is_empty() { Err(fault("the file is empty")) } else { Ok(Some(token.to_owned())) }
}
