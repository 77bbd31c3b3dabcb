//! Finds an entry below the root, one name at a time.
//!
//! Each folder is opened by its name in the open folder above it, without following a symbolic link; links are read and
//! followed here. So nothing outside the root is ever opened, even if another process changes the tree meanwhile, and the
//! path that the rules are checked against is the path that was opened.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, MetadataExt};
use cap_std::fs::Dir;

use super::fault::{Fault, shown};
use super::path::{self, MAX_NAMES, Step};
use super::root::Root;

/// The maximum number of symbolic links that one path may lead through, and of retries if the tree changes meanwhile.
const MAX_LINKS: usize = 40;

/// An entry of an open folder below the root; the entry itself may not exist.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: Dir,
    pub(super) name: OsString,
    /// The path from the root, without symbolic links above the entry.
    pub(super) path: PathBuf,
    /// The folders of the path below the root, if it was located.
    pub(super) folders: Vec<FolderId>,
}

/// The device and the inode of a folder.
pub(super) type FolderId = (u64, u64);

/// Where a path leads before anything is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The path from the root, without symbolic links above the entry.
    pub(super) path: PathBuf,
    /// The folders of the path below the root that exist.
    pub(super) folders: Vec<FolderId>,
}

impl Target {
    /// Returns whether a path still leads there; folders that were missing may exist by now.
    pub(super) fn is_still(&self, found: &Self) -> bool {
        self.path == found.path && found.folders.starts_with(&self.folders)
    }
}

/// What a path leads to.
#[derive(Debug)]
pub(super) enum Located {
    Root,
    Entry(Place),
    /// An entry in a missing folder, for [`Missing::Check`].
    Missing(Target),
}

impl Place {
    pub(super) fn target(&self) -> Target {
        Target { path: self.path.clone(), folders: self.folders.clone() }
    }
}

impl Located {
    /// Returns where the path leads, and its entry unless a folder is missing; fails for the root itself.
    pub(super) fn into_target(self) -> Result<(Target, Option<Place>), Fault> {
        match self {
            Self::Root => Err(Fault::IsFolder(".".to_owned())),
            Self::Entry(place) => Ok((place.target(), Some(place))),
            Self::Missing(target) => Ok((target, None)),
        }
    }
}

fn id(folder: &Dir, path: &Path) -> Result<FolderId, Fault> {
    let metadata = folder.dir_metadata().map_err(Fault::io("open", path))?;
    Ok((metadata.dev(), metadata.ino()))
}

/// What happens to the last name of a path if it is a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    Follow,
    Keep,
}

/// What happens if a folder of the path is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Fail,
    /// Returns where it would be, after the checks that creating it would make.
    Check,
    Create,
}

/// The way from the root so far.
struct PathWalk<'a> {
    root: &'a Root,
    /// The open folders below the root.
    folders: Vec<Dir>,
    ids: Vec<FolderId>,
    path: PathBuf,
    steps: VecDeque<Step>,
    /// How many links and retries are left.
    budget: usize,
    /// How many folders may still be created.
    creations: usize,
    /// The path as given, for errors.
    given: &'a str,
}

/// Finds the entry at `given`.
pub(super) fn locate(root: &Root, given: &str, links: Links, missing: Missing) -> Result<Located, Fault> {
    let steps = path::steps(given, &root.paths())?;
    let mut way = PathWalk {
        root,
        folders: Vec::new(),
        ids: Vec::new(),
        path: PathBuf::new(),
        steps,
        budget: MAX_LINKS,
        creations: MAX_NAMES,
        given,
    };
    while let Some(step) = way.steps.pop_front() {
        match step {
            Step::Up => way.up()?,
            Step::Name(name) if way.steps.is_empty() => {
                if links == Links::Keep || !way.expand(&name)? {
                    return way.end(name).map(Located::Entry);
                }
            }
            Step::Name(name) => {
                if let Some(target) = way.enter(name, missing)? {
                    return Ok(Located::Missing(target));
                }
            }
        }
    }
    way.end_in_folder()
}

