//! `move_file` and `delete_file`.

use std::io;

use cap_std::fs::Metadata;

use super::diff;
use super::fault::{Fault, shown};
use super::locate::{Links, Missing, Place, Target, locate};
use super::open::{self, check_is_file, entry};
use super::path::check_new_name;
use super::previewed::with_real_path;
use super::replace::lock;
use super::root::Root;
use super::text;

/// Moves a file, and returns what happened. A symbolic link is moved itself.
pub(super) fn rename(root: &Root, from: &str, to: &str) -> Result<String, Fault> {
    let _changes = lock();
    root.rules.check_changes()?;
    let (old, _) = changeable(root, from)?;
    let (target, found) = destination(root, to)?;
    root.check_unchanged(&("move", from, to), &[&old.target(), &target], Some(&old))?;
    let new = found.map_or_else(|| open::create(root, to, Links::Keep, &target), Ok)?;
    rename_new(&old, &new).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Fault::Exists(shown(&new.path)),
        _ => Fault::Io { action: "move", path: shown(&old.path), source: error },
    })?;
    Ok(format!("moved `{}` to `{}`", shown(&old.path), shown(&new.path)))
}

/// Shows the move that [`rename`] would make, with the real paths.
pub(super) fn preview_rename(root: &Root, from: &str, to: &str) -> Result<String, Fault> {
    let (old, metadata) = changeable(root, from)?;
    let (target, found) = destination(root, to)?;
    if found.is_some_and(|new| new.folder.symlink_metadata(&new.name).is_ok()) {
        return Err(Fault::Exists(shown(&target.path)));
    }
    root.remember(&("move", from, to), &[&old.target(), &target], Some(&old));
    let kind = if metadata.is_symlink() { "the symbolic link " } else { "" };
    Ok(format!("moves {kind}`{}` to `{}`", shown(&old.path), shown(&target.path)))
}

/// Finds the target of a move.
fn destination(root: &Root, to: &str) -> Result<(Target, Option<Place>), Fault> {
    let (target, found) = locate(root, to, Links::Keep, Missing::Check)?.into_target()?;
    root.rules.check_change(&target.path, false)?;
    if let Some(new) = &found {
        check_new_name(&new.name)?;
    }
    Ok((target, found))
}

/// Deletes a file, and returns what happened. A symbolic link is deleted itself.
pub(super) fn delete(root: &Root, path: &str) -> Result<String, Fault> {
    let _changes = lock();
    let (place, metadata) = changeable(root, path)?;
    root.check_unchanged(&("delete", path), &[&place.target()], Some(&place))?;
    place.folder.remove_file(&place.name).map_err(Fault::io("delete", &place.path))?;
    let kind = if metadata.is_symlink() { "the symbolic link " } else { "" };
    Ok(format!("deleted {kind}`{}`", shown(&place.path)))
}

/// Shows the file that [`delete`] would delete.
pub(super) fn preview_delete(root: &Root, path: &str) -> Result<String, Fault> {
    let (place, metadata) = changeable(root, path)?;
    let target = place.target();
    root.remember(&("delete", path), &[&target], Some(&place));
    let real = shown(&target.path);
    if metadata.is_symlink() {
        return Ok(with_real_path(path, &target, &format!("deletes the symbolic link `{real}`, not its target")));
    }
    let content = open::read(&place, root.max_bytes, "").and_then(|content| text::decode(content.bytes, &place.path));
    let whole = match content {
        Ok(old) => diff::deleted(&real, &old),
        Err(_) => format!("deletes `{real}`: {} bytes", metadata.len()),
    };
    Ok(with_real_path(path, &target, &whole))
}

/// Finds a file or a symbolic link that may be changed.
fn changeable(root: &Root, given: &str) -> Result<(Place, Metadata), Fault> {
    root.rules.check_changes()?;
    let place = entry(locate(root, given, Links::Keep, Missing::Fail)?)?;
    root.rules.check_change(&place.path, false)?;
    let metadata = place.folder.symlink_metadata(&place.name).map_err(Fault::io("find", &place.path))?;
    if !metadata.is_symlink() {
        check_is_file(&place, &metadata)?;
    }
    Ok((place, metadata))
}

/// Renames an entry, unless an entry with the new name exists; atomically if the system supports it.
fn rename_new(old: &Place, new: &Place) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};

        match renameat_with(&old.folder, &old.name, &new.folder, &new.name, RenameFlags::NOREPLACE) {
            // The file system does not support it.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => {}
            result => return Ok(result?),
        }
    }
    if new.folder.symlink_metadata(&new.name).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // Fails if the name exists by now.
    old.folder.hard_link(&old.name, &new.folder, &new.name)?;
    old.folder.remove_file(&old.name)
}
