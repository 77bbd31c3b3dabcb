//! Making known what was fetched: each step leaves the cache whole.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::checksum::Checksum;
use super::super::hub_file::HubFile;
use super::{HubCache, is_commit};

impl HubCache {
    /// Has the content of that checksum be `file` as of `commit`, and that commit be what the file's revision is now.
    ///
    /// Returns where the file is.
    pub(in super::super) fn publish(&self, file: &HubFile, commit: &str, checksum: &Checksum) -> io::Result<PathBuf> {
        let place = self.snapshot(file, commit);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder)?;
        }
        let ups = "../".repeat(file.path.len() + 1);
        link(&self.blob(file, checksum), &format!("{ups}blobs/{checksum}"), &place)?;
        if !is_commit(&file.revision) {
            write_whole(&self.reference(file), commit)?;
        }
        Ok(place)
    }
}

/// Has `place` lead to `blob`, which is at `relative` from it; where there are no links, the blob moves there.
fn link(blob: &Path, relative: &str, place: &Path) -> io::Result<()> {
    let fresh = beside(place);
    let _ = fs::remove_file(&fresh);
    if symlink(relative, &fresh).is_ok() { fs::rename(&fresh, place) } else { fs::rename(blob, place) }
}

#[cfg(unix)]
fn symlink(target: &str, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, place)
}

#[cfg(windows)]
fn symlink(target: &str, place: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(target.replace('/', "\\"), place)
}

#[cfg(not(any(unix, windows)))]
fn symlink(_: &str, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Writes a file that is never seen half.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let fresh = beside(path);
    fs::write(&fresh, text)?;
    fs::rename(fresh, path)
}

/// A name beside `path` that nobody else uses.
fn beside(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    name.into()
}
