//! The threads that read, each with its own connection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::DatabaseError;
use crate::base::mutex::IgnorePoison;

/// Reads are short and mostly served from the page cache of the system, so more threads would wait for the same cores.
const THREADS: usize = 2;

type Read = Box<dyn FnOnce(&mut Connection) + Send>;

/// A handle to the reader threads. Dropping it waits until all queued reads are done.
pub(super) struct Readers {
    path: Arc<Path>,
    queue: Option<Sender<Read>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    /// Starts the threads.
    pub(super) fn spawn(
        path: &Arc<Path>,
        connect: impl Fn() -> Result<Connection, DatabaseError>,
    ) -> Result<Self, DatabaseError> {
        let (queue, reads) = channel();
        let reads = Arc::new(Mutex::new(reads));
        let mut readers = Self { path: Arc::clone(path), queue: Some(queue), threads: Vec::new() };
        for _ in 0..THREADS {
            let (connection, reads) = (connect()?, Arc::clone(&reads));
            let thread = std::thread::Builder::new().name("llm-do-reader".to_owned());
            let thread = thread.spawn(move || run(connection, &reads));
            readers.threads.push(thread.map_err(|source| DatabaseError::io(path, source))?);
        }
        Ok(readers)
    }

    /// Queues a read; calls `then` with its result.
    pub(super) fn read<T, F, D>(&self, read: F, then: D)
    where
        T: 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
        D: FnOnce(Result<T, DatabaseError>) + Send + 'static,
    {
        let path = Arc::clone(&self.path);
        let read = move |connection: &mut Connection| {
            let result = in_snapshot(connection, read);
            then(result.map_err(|source| DatabaseError::sqlite(&path, source)));
        };
        if let Some(queue) = &self.queue {
            drop(queue.send(Box::new(read)));
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A callback on this thread may drop the last handle.
            if thread.thread().id() != std::thread::current().id() {
                drop(thread.join());
            }
        }
    }
}

fn run(mut connection: Connection, reads: &Mutex<Receiver<Read>>) {
    loop {
        let next = reads.lock().ignore_poison().recv();
        let Ok(read) = next else { return };
        // A read that panics does not break the database; its caller gets an error.
        drop(catch_unwind(AssertUnwindSafe(|| read(&mut connection))));
    }
}

/// Reads in one transaction, so that several statements see the same state.
fn in_snapshot<T>(
    connection: &mut Connection,
    read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let transaction = connection.transaction()?;
    let result = read(&transaction)?;
    transaction.commit()?;
    Ok(result)
}