impl PathWalk<'_> {
    fn folder(&self) -> &Dir {
        self.folders.last().unwrap_or(&self.root.dir)
    }

    fn outside(&self) -> Fault {
        Fault::Outside(crate::base::printable::printable_line(self.given))
    }

    fn up(&mut self) -> Result<(), Fault> {
        self.folders.pop().ok_or_else(|| self.outside())?;
        self.ids.pop();
        self.path.pop();
        Ok(())
    }

    /// Enters a folder, through a symbolic link if the name is one; returns where a missing one would be, for
    /// [`Missing::Check`].
    fn enter(&mut self, name: OsString, missing: Missing) -> Result<Option<Target>, Fault> {
        let path = self.path.join(&name);
        let error = match self.folder().open_dir_nofollow(&name) {
            Ok(folder) => {
                self.ids.push(id(&folder, &path)?);
                self.folders.push(folder);
                self.path = path;
                return if self.folders.len() > MAX_NAMES { Err(self.too_deep()) } else { Ok(None) };
            }
            Err(error) => error,
        };
        if error.kind() == io::ErrorKind::NotFound {
            if missing == Missing::Fail {
                return Err(Fault::NotFound(shown(&path)));
            }
            let target = self.new_target(&name, &path)?;
            if missing == Missing::Check {
                return Ok(Some(target));
            }
            self.create(&name, &path)?;
            self.steps.push_front(Step::Name(name));
            return Ok(None);
        } else if self.expand(&name)? {
            return Ok(None);
        } else if !self.folder().symlink_metadata(&name).is_ok_and(|found| found.is_dir()) {
            return Err(Fault::io("open", &path)(error));
        }
        // Another process has replaced it in between.
        self.spend(&path)?;
        self.steps.push_front(Step::Name(name));
        Ok(None)
    }

    /// Checks that a missing folder may be created, and so may what the rest of the path names in it; returns that.
    fn new_target(&self, name: &OsString, path: &Path) -> Result<Target, Fault> {
        self.root.rules.check_change(path, true)?;
        path::check_new_name(name)?;
        let mut path = path.to_owned();
        for step in &self.steps {
            let Step::Name(name) = step else {
                let missing = shown(&path);
                return Err(Fault::Invalid(format!("`{missing}` does not exist, so `..` cannot follow it")));
            };
            path::check_new_name(name)?;
            path.push(name);
        }
        self.root.rules.check_change(&path, false)?;
        Ok(Target { path, folders: self.ids.clone() })
    }

    fn create(&mut self, name: &OsString, path: &Path) -> Result<(), Fault> {
        // Another process may remove each folder again.
        self.creations = self.creations.checked_sub(1).ok_or_else(|| self.too_deep())?;
        match self.folder().create_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(Fault::io("create the folder", path)(error))
            }
            _ => Ok(()),
        }
    }

    /// If the name is a symbolic link, replaces it by the steps that it stands for.
    fn expand(&mut self, name: &OsString) -> Result<bool, Fault> {
        if !self.folder().symlink_metadata(name).is_ok_and(|found| found.is_symlink()) {
            return Ok(false);
        }
        let path = self.path.join(name);
        self.spend(&path)?;
        let target = self.folder().read_link_contents(name).map_err(Fault::io("read the link", &path))?;
        let mut steps = path::relative_steps(&target).ok_or_else(|| self.outside())?;
        steps.append(&mut self.steps);
        self.steps = steps;
        if self.steps.len() > MAX_NAMES { Err(self.too_deep()) } else { Ok(true) }
    }

    fn spend(&mut self, path: &Path) -> Result<(), Fault> {
        self.budget = self.budget.checked_sub(1).ok_or_else(|| {
            Fault::Invalid(format!("`{}` leads through more than {MAX_LINKS} symbolic links", shown(path)))
        })?;
        Ok(())
    }

    fn too_deep(&self) -> Fault {
        Fault::Invalid(format!("`{}` leads through more than {MAX_NAMES} folders", shown(&self.path)))
    }

    fn end(mut self, name: OsString) -> Result<Place, Fault> {
        let path = self.path.join(&name);
        let folder = match self.folders.pop() {
            Some(folder) => folder,
            None => self.root.dir.try_clone().map_err(Fault::io("open", &path))?,
        };
        Ok(Place { folder, name, path, folders: self.ids })
    }

    /// The last step was `..` or led to the root: the folder itself is the entry.
    fn end_in_folder(mut self) -> Result<Located, Fault> {
        let Some(name) = self.path.file_name().map(OsString::from) else { return Ok(Located::Root) };
        self.folders.pop();
        self.ids.pop();
        self.path.pop();
        self.end(name).map(Located::Entry)
    }
}
