//! Writes files atomically.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, MutexGuard};

use cap_std::fs::{Dir, File, Metadata, OpenOptions, Permissions};
use llm_do_core::base::mutex::IgnorePoison;
use uuid::Uuid;

use super::fault::Fault;
use super::locate::Place;

/// Held while a file is changed, so that two changes of this process do not overwrite each other.
static CHANGES: Mutex<()> = Mutex::new(());

/// Waits until no other call of this process changes files.
pub(super) fn lock() -> MutexGuard<'static, ()> {
    CHANGES.lock().ignore_poison()
}

/// Replaces or creates a file atomically: a reader sees the old or the new content, also after a crash.
///
/// The permissions of `replaced` are kept.
pub(super) fn replace(place: &Place, bytes: &[u8], replaced: Option<&Metadata>) -> Result<(), Fault> {
    let permissions = replaced.map(|metadata| kept(&metadata.permissions()));
    write(place, bytes, permissions).map_err(Fault::io("write", &place.path))
}

fn write(place: &Place, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    let mut temporary = Temporary::create(&place.folder, permissions.is_some())?;
    temporary.file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        temporary.file.set_permissions(permissions)?;
    }
    temporary.file.sync_all()?;
    temporary.rename_to(place)?;
    sync(&place.folder);
    Ok(())
}

/// Syncs the folder itself to disk, so that the new name survives a crash. Some file systems do not support this.
fn sync(folder: &Dir) {
    drop(folder.try_clone().and_then(|folder| folder.into_std_file().sync_all()));
}

/// Returns the permissions of the owner, the group and other users, without special bits such as set-user-ID.
#[cfg(unix)]
fn kept(permissions: &Permissions) -> Permissions {
    use cap_std::fs::PermissionsExt;

    Permissions::from_mode(permissions.mode() & 0o777)
}

#[cfg(not(unix))]
fn kept(permissions: &Permissions) -> Permissions {
    permissions.clone()
}

/// A new file in the folder of the file that it will replace; removed on drop.
struct Temporary<'a> {
    folder: &'a Dir,
    name: String,
    file: File,
    is_renamed: bool,
}

impl<'a> Temporary<'a> {
    /// Creates the file; a private file is readable only by its owner.
    fn create(folder: &'a Dir, is_private: bool) -> io::Result<Self> {
        let name = format!(".llm-do-{}.tmp", Uuid::now_v7().simple());
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if is_private {
            cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = is_private;
        let file = folder.open_with(&name, &options)?;
        Ok(Self { folder, name, file, is_renamed: false })
    }

    fn rename_to(&mut self, place: &Place) -> io::Result<()> {
        self.folder.rename(&self.name, &place.folder, Path::new(&place.name))?;
        self.is_renamed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
            drop(self.folder.remove_file(&self.name));
        }
    }
}
