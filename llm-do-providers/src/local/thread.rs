//! One thread and one request queue per model.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::engine::Engine;
use super::event_sender::EventSender;
use super::fault;
use super::generation;
use super::single_thread;
use super::task::Task;
use crate::error::ProviderError;
use crate::model::StreamEvent;
use crate::response::Response;

/// The queue of each model file in use: a model is loaded once and stays loaded.
static QUEUES: Mutex<BTreeMap<PathBuf, Sender<Job>>> = Mutex::new(BTreeMap::new());

/// A queued request.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) task: Task,
    pub(super) model: String,
    pub(super) events: EventSender,
}

/// Queues `job` for the model file `path`; the first job starts its thread.
pub(super) fn submit(path: &Path, job: Job) -> Result<(), ProviderError> {
    let mut queues = QUEUES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(queue) = queues.get(path) {
        return queue
            .send(job)
            .map_err(|_| fault::internal("the thread of the embedded model has stopped; restart the program"));
    }
    let (queue, jobs) = channel();
    let file = path.to_owned();
    let builder = thread::Builder::new().name("llm-do-local".to_owned());
    builder
        .spawn(move || run_jobs(&file, &jobs))
        .map_err(|source| fault::configuration("cannot start a thread for the embedded model").with_source(source))?;
    let _ = queue.send(job);
    queues.insert(path.to_owned(), queue);
    Ok(())
}

/// Answers jobs one after the other.
fn run_jobs(path: &Path, jobs: &Receiver<Job>) {
    let mut engine = None;
    for job in jobs {
        if !job.events.is_open() {
            continue;
        }
        let outcome = single_thread::run(|| answer(&mut engine, path, &job)).unwrap_or_else(|panic| {
            // The panic may have left the engine in an inconsistent state.
            engine = None;
            Err(fault::internal(format!("the embedded model panicked, perhaps because its file is damaged: {panic}")))
        });
        job.events.send(outcome.map(StreamEvent::Done));
    }
}

/// Answers one job; loads the model first if necessary.
fn answer(engine: &mut Option<Engine>, path: &Path, job: &Job) -> Result<Response, ProviderError> {
    let engine = if let Some(engine) = engine {
        engine
    } else {
        job.events.send(Ok(StreamEvent::Waiting { on: loading(path) }));
        engine.insert(Engine::load(path)?)
    };
    generation::generate(engine, &job.task, &job.model, &job.events)
}

/// Describes what the first request waits for.
fn loading(path: &Path) -> String {
    let bytes = path.metadata().map(|metadata| metadata.len()).unwrap_or_default();
    format!("loading the model ({} MB)", bytes / 1_000_000)
}
