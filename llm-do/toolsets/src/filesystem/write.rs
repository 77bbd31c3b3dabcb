//! `write_file`: creates or replaces a file.

use std::borrow::Cow;
use std::io;

use cap_std::fs::Metadata;

use super::diff;
use super::fault::{Fault, shown};
use super::line_ends;
use super::locate::{Links, Missing, Place, locate};
use super::open::{self, check_is_file};
use super::path::check_new_name;
use super::previewed::with_real_path;
use super::replace::{lock, replace};
use super::root::Root;
use super::text;

/// Writes `content` to the file, and returns a description. The hidden parts of a replaced file are preserved.
pub(super) fn write(root: &Root, path: &str, content: &str) -> Result<String, Fault> {
    let _changes = lock();
    root.rules.check_changes()?;
    check_size(root, path, content)?;
    let (target, found) = locate(root, path, Links::Follow, Missing::Check)?.into_target()?;
    root.check_unchanged(&("write", path, content), &[&target], found.as_ref())?;
    let place = found.map_or_else(|| open::create(root, path, Links::Follow, &target), Ok)?;
    let replaced = existing(root, &place)?;
    let old = replaced.as_ref().and_then(|_| old_text(root, &place));
    let written = new_text(old.as_deref(), content);
    check_size(root, path, &written)?;
    replace(&place, written.as_bytes(), replaced.as_ref())?;
    let verb = if replaced.is_some() { "replaced" } else { "created" };
    let done = format!("{verb} `{}`: {}", shown(&place.path), text::size(&written));
    Ok(match line_ends::kept_in(content, &written).join(", ") {
        kept if kept.is_empty() => done,
        kept => format!("{done}; kept from the old file: {kept}"),
    })
}

/// Returns the text of a file, if it is a text file.
fn old_text(root: &Root, place: &Place) -> Option<String> {
    open::read(place, root.max_bytes, "").and_then(|old| text::decode(old.bytes, &place.path)).ok()
}

/// Returns the content to write in place of the old text, if any.
fn new_text<'c>(old: Option<&str>, content: &'c str) -> Cow<'c, str> {
    old.map_or(Cow::Borrowed(content), |old| line_ends::kept(old, content))
}

/// Shows the change that [`write`] would make.
pub(super) fn preview(root: &Root, path: &str, content: &str) -> Result<String, Fault> {
    root.rules.check_changes()?;
    check_size(root, path, content)?;
    let (target, place) = locate(root, path, Links::Follow, Missing::Check)?.into_target()?;
    // A missing folder is created.
    let replaced = place.as_ref().map_or(Ok(None), |place| existing(root, place))?;
    root.remember(&("write", path, content), &[&target], place.as_ref());
    let difference = match (&place, replaced) {
        (Some(place), Some(replaced)) => difference(root, place, &replaced, content)?,
        _ => diff::created(&shown(&target.path), content),
    };
    Ok(with_real_path(path, &target, &difference))
}

/// Shows the change of a replaced file.
fn difference(root: &Root, place: &Place, replaced: &Metadata, content: &str) -> Result<String, Fault> {
    let shown = shown(&place.path);
    let Some(old) = old_text(root, place) else {
        let created = diff::created(&shown, content);
        return Ok(format!("replaces all {} bytes of `{shown}`, with:\n{created}", replaced.len()));
    };
    let new = new_text(Some(&old), content);
    check_size(root, &shown, &new)?;
    Ok(diff::changed_text(&shown, &old, &new))
}

fn check_size(root: &Root, path: &str, content: &str) -> Result<(), Fault> {
    let (bytes, max) = (content.len() as u64, root.max_bytes);
    if bytes > max { Err(Fault::TooLarge { path: shown(path.as_ref()), bytes, max, hint: "" }) } else { Ok(()) }
}

/// Returns the existing file, which must be replaceable, or `None`.
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

/// Checks that a file is not marked as read-only, which a rename would ignore.
pub(super) fn check_writable(place: &Place, metadata: &Metadata) -> Result<(), Fault> {
    if metadata.permissions().readonly() { Err(Fault::ReadOnlyFile(shown(&place.path))) } else { Ok(()) }
}
