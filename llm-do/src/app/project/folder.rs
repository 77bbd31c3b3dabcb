//! The folder of a project, through which all of its files are opened: those that it names, and those that are found by convention.
//!
//! Before a path is opened, all links in it are resolved, and a path that leads outside of the folder is refused. Files are opened below
//! a handle of the folder, so a link that replaces a part of the path meanwhile does not lead outside either.

use std::cell::RefCell;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions};
use llm_do_worker_file::{MAX_SIZE, too_large};

use super::digest::{Digest, Digests};
use crate::base::open_file::NOT_A_FILE;

/// The maximum size of a program of which a digest is computed, in bytes.
const MAX_PROGRAM: u64 = 256 << 20;

/// The folder of a project, opened.
#[derive(Debug)]
pub(in crate::app) struct Folder {
    root: PathBuf,
    canonical: PathBuf,
    dir: Dir,
    /// What was read, by its path from the root.
    read: RefCell<Digests>,
}

impl Folder {
    pub(in crate::app) fn open(root: &Path) -> io::Result<Self> {
        let given = if root.as_os_str().is_empty() { Path::new(".") } else { root };
        let canonical = given.canonicalize()?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority())?;
        Ok(Self { root: root.to_owned(), canonical, dir, read: RefCell::default() })
    }

    /// Returns the path of the folder without links.
    pub(super) fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// Returns the path from the root to what a path leads to, without links.
    ///
    /// # Errors
    ///
    /// Returns an error for what is missing, and for what is outside of the folder.
    pub(super) fn inside(&self, path: &Path) -> io::Result<PathBuf> {
        let found =
            if path.is_absolute() || path.starts_with(&self.root) { path.to_owned() } else { self.root.join(path) };
        match found.canonicalize()?.strip_prefix(&self.canonical) {
            Ok(inside) => Ok(inside.to_owned()),
            Err(_) => Err(self.outside(path)),
        }
    }

    /// Checks that a path is inside of the folder; its last parts may be missing.
    pub(super) fn inside_or_missing(&self, path: &Path) -> io::Result<()> {
        let is_up = |part: Component<'_>| part == Component::ParentDir;
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let nearest = path.ancestors().find(|above| above.symlink_metadata().is_ok());
        match nearest {
            _ if below.components().any(is_up) => Err(self.outside(path)),
            Some(above) => self.inside(above).map(drop),
            None => Ok(()),
        }
    }

    /// Returns the text of a file of at most the size of a worker file, and remembers its digest.
    pub(in crate::app) fn text(&self, path: &Path) -> io::Result<String> {
        let inside = self.inside(path)?;
        let mut bytes = Vec::new();
        open_file(&self.dir, &inside)?.take(MAX_SIZE as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > MAX_SIZE {
            return Err(io::Error::other(too_large()));
        }
        self.read.borrow_mut().insert(name(&inside), Digest::of(&bytes));
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not valid UTF-8"))
    }

    /// Opens a folder in it.
    pub(super) fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        let inside = self.inside(path)?;
        if inside.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir(inside) }
    }

    /// Returns the digest of a file, given by its path from the root.
    pub(super) fn digest(&self, inside: &Path) -> io::Result<Digest> {
        let file = open_file(&self.dir, inside)?;
        if file.metadata()?.len() > MAX_PROGRAM {
            let text = format!("it is too large to be compared: the limit is {MAX_PROGRAM} bytes");
            return Err(io::Error::other(text));
        }
        Digest::of_reader(file.take(MAX_PROGRAM))
    }

    /// Returns the digests of all files that were read.
    pub(super) fn digests(&self) -> Digests {
        self.read.borrow().clone()
    }

    fn outside(&self, path: &Path) -> io::Error {
        let below = path.strip_prefix(&self.root).unwrap_or(path);
        let is_plain = below.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        io::Error::other(if is_plain {
            "it is a link to a file outside of the project's folder"
        } else {
            "it is outside of the project's folder"
        })
    }
}

/// Opens a file below a folder; a pipe, a socket or a device is an error, without waiting for its other end.
pub(super) fn open_file(dir: &Dir, path: &Path) -> io::Result<File> {
    // Checked before it is opened, since opening a device may have effects, and again, since it may be replaced.
    check_kind(&dir.metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, crate::base::open_file::nonblocking());
    let file = dir.open_with(path, &options)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

fn check_kind(metadata: &cap_std::fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Err(io::Error::other(format!("not a file: {NOT_A_FILE}")))
}

/// Returns a path from the root as a key of digests, with `/` on all systems.
pub(super) fn name(inside: &Path) -> String {
    let parts: Vec<_> = inside.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}
