//! A folder that commands write files into. A project may have brought what is in it, so no link in it is followed, nothing but regular
//! files is read or replaced, and a file is written whole or not at all.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use uuid::Uuid;

use crate::base::open_file::NOT_A_FILE;

/// The maximum size of a file that is read before it is replaced, in bytes.
const MAX_READ: u64 = 1 << 20;

/// A folder, opened.
#[derive(Debug)]
pub(super) struct OutFolder {
    dir: Dir,
    path: PathBuf,
}

impl OutFolder {
    /// Opens a folder, which is created if it is missing. Links in its path are followed: the user chose it.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let given = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        std::fs::create_dir_all(given)?;
        Ok(Self { dir: Dir::open_ambient_dir(given, ambient_authority())?, path: path.to_owned() })
    }

    /// Opens the folder of a file, and returns it with the name of the file.
    pub(super) fn of_file(path: &Path) -> io::Result<(Self, &str)> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "expected the path of a file"))?;
        Ok((Self::open(path.parent().unwrap_or(Path::new("")))?, name))
    }

    /// Opens a folder in this one, which is created if it is missing.
    pub(super) fn folder(&self, name: &str) -> io::Result<Self> {
        match self.dir.create_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.entry(name)?;
        Ok(Self { dir: self.dir.open_dir(name)?, path: self.path.join(name) })
    }

    /// Returns what is in the folder under this name, if anything is.
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
            let target = std::fs::read_link(self.path.join(name)).unwrap_or_default();
            let text = format!("it is a link to {}, which is not followed; name the file itself", target.display());
            return Err(io::Error::other(text));
        }
        Ok(Some(metadata))
    }

    /// Returns the regular file of this name, if there is one; anything else is an error.
    pub(super) fn existing(&self, name: &str) -> io::Result<Option<Metadata>> {
        let entry = self.entry(name)?;
        match &entry {
            Some(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Some(metadata) if !metadata.is_file() => Err(io::Error::other(format!("not a file: {NOT_A_FILE}"))),
            _ => Ok(entry),
        }
    }

    /// Reads a file of at most [`MAX_READ`] bytes; `None` if it is missing.
    pub(super) fn read(&self, name: &str) -> io::Result<Option<String>> {
        if self.existing(name)?.is_none() {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, crate::base::open_file::nonblocking());
        let file = self.dir.open_with(name, &options)?;
        // Again, since it may have been replaced.
        if !file.metadata()?.is_file() {
            return Err(io::Error::other(format!("not a file: {NOT_A_FILE}")));
        }
        let mut text = String::new();
        file.take(MAX_READ + 1).read_to_string(&mut text)?;
        if text.len() as u64 > MAX_READ {
            return Err(io::Error::other(format!("the file is too large: the limit is {MAX_READ} bytes")));
        }
        Ok(Some(text))
    }

    /// Writes a new file; returns an error if the name is taken, also by a link that leads nowhere.
    pub(super) fn create(&self, name: &str, text: &str) -> io::Result<()> {
        self.dir.open_with(name, OpenOptions::new().write(true).create_new(true))?.write_all(text.as_bytes())
    }

    /// Replaces a file, whose permissions are kept, or creates one that only the user may read.
    pub(super) fn replace(&self, name: &str, text: &str) -> io::Result<()> {
        let existing = self.existing(name)?;
        let temporary = format!(".llm-do-{}.tmp", Uuid::now_v7().simple());
        let written = self.write_temporary(&temporary, text, existing.as_ref());
        // A link that was put there meanwhile is replaced, and not followed.
        let renamed = written.and_then(|()| self.dir.rename(&temporary, &self.dir, name));
        if renamed.is_err() {
            // Ignored: it may not have been created.
            let _ = self.dir.remove_file(&temporary);
        }
        renamed
    }

    fn write_temporary(&self, name: &str, text: &str, replaced: Option<&Metadata>) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file: File = self.dir.open_with(name, &options)?;
        file.write_all(text.as_bytes())?;
        if let Some(replaced) = replaced {
            file.set_permissions(replaced.permissions())?;
        }
        file.sync_all()
    }
}
