//! Fingerprints of the files of a repository, which change when a file changes.

use std::fs::Metadata;
#[cfg(unix)]
use std::fs::{self, OpenOptions};
#[cfg(unix)]
use std::io::{self, Read};
use std::path::Path;

#[cfg(unix)]
use sha2::{Digest, Sha256};

#[cfg(unix)]
use llm_do_core::base::open_file::nonblocking;

/// The maximum size of a file whose content is compared, if it starts programs and if it does not.
#[cfg(unix)]
const MAX_STARTING: u64 = 16 << 20;
#[cfg(unix)]
const MAX_OTHER: u64 = 1 << 20;

/// The minimum length of an object's name in hexadecimal digits, without its folder.
#[cfg(unix)]
const OBJECT_NAME: usize = 38;

/// A value that changes when the file does; the entries of a folder are compared separately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fingerprint {
    File {
        identity: Identity,
        size: u64,
        modified: (i64, i64),
        changed: (i64, i64),
        /// The digest of the content. On some file systems, such as tmpfs, a change through mapped memory does not
        /// update the time.
        content: Option<[u8; 32]>,
    },
    Folder(Identity),
    /// The folder cannot be listed.
    Unreadable,
}

/// A file, its kind, mode and owner.
type Identity = (u64, u64, u32, u32, u32);

impl Fingerprint {
    /// Returns the fingerprint of a file or folder; `None` if it starts programs and is too large to compare.
    #[cfg(unix)]
    pub(super) fn new(path: &Path, facts: &Metadata, is_starting: bool) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        let identity = (facts.dev(), facts.ino(), facts.mode(), facts.uid(), facts.gid());
        if facts.is_dir() {
            return Some(Self::Folder(identity));
        }
        let max = if is_starting { MAX_STARTING } else { MAX_OTHER };
        let is_compared = facts.size() <= max && (is_starting || !is_object(path));
        if !is_compared && is_starting {
            return None;
        }
        // An unreadable file can be changed only after its mode, which updates the time.
        let content = is_compared.then(|| content(path, facts, max).ok()).flatten();
        // Only the kernel sets the change time, for each change of content, links or mode.
        let [modified, changed] = [(facts.mtime(), facts.mtime_nsec()), (facts.ctime(), facts.ctime_nsec())];
        Some(Self::File { identity, size: facts.size(), modified, changed, content })
    }

    /// Only Linux has a sandbox.
    #[cfg(not(unix))]
    pub(super) fn new(_: &Path, _: &Metadata, _: bool) -> Option<Self> {
        Some(Self::Unreadable)
    }

    /// Returns the number of bytes read.
    pub(super) fn bytes_read(&self) -> u64 {
        match self {
            Self::File { size, content: Some(_), .. } => *size,
            _ => 0,
        }
    }
}

/// Returns the digest of a file's content, or of the target of a symbolic link.
#[cfg(unix)]
fn content(path: &Path, facts: &Metadata, max: u64) -> io::Result<[u8; 32]> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;

    if facts.is_symlink() {
        return Ok(Sha256::digest(fs::read_link(path)?.as_os_str().as_bytes()).into());
    }
    let flags = libc::O_NOFOLLOW | nonblocking();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes)?;
    Ok(Sha256::digest(&bytes).into())
}

/// Returns whether a file has the name of an object or of a pack, which start no program and are too many to read.
#[cfg(unix)]
fn is_object(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("pack-") || (name.len() >= OBJECT_NAME && name.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns whether this user owns a file, or the folder that contains it.
#[cfg(unix)]
pub(super) fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let facts = path.ancestors().find_map(|path| fs::symlink_metadata(path).ok());
    facts.is_none_or(|facts| facts.uid() == rustix::process::geteuid().as_raw())
}

/// Only Linux has a sandbox.
#[cfg(not(unix))]
pub(super) fn is_own(_: &Path) -> bool {
    true
}
