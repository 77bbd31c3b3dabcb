//! Watches the runs of an application in the engine, with one request at a time for all of them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do_core::base::mutex::IgnorePoison;
use tokio::sync::watch;

use super::client::{EngineClient, EngineError, Invocation};
use super::inbox::OpenQuestion;

/// How often the engine is queried.
const POLL: Duration = Duration::from_millis(500);

/// The engine's data about the watched runs, as of the last query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) runs: HashMap<String, Invocation>,
    /// The questions of each run.
    pub(crate) questions: HashMap<String, Vec<OpenQuestion>>,
}

/// The watch of an engine. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct EngineWatch {
    pub(crate) client: EngineClient,
    watched: Arc<Mutex<BTreeSet<String>>>,
    seen: Arc<watch::Sender<Arc<Seen>>>,
}

/// Ends the watch of a run when it is dropped.
pub(crate) struct Watched {
    watch: EngineWatch,
    id: String,
    pub(crate) seen: watch::Receiver<Arc<Seen>>,
}

impl EngineWatch {
    pub(crate) fn new(client: EngineClient) -> Self {
        Self { client, watched: Arc::default(), seen: Arc::default() }
    }

    /// Begins to watch a run.
    pub(crate) fn watch(&self, id: String) -> Watched {
        self.watched.lock().ignore_poison().insert(id.clone());
        Watched { watch: self.clone(), id, seen: self.seen.subscribe() }
    }

    /// Queries the engine repeatedly; never returns.
    pub(crate) async fn run(&self) {
        loop {
            // After an error, the next query may succeed.
            if let Ok(seen) = self.look().await {
                self.seen.send_replace(Arc::new(seen));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn look(&self) -> Result<Seen, EngineError> {
        let ids: Vec<_> = self.watched.lock().ignore_poison().iter().cloned().collect();
        if ids.is_empty() {
            return Ok(Seen::default());
        }
        let runs = self.client.invocations(&ids).await?;
        let mut questions: HashMap<_, Vec<_>> = HashMap::new();
        for question in self.client.questions().await? {
            questions.entry(question.run.clone()).or_default().push(question);
        }
        Ok(Seen { runs: runs.into_iter().map(|run| (run.id.clone(), run)).collect(), questions })
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.watch.watched.lock().ignore_poison().remove(&self.id);
    }
}
