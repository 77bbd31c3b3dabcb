//! Reads attachments from disk: files in the project's root folder, of limited size.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use llm_do_providers::Attachment;
use tokio_util::task::AbortOnDropHandle;

use super::policy::too_large;
use crate::base::open_file::NOT_A_FILE;

/// Reads a file in `root`, of at most `max` bytes; neither the path nor a symbolic link may lead outside.
pub(crate) async fn read(root: PathBuf, path: PathBuf, max: u64) -> Result<Attachment, String> {
    let shown = path.display().to_string();
    let reading = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || read_below(&root, &path, max)));
    reading.await.unwrap_or_else(|fault| Err(format!("reading the attachment `{shown}` failed: {fault}")))
}

fn read_below(root: &Path, path: &Path, max: u64) -> Result<Attachment, String> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())
        .map_err(|error| format!("cannot open the project's root `{}`: {error}", root.display()))?;
    let fault = |error: io::Error| match error.raw_os_error() {
        // `cap_std` returns this error if the path, or a link in it, leads outside.
        None if error.kind() == io::ErrorKind::PermissionDenied => outside(path, root),
        _ => fault(path, &root.join(path), &error),
    };
    let inside = below(root, path);
    let inside = inside.as_deref().unwrap_or(path);
    // Checked before the file is opened, since opening a device may have effects.
    check_is_file(path, &dir.metadata(inside).map_err(fault)?)?;
    open_below(&dir, inside, path, max).map_err(fault)?
}

/// Opens and reads the file. Its type is checked again, since another process may have replaced it after the first
/// check.
fn open_below(dir: &Dir, inside: &Path, path: &Path, max: u64) -> io::Result<Result<Attachment, String>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, crate::base::open_file::nonblocking());
    let file = dir.open_with(inside, &options)?;
    let metadata = file.metadata()?;
    Ok(check_is_file(path, &metadata).and_then(|()| attachment(path, metadata.is_dir(), file, max)))
}

fn check_is_file(path: &Path, metadata: &Metadata) -> Result<(), String> {
    if metadata.is_file() || metadata.is_dir() {
        return Ok(());
    }
    Err(format!("the attachment `{}` is {NOT_A_FILE}; attach a regular file", path.display()))
}

/// Returns a path relative to the root, if it starts with the root as given or with its canonical path.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let relative_to = |root: &Path| path.strip_prefix(root).map(Path::to_owned).ok();
    let canonical = || relative_to(&root.canonicalize().ok()?);
    relative_to(root).or_else(|| path.is_absolute().then(canonical).flatten())
}

/// Reads a file that the user named, anywhere on disk. It may be a pipe, which blocks on opening.
#[doc(hidden)]
pub fn read_anywhere(path: &Path) -> Result<Attachment, String> {
    let fault = |error: io::Error| fault(path, path, &error);
    let file = std::fs::File::open(path).map_err(fault)?;
    let is_dir = file.metadata().map_err(fault)?.is_dir();
    attachment(path, is_dir, file, super::USUAL_MAX_BYTES)
}

fn outside(path: &Path, root: &Path) -> String {
    let (path, root) = (path.display(), root.display());
    format!("the attachment `{path}` is not below the project's root `{root}`; attach a file in that folder")
}

fn fault(path: &Path, whole: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("attachment not found: {}", whole.display()),
        _ => format!("cannot read the attachment `{}`: {error}", path.display()),
    }
}

fn attachment(path: &Path, is_dir: bool, file: impl Read, max: u64) -> Result<Attachment, String> {
    let shown = path.display();
    if is_dir {
        return Err(format!("the attachment `{shown}` is a folder; attach its files"));
    }
    let mut bytes = Vec::new();
    let read = file.take(max.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot read the attachment `{shown}`: {error}"))?;
    if bytes.len() as u64 > max {
        return Err(too_large(&shown.to_string(), max));
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Ok(from_bytes(&name, bytes))
}

/// Returns an attachment; the media type is determined from the content, then from the name, and defaults to text for
/// UTF-8.
fn from_bytes(name: &str, bytes: Vec<u8>) -> Attachment {
    let by_content = infer::get(&bytes).map(|kind| kind.mime_type().to_owned());
    let by_name = || mime_guess::from_path(name).first().map(|kind| kind.essence_str().to_owned());
    let default = || if std::str::from_utf8(&bytes).is_ok() { "text/plain" } else { "application/octet-stream" };
    let media_type = by_content.or_else(by_name).unwrap_or_else(|| default().to_owned());
    Attachment::new(media_type, bytes).named(name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::open_below;

    #[test]
    fn a_file_that_was_replaced_by_a_pipe_is_rejected_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        assert!(std::process::Command::new("mkfifo").arg(folder.path().join("a.txt")).status().unwrap().success());
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let path = Path::new("a.txt");
        let error = open_below(&dir, path, path, 1).unwrap().unwrap_err();
        assert!(error.contains("is a pipe, a socket or a device"), "{error}");
    }
}
