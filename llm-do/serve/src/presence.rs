//! The running processes of a database: each locks its own file, which the system unlocks when the process ends.
//!
//! The runs of a process that died are therefore continued immediately, also by its successor, and not only after its
//! claims have lapsed. Where files cannot be locked, only claims decide. A process that is wrongly considered dead can
//! no longer write, as after a lapsed claim.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// The suffix of the database's name for the folder of the files.
const FOLDER: &str = "-processes";
/// The prefix of the name of a file that is not locked yet.
const NEW: &str = ".new-";

/// How often the other processes are checked.
const CHECKED: Duration = Duration::from_secs(1);

/// Watches the other processes of a database.
#[derive(Debug)]
pub(super) struct ProcessWatch {
    /// `None` where files cannot be locked.
    presence: Option<Arc<Presence>>,
    last: Option<Instant>,
}

impl ProcessWatch {
    pub(super) fn new(presence: Option<Presence>) -> Self {
        Self { presence: presence.map(Arc::new), last: None }
    }

    /// Returns the processes that have ended and left their file; none if that was checked within the last second.
    pub(super) async fn ended(&mut self) -> Vec<String> {
        let Some(presence) = &self.presence else { return Vec::new() };
        if self.last.is_some_and(|last| last.elapsed() < CHECKED) {
            return Vec::new();
        }
        self.last = Some(Instant::now());
        let presence = Arc::clone(presence);
        spawn_blocking(move || presence.ended()).await.unwrap_or_default()
    }

    /// Forgets a process that has ended.
    pub(super) async fn forget(&self, owner: String) {
        if let Some(presence) = self.presence.clone() {
            // If this fails, the process is checked again.
            let _ = spawn_blocking(move || presence.forget(&owner)).await;
        }
    }
}

/// The presence of this process, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct Presence {
    folder: PathBuf,
    owner: String,
    _locked: File,
}

impl Presence {
    /// Announces the process `owner` of a database.
    pub(super) fn announce(database: &Path, owner: &str) -> io::Result<Self> {
        let mut folder = database.as_os_str().to_owned();
        folder.push(FOLDER);
        let folder = PathBuf::from(folder);
        let new = folder.join(format!("{NEW}{owner}"));
        let locked = create(&folder, &new).or_else(|error| match error.kind() {
            // Another process ended in the meantime, and removed the empty folder.
            io::ErrorKind::NotFound => create(&folder, &new),
            _ => Err(error),
        })?;
        // Other processes see the file once it is locked.
        let announced = locked.try_lock().map_err(io::Error::from).and_then(|()| fs::rename(&new, folder.join(owner)));
        if let Err(error) = announced {
            let _ = fs::remove_file(&new);
            return Err(error);
        }
        Ok(Self { folder, owner: owner.to_owned(), _locked: locked })
    }

    /// Returns the other processes that have ended and left their file. Blocks.
    fn ended(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let others = names.filter(|name| *name != self.owner && !name.starts_with(NEW));
        others.filter(|name| has_ended(&self.folder.join(name))).collect()
    }

    /// Forgets a process that has ended. Blocks.
    fn forget(&self, owner: &str) {
        // An error means that another process forgot it.
        let _ = fs::remove_file(self.folder.join(owner));
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.forget(&self.owner);
        // An error means that other processes are in it.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Returns whether no process has locked a file; false if that is unknown.
fn has_ended(path: &Path) -> bool {
    open(path, false).is_ok_and(|file| file.try_lock().is_ok())
}

fn open(path: &Path, is_new: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(is_new).open(path)
}

fn create(folder: &Path, file: &Path) -> io::Result<File> {
    create_folder(folder)?;
    open(file, true)
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    // With write access, other users could keep a dead process alive.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_ended_once_its_file_is_unlocked() {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("runs.db");
        let [first, second] = ["first", "second"].map(|owner| Presence::announce(&database, owner).unwrap());
        assert!(first.ended().is_empty() && second.ended().is_empty());
        // As if it were killed: it does not continue.
        let left = second.folder.join("third");
        fs::write(&left, "").unwrap();
        assert_eq!(first.ended(), ["third"]);
        first.forget("third");
        assert!(second.ended().is_empty() && !left.exists());
        drop(second);
        assert!(first.ended().is_empty(), "it removed its file");
        drop(first);
        assert!(!left.parent().unwrap().exists(), "the last one removes the folder");
    }
}
