//! A folder into which commands write files. Its contents may be from an untrusted project, so links in it are not
//! followed, only regular files are read or replaced, and files are written atomically.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use uuid::Uuid;

#[cfg(any(feature = "eval", feature = "trace"))]
use llm_do_core::base::open_file::is_stream;
use llm_do_core::base::open_file::{folder_or_current, link_fault};
use llm_do_project::{check_kind, open_file};

/// The maximum size of a file that is read before it is replaced, in bytes.
const MAX_READ: u64 = 1 << 20;
/// The permissions of a file that only the user may read.
const PRIVATE: u32 = 0o600;
/// The permissions of any other file, before the user's mask.
const NEW: u32 = 0o666;

/// An open folder.
#[derive(Debug)]
pub(super) struct OutFolder {
    dir: Dir,
    path: PathBuf,
}

impl OutFolder {
    /// Opens a folder, which is created if it is missing. Links in its path are followed, since the user chose it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let given = folder_or_current(path);
        std::fs::create_dir_all(given)?;
        Ok(Self { dir: Dir::open_ambient_dir(given, ambient_authority())?, path: path.to_owned() })
    }

    /// Opens the folder of a file, and returns it with the name of the file.
    pub(super) fn of_file(path: &Path) -> io::Result<(Self, &str)> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "expected the path of a file"))?;
        Ok((Self::open(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// Opens a nested folder, which is created if it is missing.
    pub(super) fn folder(&self, name: &str) -> io::Result<Self> {
        match self.dir.create_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.entry(name)?;
        Ok(Self { dir: self.dir.open_dir(name)?, path: self.path.join(name) })
    }

    /// Returns the metadata of the entry with this name, if any.
    ///
    /// # Errors
    ///
    /// Returns an error for a link, which is not followed.
    fn entry(&self, name: &str) -> io::Result<Option<Metadata>> {
        let metadata = match self.dir.symlink_metadata(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        if metadata.is_symlink() {
            return Err(link_fault(&self.path.join(name)));
        }
        Ok(Some(metadata))
    }

    /// Returns the regular file with this name, if any; any other entry is an error.
    pub(super) fn existing(&self, name: &str) -> io::Result<Option<Metadata>> {
        let entry = self.entry(name)?;
        entry.iter().try_for_each(check_kind)?;
        Ok(entry)
    }

    /// Reads a file of at most [`MAX_READ`] bytes; `None` if it is missing.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<String>> {
        if self.existing(name)?.is_none() {
            return Ok(None);
        }
        let mut text = String::new();
        open_file(&self.dir, Path::new(name))?.take(MAX_READ + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_READ {
            return Err(io::Error::other(format!("the file is too large: the limit is {MAX_READ} bytes")));
        }
        Ok(Some(text))
    }

    /// Writes a new file; returns an error if the name exists, also as a dangling link.
    pub(super) fn create(&self, name: &str, text: &str) -> io::Result<()> {
        let temporary = self.temporary(NEW, None, |file| file.write_all(text.as_bytes()))?;
        // Unlike a rename, a hard link does not replace an entry that was created meanwhile.
        match self.dir.hard_link(&temporary.name, &self.dir, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            // Some file systems have no hard links.
            Err(_) if self.entry(name)?.is_none() => self.dir.rename(&temporary.name, &self.dir, name),
            linked => linked,
        }
    }

    /// Replaces a file, whose permissions are kept, or creates a file that only the user may read.
    pub(super) fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        let existing = self.existing(name)?;
        let temporary = self.temporary(PRIVATE, existing.as_ref(), |file| file.write_all(text.as_bytes()))?;
        // A link that was created meanwhile is replaced, and not followed.
        self.dir.rename(&temporary.name, &self.dir, name)
    }

    /// Writes a temporary file, which the caller renames.
    fn temporary(
        &self,
        mode: u32,
        replaced: Option<&Metadata>,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Temporary<'_>> {
        let temporary = Temporary { dir: &self.dir, name: format!(".llm-do-{}.tmp", Uuid::now_v7().simple()) };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
        // On other systems, the folder determines who can read a file.
        #[cfg(not(unix))]
        let _ = mode;
        let mut file: File = self.dir.open_with(&temporary.name, &options)?;
        write(&mut file)?;
        if let Some(replaced) = replaced {
            file.set_permissions(replaced.permissions())?;
        }
        file.sync_all()?;
        Ok(temporary)
    }
}

/// A temporary file in a folder; removed on drop, unless it was renamed.
struct Temporary<'a> {
    dir: &'a Dir,
    name: String,
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        // Ignored: it may not have been created, or it was renamed.
        let _ = self.dir.remove_file(&self.name);
    }
}

/// Writes a file at the user's path atomically; only the user may read it.
///
/// A stream, such as `/dev/stdout`, is written directly; links and other pipes are errors.
#[cfg(any(feature = "eval", feature = "trace"))]
pub(super) fn write_named(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if is_stream(path) {
        return write(&mut std::fs::OpenOptions::new().write(true).open(path)?);
    }
    let (folder, name) = OutFolder::of_file(path)?;
    folder.existing(name)?;
    let temporary = folder.temporary(PRIVATE, None, write)?;
    folder.dir.rename(&temporary.name, &folder.dir, name)
}

#[cfg(test)]
mod tests {
    use std::fs::{read_dir, read_to_string};
    use std::io;

    use super::{NEW, OutFolder};

    #[test]
    fn a_new_file_appears_whole_or_not_at_all_and_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let opened = OutFolder::open(folder.path()).unwrap();
        let full = |_: &mut dyn io::Write| Err(io::ErrorKind::StorageFull.into());
        assert!(opened.temporary(NEW, None, full).is_err());
        assert_eq!(read_dir(folder.path()).unwrap().count(), 0, "a partial file stayed");
        opened.create("a", "first").unwrap();
        assert_eq!(opened.create("a", "second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(read_to_string(folder.path().join("a")).unwrap(), "first");
        assert_eq!(read_dir(folder.path()).unwrap().count(), 1, "a temporary file stayed");
    }
}
