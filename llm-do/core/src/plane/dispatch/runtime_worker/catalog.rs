//! The workers created at run time: they exist for one run or one chat, and are written as files if a folder is
//! configured.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use llm_do_worker_file::did_you_mean;
use serde::{Deserialize, Serialize};

use super::file::{self, WriteOutcome};
use crate::base::mutex::IgnorePoison;
use crate::observe::event::Labels;
use crate::plane::registry::Registered;

/// The workers created in a run, or in the runs of a chat.
#[derive(Debug, Default)]
pub(crate) struct CreatedWorkers {
    workers: Mutex<BTreeMap<Arc<str>, CreatedWorker>>,
    /// Locked while a worker is replaced, so that its file and its definition match.
    replacing: Mutex<()>,
}

/// A created worker, in the form that records of calls and the state of a chat store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredWorker {
    /// The worker as a worker file.
    pub(super) file: String,
    /// The item whose call created it; `None` for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) maker: Option<Arc<str>>,
    /// The number of replacements.
    #[serde(default)]
    pub(super) revision: u32,
    /// The labels of what it was made from, if values were labelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) labels: Option<Labels>,
}

#[derive(Clone, Debug)]
pub(super) struct CreatedWorker {
    pub(super) name: Arc<str>,
    /// `None` for a worker of a loaded chat that was not used yet.
    pub(super) worker: Option<Arc<Registered>>,
    pub(super) stored: StoredWorker,
    /// The key of the call that created it; if a journal replays that call, the worker is restored too.
    pub(super) by: Arc<str>,
}

impl CreatedWorkers {
    /// Returns the workers that a chat had when it was saved.
    pub(crate) fn load(stored: BTreeMap<String, StoredWorker>) -> Self {
        let workers = stored.into_iter().map(|(name, stored)| {
            let name = Arc::<str>::from(name);
            (Arc::clone(&name), CreatedWorker { name, worker: None, stored, by: Arc::default() })
        });
        Self { workers: Mutex::new(workers.collect()), ..Self::default() }
    }

    /// Returns the workers by name, to save them.
    pub(crate) fn stored(&self) -> BTreeMap<String, StoredWorker> {
        self.lock().iter().map(|(name, created)| (name.to_string(), created.stored.clone())).collect()
    }

    pub(super) fn get(&self, name: &str) -> Option<CreatedWorker> {
        self.lock().get(name).cloned()
    }

    /// Returns the labels of what a worker was made from, `Some(None)` if they are not known; `None` for an item that no model created.
    pub(in crate::plane::dispatch) fn labels_of(&self, worker: &Registered) -> Option<Option<Labels>> {
        let is_created = worker.place.is_none();
        is_created.then(|| self.lock().get(worker.name()).map(|created| created.stored.labels)).flatten()
    }

    /// Returns all workers, sorted by name.
    pub(super) fn all(&self) -> Vec<CreatedWorker> {
        self.lock().values().cloned().collect()
    }

    /// Returns the workers that the call with this key, and calls nested in it, created.
    pub(in crate::plane::dispatch) fn created_by(&self, key: &str) -> Vec<StoredWorker> {
        let inside = |by: &str| by.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.lock().values().filter(|created| inside(&created.by)).map(|created| created.stored.clone()).collect()
    }

