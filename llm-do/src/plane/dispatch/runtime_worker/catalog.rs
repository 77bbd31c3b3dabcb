//! The workers created at run time: held for the session, and written as files if a folder is configured.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use llm_do_worker_file::did_you_mean;

use super::file::{self, WriteOutcome};
use crate::base::mutex::IgnorePoison;
use crate::plane::registry::Registered;

/// The workers created in this session.
#[derive(Debug, Default)]
pub(crate) struct RuntimeWorkers {
    workers: Mutex<BTreeMap<Arc<str>, RuntimeWorker>>,
    /// The folder that worker files are written to.
    store: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(super) struct RuntimeWorker {
    pub(super) worker: Arc<Registered>,
    /// The key of the call that created it: if a journal replays that call, the worker is restored with it.
    pub(super) by: Arc<str>,
    /// The worker as a worker file.
    pub(super) file: String,
}

impl RuntimeWorkers {
    /// Creates an empty catalog; workers are written to the folder `store`.
    pub(crate) fn new(store: Option<PathBuf>) -> Self {
        Self { store, ..Self::default() }
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Registered>> {
        self.lock().get(name).map(|created| Arc::clone(&created.worker))
    }

    /// Returns the files of the workers that the call with this key, and calls nested in it, created.
    pub(in crate::plane::dispatch) fn created_by(&self, key: &str) -> Vec<String> {
        let inside = |by: &str| by.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.lock().values().filter(|created| inside(&created.by)).map(|created| created.file.clone()).collect()
    }

    /// Adds a worker, and its file if a folder is configured: both or neither.
    ///
    /// With `may_exist`, an earlier process may have written the same file before it died.
    pub(super) fn add(&self, created: &RuntimeWorker, may_exist: bool) -> Result<(), String> {
        let name = created.worker.name();
        let path = self.store.as_ref().map(|folder| folder.join(format!("{name}.worker")));
        let written = path.as_deref().map(|path| file::create(path, &created.file));
        let written = written.transpose().map_err(|error| format!("the worker file cannot be written: {error}"))?;
        match written {
            Some(WriteOutcome::Equal) if may_exist => {}
            Some(WriteOutcome::Equal | WriteOutcome::Other) => {
                return Err(format!("a worker file for `{name}` already exists; choose another name"));
            }
            Some(WriteOutcome::New) | None => {}
        }
        match self.lock().entry(name.into()) {
            Entry::Vacant(slot) => drop(slot.insert(created.clone())),
            Entry::Occupied(other) => {
                // An equal file belongs to the worker that is already in the catalog.
                let own = path.filter(|_| written == Some(WriteOutcome::New) && other.get().file != created.file);
                own.map_or(Ok(()), fs::remove_file).map_err(|error| error.to_string())?;
                return Err(name_taken(name));
            }
        }
        Ok(())
    }

    /// Adds a worker that was created before, unless it is already in the catalog.
    pub(super) fn restore(&self, created: RuntimeWorker) {
        self.lock().entry(created.worker.name().into()).or_insert(created);
    }

    /// Returns a hint about an unknown name.
    pub(super) fn hint(&self, name: &str) -> String {
        let workers = self.lock();
        if workers.is_empty() {
            return "no worker has been created yet".to_owned();
        }
        let names: Vec<_> = workers.keys().map(|name| format!("`{name}`")).collect();
        let near = did_you_mean(name, workers.keys().map(AsRef::as_ref));
        format!("the created workers are {}{near}", names.join(", "))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, RuntimeWorker>> {
        self.workers.lock().ignore_poison()
    }
}

/// Returns the fault of a name that is already used.
pub(super) fn name_taken(name: &str) -> String {
    format!("a worker named `{name}` already exists; choose another name")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::declare::worker_spec::WorkerSpec;
    use crate::plane::registry::Origin;

    fn worker(name: &str, by: &str) -> RuntimeWorker {
        let spec = WorkerSpec::new(name, "Help.");
        let worker = Arc::new(Registered::from_spec(&spec, Origin::Session));
        RuntimeWorker { worker, by: by.into(), file: spec.to_worker_file() }
    }

    fn temporary_folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("llm-do-{}", uuid::Uuid::now_v7()));
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_removed_if_its_worker_cannot_be_added() {
        let folder = temporary_folder();
        let path = folder.join("made/a.worker");
        let workers = RuntimeWorkers::new(path.parent().map(Path::to_owned));
        workers.add(&worker("a", ""), false).unwrap();
        fs::remove_file(&path).unwrap();
        let mut other = worker("a", "");
        other.file.push_str("Otherwise.\n");
        assert_eq!(workers.add(&other, false).unwrap_err(), "a worker named `a` already exists; choose another name");
        assert!(!path.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_equal_file_is_a_workers_own_only_if_another_process_may_have_written_it() {
        let folder = temporary_folder();
        let workers = || RuntimeWorkers::new(Some(folder.clone()));
        workers().add(&worker("a", ""), false).unwrap();
        assert_eq!(
            workers().add(&worker("a", ""), false).unwrap_err(),
            "a worker file for `a` already exists; choose another name"
        );
        workers().add(&worker("a", ""), true).unwrap();
        let mut other = worker("a", "");
        other.file.push_str("Otherwise.\n");
        assert!(workers().add(&other, true).is_err());
        assert_eq!(fs::read_to_string(folder.join("a.worker")).unwrap(), worker("a", "").file);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn if_two_calls_find_an_equal_file_one_gets_the_name_and_the_file_is_workers() {
        let folder = temporary_folder();
        let workers = RuntimeWorkers::new(Some(folder.clone()));
        workers.add(&worker("a", "main:1"), true).unwrap();
        assert_eq!(workers.add(&worker("a", "main:2"), true).unwrap_err(), name_taken("a"));
        assert!(folder.join("a.worker").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_worker_is_not_added_without_its_file() {
        let folder = temporary_folder();
        fs::write(folder.join("no-folder"), "").unwrap();
        let workers = RuntimeWorkers::new(Some(folder.join("no-folder")));
        assert!(workers.add(&worker("a", ""), true).unwrap_err().starts_with("the worker file cannot be written: "));
        assert!(workers.get("a").is_none());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn workers_created_by_a_call_include_those_of_nested_calls() {
        let workers = RuntimeWorkers::default();
        for (name, by) in [("a", "main:1"), ("b", "main:1/lead:2"), ("c", "main:12"), ("d", "main:3")] {
            workers.add(&worker(name, by), false).unwrap();
        }
        assert_eq!(workers.created_by("main:1"), [worker("a", "").file, worker("b", "").file]);
        assert_eq!(workers.created_by("main:1/lead:2"), [worker("b", "").file]);
    }
}
