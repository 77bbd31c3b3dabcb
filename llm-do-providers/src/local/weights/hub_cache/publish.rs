//! Adds downloaded files to the cache; each step leaves the cache consistent.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::checksum::Checksum;
use super::super::hub_file::HubFile;
use super::{HubCache, is_commit};

impl HubCache {
    /// Links the content with that checksum as `file` at `commit`, and sets the file's revision to that commit.
    ///
    /// Returns the path of the file.
    pub(in super::super) fn publish(&self, file: &HubFile, commit: &str, checksum: &Checksum) -> io::Result<PathBuf> {
        let path = self.snapshot(file, commit);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let parents = "../".repeat(file.path.len() + 1);
        link(&self.blob(file, checksum), &format!("{parents}blobs/{checksum}"), &path)?;
        if !is_commit(&file.revision) {
            write_atomically(&self.reference(file), commit)?;
        }
        Ok(path)
    }
}

/// Links `path` to `blob`, which is at `relative` from it; without support for links the blob is moved.
fn link(blob: &Path, relative: &str, path: &Path) -> io::Result<()> {
    let temporary = temporary_path(path);
    let _ = fs::remove_file(&temporary);
    if symlink(relative, &temporary).is_ok() { fs::rename(&temporary, path) } else { fs::rename(blob, path) }
}

#[cfg(unix)]
fn symlink(target: &str, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, path)
}

#[cfg(windows)]
fn symlink(target: &str, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target.replace('/', "\\"), path)
}

#[cfg(not(any(unix, windows)))]
fn symlink(_: &str, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes a file atomically.
fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let temporary = temporary_path(path);
    fs::write(&temporary, text)?;
    fs::rename(temporary, path)
}

/// Returns a unique temporary path beside `path`.
fn temporary_path(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    name.into()
}
