//! `serve --restate`: runs on many machines, kept by the engine Restate.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use futures_util::future::{join, try_join3};
use llm_do_core::session::runtime::Runtime;
use llm_do_serve::{RestateEngine, RestateWorker, Service, ServiceError};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::CommandError;
use super::args::ServiceOptions;
use super::record::Recorder;
use super::run::block_on;
use super::serve::{DAY, listen, report, service, store, usage};

/// The default port.
const PORT: u16 = 9080;

/// Serves the engine whose administration is at `admin`, until the user or the system ends the program.
pub(super) fn serve(
    runtime: Runtime,
    options: &ServiceOptions,
    offered: Vec<String>,
    admin: &str,
    project: Option<&Path>,
    recorder: Recorder,
) -> Result<(), CommandError> {
    let page = page(&runtime, options, offered.clone(), admin).map_err(|error| usage(&error))?;
    let with_store = |(page, address)| store(options.store.as_deref(), project).map(|store| (page, address, store));
    let page = page.map(with_store).transpose()?;
    let worker = worker(runtime, options, offered, admin).map_err(|error| usage(&error))?;
    let shutdown = CancellationToken::new();
    block_on(&shutdown, async {
        let address = options.listen.unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], PORT)));
        let fault = |error: io::Error| CommandError::Error(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(fault)?;
        let address = listener.local_addr().map_err(fault)?;
        let line = format!("serving Restate at {admin} on {address}");
        let Some((page, page_address, store)) = page else {
            let served = worker.serve_and_report(listener, shutdown.clone(), || report(&line)).await;
            return served.map_err(|error| usage(&error)).and(recorder.finish(&shutdown).await);
        };
        // Each depends on the other, so both are reported together.
        let (page_is_ready, page_line) = oneshot::channel();
        let (worker_is_ready, worker_line) = oneshot::channel();
        let serving = async {
            let ready = || drop(worker_is_ready.send(line));
            worker.serve_and_report(listener, shutdown.clone(), ready).await.map_err(|error| usage(&error))
        };
        let ready = |line: &str| drop(page_is_ready.send(line.to_owned()));
        let listening = listen(page, &store, page_address, shutdown.clone(), ready);
        let reporting = async {
            if let (Ok(worker), Ok(page)) = join(worker_line, page_line).await {
                report(&worker);
                report(&page);
            }
            Ok(())
        };
        let served = try_join3(serving, listening, reporting).await.map(drop);
        served.and(recorder.finish(&shutdown).await)
    })?
}

/// Returns the service that shows the runs, and its address.
fn page(
    runtime: &Runtime,
    options: &ServiceOptions,
    offered: Vec<String>,
    admin: &str,
) -> Result<Option<(Service, SocketAddr)>, ServiceError> {
    let Some(address) = options.restate.page else { return Ok(None) };
    let engine = RestateEngine::new(&service_name(options))?.ingress(&options.restate.ingress).admin(admin);
    let page = service(Service::new(runtime.clone()), options, offered)?.on_restate(engine);
    Ok(Some((page, address)))
}

fn worker(
    runtime: Runtime,
    options: &ServiceOptions,
    offered: Vec<String>,
    admin: &str,
) -> Result<RestateWorker, ServiceError> {
    let restate = &options.restate;
    let name = service_name(options);
    let names = if options.entries.is_empty() { offered } else { options.entries.clone() };
    let worker = RestateWorker::new(&name, runtime)?.entries(names)?.register(admin);
    let worker = worker.keep_finished(Duration::from_secs(DAY * u64::from(options.keep_days)));
    let worker = restate.identity_key.iter().fold(worker, RestateWorker::identity_key);
    let worker = match &restate.public_uri {
        Some(uri) => worker.public_uri(uri),
        None => worker,
    };
    Ok(if restate.replace_deployment { worker.replace_deployment() } else { worker })
}

fn service_name(options: &ServiceOptions) -> String {
    options.restate.restate_service.clone().unwrap_or_else(program_name)
}

/// Returns the name of this program, without characters that are invalid in a name of Restate.
fn program_name() -> String {
    let path = std::env::current_exe().ok();
    let name = path.as_deref().and_then(|path| path.file_stem()).and_then(|name| name.to_str()).unwrap_or_default();
    let name: String = name.chars().filter(|char| char.is_ascii_alphanumeric() || "_-".contains(*char)).collect();
    if name.starts_with(|first: char| first.is_ascii_alphabetic()) { name } else { format!("app_{name}") }
}
