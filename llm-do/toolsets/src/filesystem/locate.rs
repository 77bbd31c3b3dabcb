//! Finds an entry below the root, one name at a time.
//!
//! Each folder is opened by its name in its open parent folder, without following a symbolic link; links are read and
//! followed here. So nothing outside the root is opened, even if another process changes the tree meanwhile, and the
//! rules check the path that is opened.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt, MetadataExt};
use cap_std::fs::Dir;

use super::fault::{Fault, shown};
use super::path::{self, MAX_NAMES, Step};
use super::root::Root;

/// The maximum number of symbolic links on one path, and of retries if the tree changes meanwhile.
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

/// The target of a path before anything is created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The path from the root, without symbolic links above the entry.
    pub(super) path: PathBuf,
    /// The folders of the path below the root that exist.
    pub(super) folders: Vec<FolderId>,
}

impl Target {
    /// Returns whether a path still leads to the target; missing folders may exist by now.
    pub(super) fn is_still(&self, found: &Self) -> bool {
        self.path == found.path && found.folders.starts_with(&self.folders)
    }
}

/// The result of locating a path.
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
    /// Returns the target of the path, and its entry unless a folder is missing; fails for the root itself.
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

/// The treatment of a symbolic link as the last name of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    Follow,
    Keep,
}

/// The treatment of a missing folder on the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    Fail,
    /// Returns the future target, after the checks of its creation.
    Check,
    Create,
}

/// The walk from the root so far.
struct PathWalk<'a> {
    root: &'a Root,
    /// The open folders below the root.
    folders: Vec<Dir>,
    ids: Vec<FolderId>,
    path: PathBuf,
    steps: VecDeque<Step>,
    /// The number of links and retries that are left.
    budget: usize,
    /// The number of folders that may still be created.
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
        Fault::Outside(llm_do_core::base::printable::printable_line(self.given))
    }

    fn up(&mut self) -> Result<(), Fault> {
        self.folders.pop().ok_or_else(|| self.outside())?;
        self.ids.pop();
        self.path.pop();
        Ok(())
    }

    /// Enters a folder, through a symbolic link if the name is one. For [`Missing::Check`], returns the future target
    /// of a missing folder.
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
        // Another process has replaced it meanwhile.
        self.spend(&path)?;
        self.steps.push_front(Step::Name(name));
        Ok(None)
    }

    /// Checks that a missing folder may be created, with the rest of the path in it; returns the target.
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
        // Bounded, since another process may remove each folder again.
        self.creations = self.creations.checked_sub(1).ok_or_else(|| self.too_deep())?;
        match self.folder().create_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                Err(Fault::io("create the folder", path)(error))
            }
            _ => Ok(()),
        }
    }

    /// If the name is a symbolic link, replaces it by the steps of its target.
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
