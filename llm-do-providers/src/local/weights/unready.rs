//! Files that are not ready: a thread of their own fetches and checks them, since both may take minutes.

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
use super::progress::{FetchProgress, Size, Steps};
#[cfg(feature = "local-download")]
use super::settled;
use super::{Source, Weights};
use crate::error::ProviderError;
use crate::model::StreamEvent;

/// Queues `job` for the model of these weights, once they are ready.
pub(in super::super) fn submit(weights: &Arc<Weights>, job: Job) -> Result<(), ProviderError> {
    if let Some(path) = weights.ready() {
        return submit_ready(path, job);
    }
    let weights = Arc::clone(weights);
    spawn(move || {
        let outlet = job.outlet.clone();
        let steps = Mutex::new(Steps::default());
        let tell = |progress: FetchProgress| {
            if steps.lock().is_ok_and(|mut steps| steps.lets(&progress)) {
                outlet.send(Ok(StreamEvent::Waiting { on: progress.to_string() }));
            }
        };
        let submitted = weights.prepare(&tell, outlet.closed()).and_then(|path| submit_ready(&path, job));
        if let Err(error) = submitted {
            outlet.send(Err(error));
        }
    })
}

/// Waits until `weights` are ready; returns where they are.
pub(in super::super) async fn fetch(
    weights: &Arc<Weights>,
    mut tell: impl FnMut(FetchProgress),
) -> Result<PathBuf, ProviderError> {
    if let Some(path) = weights.ready() {
        return Ok(path.to_owned());
    }
    let (news, mut heard) = unbounded_channel();
    let (done, outcome) = oneshot::channel();
    let weights = Arc::clone(weights);
    spawn(move || {
        // Nobody hears it if the asking side has gone away.
        let path = weights.prepare(&|progress| drop(news.send(progress)), news.closed());
        let _ = done.send(path);
    })?;
    while let Some(progress) = heard.recv().await {
        tell(progress);
    }
    outcome.await.unwrap_or_else(|_| Err(fault::broken("the download broke down; try again")))
}

fn spawn(work: impl FnOnce() + Send + 'static) -> Result<(), ProviderError> {
    let builder = thread::Builder::new().name("llm-do-weights".to_owned());
    builder.spawn(work).map(drop).map_err(|source| {
        fault::configuration("no thread could be started to fetch the model's file").with_source(source)
    })
}

impl Weights {
    /// Fetches and checks the file, unless `gone` ends before: then nobody wants it any more.
    fn prepare(&self, tell: &dyn Fn(FetchProgress), gone: impl Future<Output = ()>) -> Result<PathBuf, ProviderError> {
        let mut gone = pin!(gone);
        let _turn = self.turn(tell, gone.as_mut())?;
        // Whoever waited for it finds it ready, unless the one before failed.
        if let Some(path) = self.ready() {
            return Ok(path.to_owned());
        }
        let path = match &self.source {
            Source::File(path) => self.checked(path.clone(), tell)?,
            #[cfg(feature = "local-download")]
            Source::Hub(source) => {
                let (hub, file) = &**source;
                if let Some(path) = hub.cache.find(file) {
                    self.checked(settled(path), tell)?
                } else {
                    let download = super::download::Download::new(hub, file, tell)?;
                    settled(in_its_own_time(download.run(self.pinned.as_ref()), gone)?)
                }
            }
        };
        Ok(self.ready.get_or_init(|| path).clone())
    }

    /// Waits until nobody else prepares it, and keeps others from it until the guard is dropped.
    fn turn(
        &self,
        tell: &dyn Fn(FetchProgress),
        gone: impl Future<Output = ()>,
    ) -> Result<MutexGuard<'_, ()>, ProviderError> {
        if let Ok(turn) = self.turn.try_lock() {
            return Ok(turn);
        }
        let on = "the model's file is being fetched or checked already; waiting for it".to_owned();
        tell(FetchProgress::Waiting { on });
        in_its_own_time(async { Ok(self.turn.lock().await) }, gone)
    }

    /// Returns `path` if its file is the one that is pinned, or if none is.
    fn checked(&self, path: PathBuf, tell: &dyn Fn(FetchProgress)) -> Result<PathBuf, ProviderError> {
        if let Some(pinned) = &self.pinned {
            tell(FetchProgress::Waiting { on: checking(&path) });
            pinned.check(&path)?;
        }
        Ok(path)
    }
}

/// Does `work`, on this thread alone, unless `gone` ends before.
fn in_its_own_time<T>(
    work: impl Future<Output = Result<T, ProviderError>>,
    gone: impl Future<Output = ()>,
) -> Result<T, ProviderError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|source| {
        fault::configuration("the model's file could not be waited for on this machine").with_source(source)
    })?;
    runtime.block_on(async {
        tokio::select! {
            outcome = work => outcome,
            () = gone => Err(fault::cancelled()),
        }
    })
}

/// Says that a large file is read.
fn checking(path: &std::path::Path) -> String {
    let size = path.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    format!("checking the model's file ({})", Size(size))
}