    /// Adds a worker, and its file in the folder `store` if given: both or neither.
    ///
    /// With `may_exist`, an earlier process may have written the same file before it died.
    pub(super) fn add(&self, created: &CreatedWorker, store: Option<&Path>, may_exist: bool) -> Result<(), String> {
        let (name, text) = (&*created.name, &created.stored.file);
        let path = store.map(|folder| path_of(folder, name));
        let written = path.as_deref().map(|path| file::create(path, text)).transpose().map_err(not_written)?;
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
                let own = path.filter(|_| written == Some(WriteOutcome::New) && other.get().stored.file != *text);
                own.map_or(Ok(()), fs::remove_file).map_err(|error| error.to_string())?;
                return Err(name_taken(name));
            }
        }
        Ok(())
    }

    /// Replaces a worker of the same maker, and its file in the folder `store` if given; returns its revision.
    ///
    /// A copy of the earlier file is kept, so that a resumed run detects that its own worker was replaced. Replacing a worker by
    /// itself changes nothing.
    pub(super) fn replace(&self, created: &CreatedWorker, store: Option<&Path>) -> Result<u32, String> {
        let _replacing = self.replacing.lock().ignore_poison();
        let (name, text) = (&*created.name, &created.stored.file);
        let StoredWorker { file: replaced, revision, .. } =
            self.replaceable(name, created.stored.maker.as_deref())?.stored;
        let is_repeated = replaced == *text;
        if let Some(folder) = store {
            let copy = earlier_path_of(folder, name, revision);
            if !is_repeated && file::create(&copy, &replaced).map_err(not_written)? == WriteOutcome::Other {
                return Err(format!("`{}` is a copy of another worker; move it away", copy.display()));
            }
            let written = file::replace(&path_of(folder, name), &replaced, text).map_err(not_written)?;
            if written == WriteOutcome::Other {
                return Err(format!("the worker file of `{name}` was changed since, so it is not replaced"));
            }
        }
        if is_repeated {
            return Ok(revision);
        }
        let revision = revision.saturating_add(1);
        let stored = StoredWorker { revision, ..created.stored.clone() };
        self.lock().insert(name.into(), CreatedWorker { stored, ..created.clone() });
        Ok(revision)
    }

    /// Returns the worker with this name, or why `maker` cannot replace it.
    pub(super) fn replaceable(&self, name: &str, maker: Option<&str>) -> Result<CreatedWorker, String> {
        let shown = |maker: Option<&str>| maker.map_or_else(|| "the user".to_owned(), |maker| format!("`{maker}`"));
        let Some(created) = self.get(name) else {
            return Err(format!("there is no created worker `{name}` to replace: {}", self.hint(name)));
        };
        let creator = created.stored.maker.as_deref();
        if creator == maker {
            return Ok(created);
        }
        let (by, other) = (shown(creator), shown(maker));
        Err(format!("`{name}` was created by {by}, so {other} cannot replace it; choose another name"))
    }

    /// Adds a worker that was created before, unless the catalog has a later revision of it.
    pub(super) fn restore(&self, created: CreatedWorker) {
        let mut workers = self.lock();
        let is_earlier = |known: &CreatedWorker| known.stored.revision <= created.stored.revision;
        if workers.get(&created.name).is_none_or(is_earlier) {
            workers.insert(Arc::clone(&created.name), created);
        }
    }

    /// Stores the worker that was built from the state of a loaded chat.
    pub(super) fn keep_built(&self, name: &str, revision: u32, worker: &Arc<Registered>) {
        let mut workers = self.lock();
        if let Some(created) = workers.get_mut(name).filter(|created| created.stored.revision == revision) {
            created.worker = Some(Arc::clone(worker));
        }
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

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, CreatedWorker>> {
        self.workers.lock().ignore_poison()
    }
}

/// Returns the error that a name is already used.
pub(super) fn name_taken(name: &str) -> String {
    format!("a worker named `{name}` already exists; choose another name")
}

/// Returns whether the folder has a copy of this worker from its replacement.
pub(super) fn was_replaced(folder: &Path, name: &str, stored: &StoredWorker) -> bool {
    fs::read(earlier_path_of(folder, name, stored.revision)).is_ok_and(|copy| copy == stored.file.as_bytes())
}

fn path_of(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.worker"))
}

