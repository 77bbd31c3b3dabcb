//! The workers that were made: kept for the session, and longer as files if there is a folder for them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::store::{self, Stored};
use crate::plane::registry::{Registered, did_you_mean};

/// The workers that were made in this session.
#[derive(Debug, Default)]
pub(crate) struct Made {
    workers: Mutex<BTreeMap<Arc<str>, MadeWorker>>,
    /// The folder that they are written to, as worker files.
    store: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub(super) struct MadeWorker {
    pub(super) worker: Arc<Registered>,
    /// The key of the call that made it, by which a journal tells what is made again when a call is not.
    pub(super) by: Arc<str>,
    /// What it is, as a worker file.
    pub(super) file: String,
}

impl Made {
    /// Returns none yet; those to come are written to `store`.
    pub(crate) fn new(store: Option<PathBuf>) -> Self {
        Self { store, ..Self::default() }
    }

    pub(super) fn get(&self, name: &str) -> Option<Arc<Registered>> {
        self.lock().get(name).map(|made| Arc::clone(&made.worker))
    }

    /// Returns the files of the workers that the call of this key, and the calls below it, made.
    pub(in crate::plane::dispatch) fn below(&self, key: &str) -> Vec<String> {
        let inside = |by: &str| by.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.lock().values().filter(|made| inside(&made.by)).map(|made| made.file.clone()).collect()
    }

    /// Adds a worker, and its file if there is a folder for it: both or neither.
    ///
    /// `may_exist` says that an earlier process may have written the same file before it died.
    pub(super) fn add(&self, made: &MadeWorker, may_exist: bool) -> Result<(), String> {
        let name = made.worker.name();
        let path = self.store.as_ref().map(|folder| folder.join(format!("{name}.worker")));
        let stored = path.as_deref().map(|path| store::create(path, &made.file));
        let stored = stored.transpose().map_err(|error| format!("the worker file cannot be written: {error}"))?;
        match stored {
            Some(Stored::Equal) if may_exist => {}
            Some(Stored::Equal | Stored::Other) => {
                return Err(format!("there is a worker file `{name}` already; choose another name"));
            }
            Some(Stored::New) | None => {}
        }
        match self.lock().entry(name.into()) {
            Entry::Vacant(place) => drop(place.insert(made.clone())),
            Entry::Occupied(other) => {
                // An equal file is that of the worker that is here.
                let own = path.filter(|_| stored == Some(Stored::New) && other.get().file != made.file);
                own.map_or(Ok(()), fs::remove_file).map_err(|error| error.to_string())?;
                return Err(taken(name));
            }
        }
        Ok(())
    }

    /// Adds a worker that was made before, unless it is here.
    pub(super) fn restore(&self, made: MadeWorker) {
        self.lock().entry(made.worker.name().into()).or_insert(made);
    }

    /// Says what to do about a name that nothing was made by.
    pub(super) fn hint(&self, name: &str) -> String {
        let made = self.lock();
        if made.is_empty() {
            return "no worker was made yet".to_owned();
        }
        let names: Vec<_> = made.keys().map(|name| format!("`{name}`")).collect();
        let near = did_you_mean(name, made.keys().map(AsRef::as_ref));
        format!("the workers that were made are {}{near}", names.join(", "))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, MadeWorker>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says that a name is taken.
pub(super) fn taken(name: &str) -> String {
    format!("a worker `{name}` was made already; choose another name")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::declare::worker_spec::WorkerSpec;
    use crate::plane::registry::Origin;

    fn made(name: &str, by: &str) -> MadeWorker {
        let spec = WorkerSpec::new(name, "Help.");
        let worker = Arc::new(Registered::from_spec(&spec, Origin::Session));
        MadeWorker { worker, by: by.into(), file: spec.to_worker_file() }
    }

    fn folder() -> PathBuf {
        let folder = std::env::temp_dir().join(format!("llm-do-{}", uuid::Uuid::now_v7()));
        fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn a_file_is_removed_if_its_worker_cannot_be_added() {
        let folder = folder();
        let path = folder.join("made/a.worker");
        let kept = Made::new(path.parent().map(Path::to_owned));
        kept.add(&made("a", ""), false).unwrap();
        fs::remove_file(&path).unwrap();
        let mut other = made("a", "");
        other.file.push_str("Otherwise.\n");
        assert_eq!(kept.add(&other, false).unwrap_err(), "a worker `a` was made already; choose another name");
        assert!(!path.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn an_equal_file_is_a_workers_own_only_if_another_process_may_have_written_it() {
        let folder = folder();
        let kept = || Made::new(Some(folder.clone()));
        kept().add(&made("a", ""), false).unwrap();
        assert_eq!(
            kept().add(&made("a", ""), false).unwrap_err(),
            "there is a worker file `a` already; choose another name"
        );
        kept().add(&made("a", ""), true).unwrap();
        let mut other = made("a", "");
        other.file.push_str("Otherwise.\n");
        assert!(kept().add(&other, true).is_err());
        assert_eq!(fs::read_to_string(folder.join("a.worker")).unwrap(), made("a", "").file);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn of_two_calls_that_find_an_equal_file_one_has_the_name_and_the_file_stays() {
        let folder = folder();
        let kept = Made::new(Some(folder.clone()));
        kept.add(&made("a", "main:1"), true).unwrap();
        assert_eq!(kept.add(&made("a", "main:2"), true).unwrap_err(), taken("a"));
        assert!(folder.join("a.worker").exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_worker_is_not_added_without_its_file() {
        let folder = folder();
        fs::write(folder.join("no-folder"), "").unwrap();
        let kept = Made::new(Some(folder.join("no-folder")));
        assert!(kept.add(&made("a", ""), true).unwrap_err().starts_with("the worker file cannot be written: "));
        assert!(kept.get("a").is_none());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_call_made_is_what_it_and_the_calls_below_it_made() {
        let kept = Made::default();
        for (name, by) in [("a", "main:1"), ("b", "main:1/lead:2"), ("c", "main:12"), ("d", "main:3")] {
            kept.add(&made(name, by), false).unwrap();
        }
        assert_eq!(kept.below("main:1"), [made("a", "").file, made("b", "").file]);
        assert_eq!(kept.below("main:1/lead:2"), [made("b", "").file]);
    }
}
