//! Prepares files that must be downloaded or checked, on a thread of their own since both may take minutes.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::sync::MutexGuard;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::super::fault;
use super::super::thread::{Job, submit as submit_ready};
#[cfg(feature = "local-download")]
use super::canonical;
use super::progress::{FetchProgress, ProgressFilter, Size};
use super::{Source, Weights};
use crate::error::ProviderError;
use crate::model::StreamEvent;

/// Queues `job` for the model of `weights` once they are ready.
pub(in super::super) fn submit(weights: &Arc<Weights>, job: Job) -> Result<(), ProviderError> {
    if let Some(path) = weights.ready() {
        return submit_ready(path, job);
    }
    let weights = Arc::clone(weights);
    spawn(move || {
        let events = job.events.clone();
        let filter = Mutex::new(ProgressFilter::default());
        let report = |progress: FetchProgress| {
            if filter.lock().is_ok_and(|mut filter| filter.accepts(&progress)) {
                events.send(Ok(StreamEvent::Waiting { on: progress.to_string() }));
            }
        };
        let submitted = weights.prepare(&report, events.closed()).and_then(|path| submit_ready(&path, job));
        if let Err(error) = submitted {
            events.send(Err(error));
        }
    })
}

/// Waits until `weights` are ready; returns the path of the file.
pub(in super::super) async fn fetch(
    weights: &Arc<Weights>,
    mut report: impl FnMut(FetchProgress),
) -> Result<PathBuf, ProviderError> {
    if let Some(path) = weights.ready() {
        return Ok(path.to_owned());
    }
    let (sender, mut receiver) = unbounded_channel();
    let (done, outcome) = oneshot::channel();
    let weights = Arc::clone(weights);
    spawn(move || {
        // Send errors mean that the caller has gone away.
        let path = weights.prepare(&|progress| drop(sender.send(progress)), sender.closed());
        let _ = done.send(path);
    })?;
    while let Some(progress) = receiver.recv().await {
        report(progress);
    }
    outcome.await.unwrap_or_else(|_| Err(fault::internal("the download thread stopped without a result; try again")))
}

fn spawn(task: impl FnOnce() + Send + 'static) -> Result<(), ProviderError> {
    let builder = thread::Builder::new().name("llm-do-weights".to_owned());
    builder.spawn(task).map(drop).map_err(|source| {
        fault::configuration("cannot start a thread to download the model's file").with_source(source)
    })
}

impl Weights {
    /// Downloads and checks the file; `cancelled` completes when the caller has gone away.
    fn prepare(
        &self,
        report: &dyn Fn(FetchProgress),
        cancelled: impl Future<Output = ()>,
    ) -> Result<PathBuf, ProviderError> {
        let mut cancelled = pin!(cancelled);
        let _guard = self.lock(report, cancelled.as_mut())?;
        // Another request may have prepared it meanwhile.
        if let Some(path) = self.ready() {
            return Ok(path.to_owned());
        }
        let path = match &self.source {
            Source::File(path) => self.verified(path.clone(), report)?,
            #[cfg(feature = "local-download")]
            Source::Hub(source) => {
                let (hub, file) = &**source;
                if let Some(path) = hub.cache.find(file) {
                    self.verified(canonical(path), report)?
                } else {
                    let download = super::download::Download::new(hub, file, report)?;
                    canonical(block_on(download.run(self.pinned.as_ref()), cancelled)?)
                }
            }
        };
        Ok(self.ready.get_or_init(|| path).clone())
    }

    /// Waits until no other request prepares the file, and locks it until the guard is dropped.
    fn lock(
        &self,
        report: &dyn Fn(FetchProgress),
        cancelled: impl Future<Output = ()>,
    ) -> Result<MutexGuard<'_, ()>, ProviderError> {
        if let Ok(guard) = self.preparing.try_lock() {
            return Ok(guard);
        }
        let on = "waiting for another request that downloads or checks the model's file".to_owned();
        report(FetchProgress::Waiting { on });
        block_on(async { Ok(self.preparing.lock().await) }, cancelled)
    }

    /// Returns `path` if its file matches the pinned checksum, if any.
    fn verified(&self, path: PathBuf, report: &dyn Fn(FetchProgress)) -> Result<PathBuf, ProviderError> {
        if let Some(pinned) = &self.pinned {
            report(FetchProgress::Waiting { on: checking_message(&path) });
            pinned.check(&path)?;
        }
        Ok(path)
    }
}

/// Runs `work` on this thread, until `cancelled` completes.
fn block_on<T>(
    task: impl Future<Output = Result<T, ProviderError>>,
    cancelled: impl Future<Output = ()>,
) -> Result<T, ProviderError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|source| {
        fault::configuration("cannot start an async runtime to download the model's file").with_source(source)
    })?;
    runtime.block_on(async {
        tokio::select! {
            outcome = task => outcome,
            () = cancelled => Err(fault::cancelled()),
        }
    })
}

/// Describes the check of a large file.
fn checking_message(path: &std::path::Path) -> String {
    let size = path.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    format!("checking the model's file ({})", Size(size))
}