/// Returns the path of a replaced worker, which is not read as a worker file.
fn earlier_path_of(folder: &Path, name: &str, revision: u32) -> PathBuf {
    folder.join(format!("{name}.worker.{revision}"))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature of `map_err`")]
fn not_written(error: std::io::Error) -> String {
    format!("the worker file cannot be written: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declare::worker_spec::WorkerSpec;
    use crate::plane::registry::Origin;

    fn worker(name: &str, by: &str) -> CreatedWorker {
        let spec = WorkerSpec::new(name, "Help.");
        let worker = Some(Arc::new(Registered::from_spec(&spec, Origin::Session)));
        let stored =
            StoredWorker { file: spec.to_worker_file(), maker: Some("lead".into()), revision: 0, labels: None };
        CreatedWorker { name: name.into(), worker, stored, by: by.into() }
    }

    /// The same worker with more instructions.
    fn longer(name: &str) -> CreatedWorker {
        let mut longer = worker(name, "");
        longer.stored.file.push_str("Otherwise.\n");
        longer
    }

    fn temporary_folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("llm-do-{}", uuid::Uuid::now_v7()));
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_removed_if_its_worker_cannot_be_added() {
        let folder = temporary_folder();
        let (store, path) = (folder.join("made"), folder.join("made/a.worker"));
        let workers = CreatedWorkers::default();
        workers.add(&worker("a", ""), Some(&store), false).unwrap();
        fs::remove_file(&path).unwrap();
        let fault = workers.add(&longer("a"), Some(&store), false).unwrap_err();
        assert_eq!(fault, "a worker named `a` already exists; choose another name");
        assert!(!path.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_equal_file_is_a_workers_own_only_if_another_process_may_have_written_it() {
        let folder = temporary_folder();
        let add = |created: &CreatedWorker, may_exist| {
            CreatedWorkers::default().add(created, Some(folder.as_path()), may_exist)
        };
        add(&worker("a", ""), false).unwrap();
        assert_eq!(
            add(&worker("a", ""), false).unwrap_err(),
            "a worker file for `a` already exists; choose another name"
        );
        add(&worker("a", ""), true).unwrap();
        assert!(add(&longer("a"), true).is_err());
        assert_eq!(fs::read_to_string(folder.join("a.worker")).unwrap(), worker("a", "").stored.file);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn if_two_calls_find_an_equal_file_one_gets_the_name_and_the_file_is_workers() {
        let folder = temporary_folder();
        let workers = CreatedWorkers::default();
        workers.add(&worker("a", "main:1"), Some(&folder), true).unwrap();
        assert_eq!(workers.add(&worker("a", "main:2"), Some(&folder), true).unwrap_err(), name_taken("a"));
        assert!(folder.join("a.worker").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_worker_is_not_added_without_its_file() {
        let folder = temporary_folder();
        let store = folder.join("no-folder");
        fs::write(&store, "").unwrap();
        let workers = CreatedWorkers::default();
        let fault = workers.add(&worker("a", ""), Some(&store), true).unwrap_err();
        assert!(fault.starts_with("the worker file cannot be written: "));
        assert!(workers.get("a").is_none());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_replaced_file_is_kept_as_a_copy_and_a_changed_one_stays() {
        let folder = temporary_folder();
        let workers = CreatedWorkers::default();
        workers.add(&worker("a", ""), Some(&folder), false).unwrap();
        assert_eq!(workers.replace(&longer("a"), Some(&folder)), Ok(1));
        assert_eq!(fs::read_to_string(folder.join("a.worker")).unwrap(), longer("a").stored.file);
        assert!(was_replaced(&folder, "a", &worker("a", "").stored));
        assert!(!was_replaced(&folder, "a", &longer("a").stored));
        assert_eq!(workers.replace(&longer("a"), Some(&folder)), Ok(1));
        assert!(!was_replaced(&folder, "a", &longer("a").stored), "it is replaced by itself");

        fs::write(folder.join("a.worker"), "mine").unwrap();
        let fault = workers.replace(&worker("a", ""), Some(&folder)).unwrap_err();
        assert_eq!(fault, "the worker file of `a` was changed since, so it is not replaced");
        assert_eq!(fs::read_to_string(folder.join("a.worker")).unwrap(), "mine");
        assert_eq!(workers.get("a").unwrap().stored.revision, 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_restored_worker_does_not_replace_a_later_revision() {
        let workers = CreatedWorkers::default();
        workers.add(&worker("a", ""), None, false).unwrap();
        workers.replace(&longer("a"), None).unwrap();
        workers.restore(worker("a", ""));
        assert_eq!(workers.get("a").unwrap().stored.file, longer("a").stored.file);
    }

    #[test]
    fn workers_created_by_a_call_include_those_of_nested_calls() {
        let workers = CreatedWorkers::default();
        for (name, by) in [("a", "main:1"), ("b", "main:1/lead:2"), ("c", "main:12"), ("d", "main:3")] {
            workers.add(&worker(name, by), None, false).unwrap();
        }
        assert_eq!(workers.created_by("main:1"), [worker("a", "").stored, worker("b", "").stored]);
        assert_eq!(workers.created_by("main:1/lead:2"), [worker("b", "").stored]);
    }
}
