//! `write_file`: creates or replaces a file.

use std::io;

use cap_std::fs::Metadata;

use super::diff;
use super::fault::{Fault, shown};
use super::locate::{Links, Missing, Place, locate};
use super::open::{self, check_is_file};
use super::path::check_new_name;
use super::previewed::with_real_path;
use super::replace::{lock, replace};
use super::root::Root;
use super::text;

/// Writes `content` to the file, and returns what happened.
pub(super) fn write(root: &Root, path: &str, content: &str) -> Result<String, Fault> {
    let _changes = lock();
    root.rules.check_changes()?;
    check_size(root, path, content)?;
    let (target, found) = locate(root, path, Links::Follow, Missing::Check)?.into_target()?;
    root.check_unchanged(&("write", path, content), &[&target], found.as_ref())?;
    let place = found.map_or_else(|| open::create(root, path, Links::Follow, &target), Ok)?;
    let replaced = existing(root, &place)?;
    replace(&place, content.as_bytes(), replaced.as_ref())?;
    let verb = if replaced.is_some() { "replaced" } else { "created" };
    Ok(format!("{verb} `{}`: {}", shown(&place.path), text::size(content)))
}

/// Shows what [`write`] would change.
pub(super) fn preview(root: &Root, path: &str, content: &str) -> Result<String, Fault> {
    root.rules.check_changes()?;
    check_size(root, path, content)?;
    let (target, place) = locate(root, path, Links::Follow, Missing::Check)?.into_target()?;
    // A missing folder is created.
    let replaced = place.as_ref().map_or(Ok(None), |place| existing(root, place))?;
    root.remember(&("write", path, content), &[&target], place.as_ref());
    let difference = match (&place, replaced) {
        (Some(place), Some(replaced)) => difference(root, place, &replaced, content),
        _ => diff::created(&shown(&target.path), content),
    };
    Ok(with_real_path(path, &target, &difference))
}

/// Shows how a file changes that is replaced.
fn difference(root: &Root, place: &Place, replaced: &Metadata, content: &str) -> String {
    let shown = shown(&place.path);
    let old = open::read(place, root.max_bytes, "").and_then(|old| text::decode(old.bytes, &place.path));
    match old {
        Ok(old) => diff::changed(&shown, &old, content),
        Err(_) => {
            format!("replaces all {} bytes of `{shown}`, with:\n{}", replaced.len(), diff::created(&shown, content))
        }
    }
}

fn check_size(root: &Root, path: &str, content: &str) -> Result<(), Fault> {
    let (bytes, max) = (content.len() as u64, root.max_bytes);
    if bytes > max { Err(Fault::TooLarge { path: shown(path.as_ref()), bytes, max, hint: "" }) } else { Ok(()) }
}

/// Returns the file that is there, which may be replaced, or `None`.
fn existing(root: &Root, place: &Place) -> Result<Option<Metadata>, Fault> {
    root.rules.check_change(&place.path, false)?;
    match place.folder.symlink_metadata(&place.name) {
        Ok(metadata) => {
            check_is_file(place, &metadata)?;
            check_writable(place, &metadata)?;
            Ok(Some(metadata))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            check_new_name(&place.name)?;
            Ok(None)
        }
        Err(error) => Err(Fault::io("write", &place.path)(error)),
    }
}

/// Checks that a file is not marked as read-only: a rename would replace it all the same.
pub(super) fn check_writable(place: &Place, metadata: &Metadata) -> Result<(), Fault> {
    if metadata.permissions().readonly() { Err(Fault::ReadOnlyFile(shown(&place.path))) } else { Ok(()) }
}
