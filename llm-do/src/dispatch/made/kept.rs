//! The workers that were made: kept for the session, and longer as files if there is a folder for them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::registry::{Registered, did_you_mean};

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
    pub(in crate::dispatch) fn below(&self, key: &str) -> Vec<String> {
        let inside = |by: &str| by.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.lock().values().filter(|made| inside(&made.by)).map(|made| made.file.clone()).collect()
    }

    /// Adds a worker, and its file if there is a folder for it: both or neither.
    pub(super) fn add(&self, made: &MadeWorker) -> Result<(), String> {
        let name = made.worker.name();
        let path = self.store.as_ref().map(|folder| folder.join(format!("{name}.worker")));
        if let Some(path) = &path {
            create(path, &made.file).map_err(|fault| match fault {
                Some(error) => format!("the worker file cannot be written: {error}"),
                None => format!("there is a worker file `{name}` already; choose another name"),
            })?;
        }
        match self.lock().entry(name.into()) {
            Entry::Vacant(place) => drop(place.insert(made.clone())),
            Entry::Occupied(_) => {
                path.as_deref().map_or(Ok(()), fs::remove_file).map_err(|error| error.to_string())?;
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

/// Writes a file, and leaves none that is half written; without an error, it failed because there is one already.
fn create(path: &Path, text: &str) -> Result<(), Option<io::Error>> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    let created = File::create_new(path);
    let is_there = |error: io::Error| Some(error).filter(|error| error.kind() != io::ErrorKind::AlreadyExists);
    let written = created.map_err(is_there)?.write_all(text.as_bytes());
    if written.is_err() {
        // The first error is the one to tell.
        let _ = fs::remove_file(path);
    }
    Ok(written?)
}

/// Says that a name is taken.
pub(super) fn taken(name: &str) -> String {
    format!("a worker `{name}` was made already; choose another name")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Origin;
    use crate::worker_spec::WorkerSpec;

    fn made(name: &str, by: &str) -> MadeWorker {
        let spec = WorkerSpec::new(name, "Help.");
        let worker = Arc::new(Registered::written(&spec, Origin::Session));
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
        kept.add(&made("a", "")).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(kept.add(&made("a", "")).unwrap_err(), "a worker `a` was made already; choose another name");
        assert!(!path.exists());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_worker_is_not_added_without_its_file() {
        let folder = folder();
        fs::write(folder.join("no-folder"), "").unwrap();
        let kept = Made::new(Some(folder.join("no-folder")));
        assert!(kept.add(&made("a", "")).unwrap_err().starts_with("the worker file cannot be written: "));
        assert!(kept.get("a").is_none());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_call_made_is_what_it_and_the_calls_below_it_made() {
        let kept = Made::default();
        for (name, by) in [("a", "main:1"), ("b", "main:1/lead:2"), ("c", "main:12"), ("d", "main:3")] {
            kept.add(&made(name, by)).unwrap();
        }
        assert_eq!(kept.below("main:1"), [made("a", "").file, made("b", "").file]);
        assert_eq!(kept.below("main:1/lead:2"), [made("b", "").file]);
    }
}
