//! The thread that each model has to itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::engine::Engine;
use super::fault;
use super::outlet::Outlet;
use super::single;
use super::task::Task;
use super::writer;
use crate::error::ProviderError;
use crate::model::StreamEvent;
use crate::response::Response;

/// The queues of the models that this process has begun to use, by file: each is loaded once, and stays.
static QUEUES: Mutex<BTreeMap<PathBuf, Sender<Job>>> = Mutex::new(BTreeMap::new());

/// One request in a queue.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) task: Task,
    pub(super) model: String,
    pub(super) outlet: Outlet,
}

/// Queues `job` for the model of the file `path`; the first one starts its thread.
pub(super) fn submit(path: &Path, job: Job) -> Result<(), ProviderError> {
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(queue) = queues.get(path) {
        return queue.send(job).map_err(|_| fault::broken("the model's thread has ended; restart the program"));
    }
    let (queue, jobs) = channel();
    let file = path.to_owned();
    let builder = thread::Builder::new().name("llm-do-local".to_owned());
    builder.spawn(move || work(&file, &jobs)).map_err(|source| {
        fault::configuration("no thread could be started for the embedded model").with_source(source)
    })?;
    let _ = queue.send(job);
    queues.insert(path.to_owned(), queue);
    Ok(())
}

/// Answers one job after the other.
fn work(path: &Path, jobs: &Receiver<Job>) {
    let mut engine = None;
    for job in jobs {
        if !job.outlet.is_wanted() {
            continue;
        }
        let outcome = single::run(|| answer(&mut engine, path, &job)).unwrap_or_else(|panic| {
            // Whatever panicked may have left the engine half changed.
            engine = None;
            Err(fault::broken(format!("the model broke down, perhaps over a broken file: {panic}")))
        });
        job.outlet.send(outcome.map(StreamEvent::Done));
    }
}

/// Answers one job; loads the model first if need be.
fn answer(engine: &mut Option<Engine>, path: &Path, job: &Job) -> Result<Response, ProviderError> {
    let engine = if let Some(engine) = engine {
        engine
    } else {
        job.outlet.send(Ok(StreamEvent::Waiting { on: loading(path) }));
        engine.insert(Engine::load(path)?)
    };
    writer::answer(engine, &job.task, &job.model, &job.outlet)
}

/// Says what the first request waits on.
fn loading(path: &Path) -> String {
    let bytes = path.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    format!("loading the model ({} MB)", bytes / 1_000_000)
}
