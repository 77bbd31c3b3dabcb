//! Opens located files: only regular files, without blocking and without following a link.

use std::io::Read;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::{Dir, File, Metadata, OpenOptions};

use super::fault::{Fault, shown};
use super::locate::{Links, Located, Missing, Place, Target, locate};
use super::root::Root;

/// A file that was read.
#[derive(Debug)]
pub(super) struct FileContent {
    pub(super) bytes: Vec<u8>,
    pub(super) metadata: Metadata,
}

/// Finds the file at `given`, which must be readable by the rules.
pub(super) fn find(root: &Root, given: &str) -> Result<Place, Fault> {
    let place = entry(locate(root, given, Links::Follow, Missing::Fail)?)?;
    root.rules.check_read(&place.path, false)?;
    Ok(place)
}

/// Returns the entry; fails for the root itself.
pub(super) fn entry(located: Located) -> Result<Place, Fault> {
    match located {
        Located::Root => Err(Fault::IsFolder(".".to_owned())),
        Located::Entry(place) => Ok(place),
        Located::Missing(target) => Err(Fault::NotFound(shown(&target.path))),
    }
}

/// Creates the missing folders of a path, and returns its entry; fails unless it is the checked target.
pub(super) fn create(root: &Root, given: &str, links: Links, checked: &Target) -> Result<Place, Fault> {
    let place = entry(locate(root, given, links, Missing::Create)?)?;
    if checked.is_still(&place.target()) { Ok(place) } else { Err(Fault::Moved(shown(&checked.path))) }
}

/// Reads a whole file of at most `max` bytes.
pub(super) fn read(place: &Place, max: u64, hint: &'static str) -> Result<FileContent, Fault> {
    let Place { folder, name, path, .. } = place;
    // Checked before it is opened, since opening a device may have effects.
    check_is_file(place, &folder.symlink_metadata(name).map_err(Fault::io("read", path))?)?;
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, llm_do_core::base::open_file::nonblocking());
    let file = folder.open_with(name, &options).map_err(Fault::io("read", path))?;
    // Checked again, since another process may have replaced it.
    let metadata = file.metadata().map_err(Fault::io("read", path))?;
    check_is_file(place, &metadata)?;
    Ok(FileContent { bytes: read_open(place, file, &metadata, max, hint)?, metadata })
}

fn read_open(place: &Place, file: File, metadata: &Metadata, max: u64, hint: &'static str) -> Result<Vec<u8>, Fault> {
    let too_large = |bytes| Err(Fault::TooLarge { path: shown(&place.path), bytes, max, hint });
    if metadata.len() > max {
        return too_large(metadata.len());
    }
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes).map_err(Fault::io("read", &place.path))?;
    // The file may have grown.
    if bytes.len() as u64 > max { too_large(bytes.len() as u64) } else { Ok(bytes) }
}

/// Checks that an entry is a regular file.
pub(super) fn check_is_file(place: &Place, metadata: &Metadata) -> Result<(), Fault> {
    if metadata.is_file() {
        return Ok(());
    }
    let path = shown(&place.path);
    Err(if metadata.is_dir() { Fault::IsFolder(path) } else { Fault::Special(path) })
}

/// Opens the folder at `given`; returns it with its path from the root.
pub(super) fn find_folder(root: &Root, given: &str) -> Result<(Dir, std::path::PathBuf), Fault> {
    match locate(root, given, Links::Follow, Missing::Fail)? {
        Located::Root => Ok((root.dir.try_clone().map_err(Fault::io("open", ".".as_ref()))?, "".into())),
        Located::Entry(place) => {
            root.rules.check_read(&place.path, true)?;
            let folder = place.folder.open_dir_nofollow(&place.name).map_err(Fault::io("open", &place.path))?;
            Ok((folder, place.path))
        }
        Located::Missing(target) => Err(Fault::NotFound(shown(&target.path))),
    }
}
