//! `serve`: runs as a service over HTTP, in one database file.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use llm_do_core::app::serve::{Service, ServiceError};
use llm_do_core::base::error::chain;
use llm_do_core::base::open_file::folder_or_current;
use llm_do_core::base::printable::printable_line;
use llm_do_core::session::runtime::RuntimeBuilder;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::CommandError;
use super::args::ServiceOptions;
use super::config::Settings;
use super::input::{entry_names, exposed_names};
use super::progress::Progress;
use super::record::Recorder;
use super::run::{block_on, configure};
use super::state;

/// The length of a day, in seconds.
pub(super) const DAY: u64 = 24 * 60 * 60;
/// The default database of earlier versions, in the current folder.
const FORMER_STORE: &str = "runs.db";
/// The default number of concurrent runs that wait for batches, which takes long and few resources.
const RUNS_IN_BATCHES: usize = 4096;
/// The default port.
const PORT: u16 = 8080;

/// Serves the linked items, and the files of the options, until the user or the system ends it.
pub(super) fn serve(
    builder: RuntimeBuilder,
    options: &ServiceOptions,
    exposed: Vec<String>,
    runs_projects: bool,
) -> Result<(), CommandError> {
    let given = Settings { batch: options.batch.setting(), ..options.session.settings() };
    let mut settings = given.read(options.session.items.project.as_deref())?;
    let (mut builder, entries) = options.session.add_files(builder, &mut settings, runs_projects)?;
    let registry = super::project::collect(&mut builder)?;
    let progress = Progress::new(settings.verbosity());
    let recorder = Recorder::events(options.events.as_deref())?;
    let builder = settings.add_batch(configure(builder, &settings, &entries, &progress));
    let builder = recorder.add_to(builder);
    progress.show_panics();
    let runtime = builder.build_on(registry).map_err(CommandError::from_error)?;
    let offered = exposed_names(runtime.registry(), &entries, exposed);
    let offered = offered.unwrap_or_else(|| entry_names(runtime.registry(), &entries));
    #[cfg(feature = "restate")]
    if let Some(admin) = &options.restate.restate {
        return super::restate::serve(runtime, options, offered, admin, entries.project.as_deref(), recorder);
    }
    let store = store(options.store.as_deref(), entries.project.as_deref())?;
    let mut new = Service::new(runtime);
    if settings.is_batch() {
        new = new.max_active_runs(RUNS_IN_BATCHES);
    }
    let service = service(new, options, offered).map_err(|error| usage(&error))?;
    // Not the token of the runtime, which would cancel the runs; they continue in the next process.
    let shutdown = CancellationToken::new();
    block_on(&shutdown, async {
        let address = options.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], PORT)));
        let served = listen(service, &store, address, shutdown.clone(), report).await;
        served.and(recorder.finish(&shutdown).await)
    })?
}

/// Returns the database that the user names, or the database of a project; by default, the project in the current
/// folder.
///
/// That one is in the user's folder for state: what a project brings would be believed, with all approvals in it.
pub(super) fn store(given: Option<&Path>, project: Option<&Path>) -> Result<PathBuf, CommandError> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let folder = folder_or_current(project.unwrap_or(Path::new("")));
    let found = folder.canonicalize().and_then(|folder| state::outside_of(&folder, &store_name(&folder)));
    let store =
        found.map_err(|error| CommandError::Usage(format!("give --store FILE, since there is no default: {error}")))?;
    if Path::new(FORMER_STORE).is_file() && !store.exists() {
        // Ignored: standard error may be closed.
        let _ =
            writeln!(io::stderr(), "note: `{FORMER_STORE}` is not used; give `--store {FORMER_STORE}` if you made it");
    }
    Ok(store)
}

/// Returns the name of the database of a folder.
fn store_name(folder: &Path) -> String {
    format!("runs/{}.db", state::name_for(folder))
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
    service = service.requests_per_second(options.requests_per_second);
    if let Some(runs) = options.max_active_runs {
        service = service.max_active_runs(runs);
    }
    service = service.max_deaths(options.max_deaths);
    service = service.keep_finished(Duration::from_secs(DAY * u64::from(options.keep_days)));
    Ok(if options.unauthenticated { service.allow_unauthenticated() } else { service })
}

/// Prints a line for the operator.
pub(super) fn report(line: &str) {
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Serves at an address, and reports it once connections are accepted.
pub(super) async fn listen(
    service: Service,
    store: &Path,
    address: SocketAddr,
    shutdown: CancellationToken,
    report: impl FnOnce(&str) + Send,
) -> Result<(), CommandError> {
    let fault = |error: io::Error| CommandError::Error(format!("cannot listen on {address}: {error}"));
    let listener = TcpListener::bind(address).await.map_err(fault)?;
    let address = listener.local_addr().map_err(fault)?;
    let service = service.open(store).await.map_err(|error| usage(&error))?;
    let line = format!("serving {} at http://{address}/", printable_line(&store.display().to_string()));
    let served = service.serve_and_report(listener, shutdown, || report(&line)).await;
    served.map_err(|error| usage(&error))
}
