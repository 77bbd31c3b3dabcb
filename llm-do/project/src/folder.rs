//! The folder of a project, through which all of its files are opened: files with paths in the manifest, and files
//! found by convention.
//!
//! Before a path is opened, all links in it are resolved, and a path that leads outside the folder is refused. Files
//! are opened below a handle of the folder, so a link that replaces a part of the path meanwhile does not lead outside
//! either.

mod programs;

use std::cell::{Cell, RefCell};
use std::ffi::OsStr;
use std::fmt::Write;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use llm_do_core::base::open_file::{folder_or_current, not_a_file};
use llm_do_worker_file::{MAX_SIZE, too_large};

pub(crate) use self::programs::FoundPrograms;
use self::programs::Programs;
use super::digest::{Digest, Digests};

/// The maximum size of all texts of one kind, in bytes; a text that several workers share counts for each of them.
const MAX_TEXTS: usize = 64 << 20;

/// The kind of texts, which are counted separately: texts of other programs do not use up the limit of the project's
/// own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Texts {
    Own,
    Foreign,
}

/// The open folder of a project.
#[derive(Debug)]
#[doc(hidden)]
pub struct Folder {
    root: PathBuf,
    canonical: PathBuf,
    dir: Dir,
    /// The digests of the files that were read, by path from the root.
    read: RefCell<Digests>,
    /// The remaining size of own and of foreign texts, in bytes.
    texts_left: [Cell<usize>; 2],
    programs: RefCell<Programs>,
}

impl Folder {
    /// Opens the folder of a project.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be opened.
    pub fn open(root: &Path) -> io::Result<Self> {
        let canonical = folder_or_current(root).canonicalize()?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority())?;
        Ok(Self {
            root: root.to_owned(),
            canonical,
            dir,
            read: RefCell::default(),
            texts_left: [const { Cell::new(MAX_TEXTS) }; 2],
            programs: RefCell::default(),
        })
    }

    /// Returns the path of the folder without symbolic links.
    pub(super) fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// Returns the path from the root to the target of a path, without symbolic links.
    ///
    /// # Errors
    ///
    /// Returns an error for a missing file, and for a file outside the folder.
    pub(super) fn inside(&self, path: &Path) -> io::Result<PathBuf> {
        let found =
            if path.is_absolute() || path.starts_with(&self.root) { path.to_owned() } else { self.root.join(path) };
        match found.canonicalize()?.strip_prefix(&self.canonical) {
            Ok(inside) => Ok(inside.to_owned()),
            Err(_) => Err(self.outside(path)),
        }
    }

    /// Checks that a path is inside the folder; its last parts may be missing.
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

    /// Returns the text of a file of the project, of at most the size of a worker file, and records its digest.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not in the folder, is too large or cannot be read.
    pub fn text(&self, path: &Path) -> io::Result<String> {
        self.text_of(path, Texts::Own)
    }

    /// Returns the text of a file, which counts as this kind.
    pub(super) fn text_of(&self, path: &Path, texts: Texts) -> io::Result<String> {
        self.text_up_to(path, texts, MAX_SIZE)
    }

    /// Returns the text of a file of at most some bytes, which counts as this kind.
    pub(super) fn text_up_to(&self, path: &Path, texts: Texts, max: usize) -> io::Result<String> {
        let inside = self.inside(path)?;
        let mut bytes = Vec::new();
        open_file(&self.dir, &inside)?.take(max as u64 + 1).read_to_end(&mut bytes)?;
        if bytes.len() > max {
            return Err(io::Error::other(format!("the file is too large: the limit is {max} bytes")));
        }
        self.count_text(bytes.len(), texts)?;
        self.read.borrow_mut().insert(digest_key(&inside), Digest::new(&bytes));
        String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not valid UTF-8"))
    }

    /// Counts a text that is kept in memory.
    ///
    /// # Errors
    ///
    /// Returns an error once all texts of the project exceed the limit.
    pub(super) fn count_text(&self, size: usize, texts: Texts) -> io::Result<()> {
        let texts_left = &self.texts_left[texts as usize];
        let left = texts_left.get().checked_sub(size);
        texts_left.set(left.unwrap_or_default());
        left.map(drop).ok_or_else(|| {
            let text =
                format!("the texts of the project's workers are too large together: the limit is {MAX_TEXTS} bytes");
            io::Error::other(text)
        })
    }

    /// Opens a nested folder.
    pub(super) fn open_folder(&self, path: &Path) -> io::Result<Dir> {
        let inside = self.inside(path)?;
        if inside.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir(inside) }
    }

    /// Returns the digests of all files that were read, and of all programs that were compared.
    pub(super) fn digests(&self) -> Digests {
        let mut digests = self.programs.borrow().digests();
        digests.extend(self.read.borrow().clone());
        digests
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

/// Opens a file below a folder. A pipe, a socket or a device is an error, and does not block.
#[doc(hidden)]
pub fn open_file(dir: &Dir, path: &Path) -> io::Result<File> {
    // Checked before it is opened, since opening a device may have effects, and again, since it may have been replaced.
    check_kind(&dir.metadata(path)?)?;
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, llm_do_core::base::open_file::nonblocking());
    let file = dir.open_with(path, &options)?;
    check_kind(&file.metadata()?)?;
    Ok(file)
}

/// Returns an error for anything but a regular file.
#[doc(hidden)]
pub fn check_kind(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    if metadata.is_dir() {
        return Err(io::Error::from(io::ErrorKind::IsADirectory));
    }
    Err(not_a_file())
}

/// Returns a path from the root, or an absolute path, as a key of digests: with `/` on all systems.
///
/// The keys are unique: bytes that are not text are escaped, and so is the backslash.
#[doc(hidden)]
#[must_use]
pub fn digest_key(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .map(|part| if part == Component::RootDir { String::new() } else { escaped(part.as_os_str()) })
        .collect();
    parts.join("/")
}

fn escaped(name: &OsStr) -> String {
    let mut text = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', r"\\"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, r"\x{byte:02x}");
        }
    }
    text
}
