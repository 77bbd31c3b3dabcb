//! Files that are not ready: a thread of their own fetches and checks them, since both may take minutes.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::super::fault;
use super::super::thread::{Job, submit as submit_ready};
use super::progress::{FetchProgress, Size, Steps};
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
    #[cfg_attr(
        not(feature = "local-download"),
        allow(clippy::needless_pass_by_value, unused_variables, reason = "checking ends by itself")
    )]
    fn prepare(&self, tell: &dyn Fn(FetchProgress), gone: impl Future<Output = ()>) -> Result<PathBuf, ProviderError> {
        let path = match &self.source {
            Source::File(path) => {
                if let Some(pinned) = &self.pinned {
                    tell(FetchProgress::Waiting { on: checking(path) });
                    pinned.check(path)?;
                }
                path.clone()
            }
            #[cfg(feature = "local-download")]
            Source::Hub(source) => {
                let (hub, file) = &**source;
                match hub.cache.find(file) {
                    Some(path) => {
                        self.pinned.as_ref().map_or(Ok(()), |pinned| pinned.check(&path))?;
                        path
                    }
                    None => in_its_own_time(
                        super::download::Download::new(hub, file, tell)?.run(self.pinned.as_ref()),
                        gone,
                    )?,
                }
            }
        };
        Ok(self.ready.get_or_init(|| path).clone())
    }
}

/// Does `work`, on this thread alone.
#[cfg(feature = "local-download")]
fn in_its_own_time<T>(
    work: impl Future<Output = Result<T, ProviderError>>,
    gone: impl Future<Output = ()>,
) -> Result<T, ProviderError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|source| {
        fault::configuration("the download could not be started on this machine").with_source(source)
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
