//! `serve`: many runs as a service, over HTTP and in one file.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::CommandError;
use super::args::ServiceOptions;
use super::input::entry_names;
use super::progress::Progress;
use super::run::{block_on, configure};
use crate::app::serve::{Service, ServiceError};
use crate::base::error::chain;
use crate::session::runtime::RuntimeBuilder;

/// The length of a day, in seconds.
pub(super) const DAY: u64 = 24 * 60 * 60;
/// The port to listen on by default.
const PORT: u16 = 8080;

/// Serves what is linked, and the files that the options name, until the user or the system ends it.
pub(super) fn serve(
    builder: RuntimeBuilder,
    options: &ServiceOptions,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let mut settings = options.session.settings().read(options.session.items.project.as_deref())?;
    let (mut builder, entries) = options.session.add_files(builder, &mut settings, runs_projects)?;
    let registry = super::project::collect(&mut builder)?;
    let progress = Progress::new(settings.verbosity());
    let builder = configure(builder, &settings, &entries, &progress);
    progress.show_panics();
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    let offered = entry_names(runtime.registry(), &entries);
    #[cfg(feature = "restate")]
    if let Some(admin) = &options.restate.restate {
        return super::restate::serve(runtime, options, offered, admin);
    }
    let service = service(Service::new(runtime), options, offered).map_err(|error| usage(&error))?;
    // Not the token of the runtime, which would cancel the runs: they continue in the next process.
    let shutdown = CancellationToken::new();
    block_on(&shutdown, async {
        tokio::spawn(terminated(shutdown.clone()));
        let address = options.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], PORT)));
        listen(service, options, address, shutdown.clone()).await
    })?
}

pub(super) fn usage(error: &ServiceError) -> CommandError {
    CommandError::Usage(chain(error))
}

pub(super) fn service(
    service: Service,
    options: &ServiceOptions,
    offered: Vec<String>,
) -> Result<Service, ServiceError> {
    let names = if options.entries.is_empty() { offered } else { options.entries.clone() };
    let mut service = service.entries(names)?;
    if let Some(path) = &options.service {
        service = service.configure(path)?;
    }
    service = options.host.iter().fold(service, Service::host);
    service = service.max_connections_per_address(options.max_connections_per_address);
    service = service.max_active_runs(options.max_active_runs).max_deaths(options.max_deaths);
    service = service.keep_finished(Duration::from_secs(DAY * u64::from(options.keep_days)));
    Ok(if options.unauthenticated { service.allow_unauthenticated() } else { service })
}

pub(super) async fn listen(
    service: Service,
    options: &ServiceOptions,
    address: SocketAddr,
    shutdown: CancellationToken,
) -> Result<(), CommandError> {
    let fault = |error: io::Error| CommandError::Error(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    let service = service.open(&options.store).await.map_err(|error| usage(&error))?;
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "serving {} at http://{address}/", options.store.display());
    service.serve(listener, shutdown).await.map_err(|error| usage(&error))
}

/// Ends the service when the system asks for it, as it does on a deploy.
#[cfg(unix)]
pub(super) async fn terminated(shutdown: CancellationToken) {
    use tokio::signal::unix::{SignalKind, signal};
    if let Ok(mut terminate) = signal(SignalKind::terminate()) {
        terminate.recv().await;
        shutdown.cancel();
    }
}

#[cfg(not(unix))]
pub(super) async fn terminated(_: CancellationToken) {}
