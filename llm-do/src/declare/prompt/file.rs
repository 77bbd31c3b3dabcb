//! Files from disk: below the project's root, of a bounded size, their media type told by content and name.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};
use llm_do_providers::Attachment;
use tokio_util::task::AbortOnDropHandle;

use crate::base::open_file::NOT_A_FILE;

/// The largest file that is read: the smallest limit of the big providers on one file is 20 MB.
const MAX_BYTES: u64 = 20 << 20;

/// Reads a file below `root`; no path and no symbolic link leads out of it.
pub(crate) async fn read(root: PathBuf, path: PathBuf) -> Result<Attachment, String> {
    let shown = path.display().to_string();
    let reading = AbortOnDropHandle::new(tokio::task::spawn_blocking(move || read_below(&root, &path)));
    reading.await.unwrap_or_else(|fault| Err(format!("the attachment `{shown}` was not read: {fault}")))
}

fn read_below(root: &Path, path: &Path) -> Result<Attachment, String> {
    let dir = Dir::open_ambient_dir(root, ambient_authority())
        .map_err(|error| format!("the project's root `{}` cannot be read: {error}", root.display()))?;
    let fault = |error: io::Error| match error.raw_os_error() {
        // It is no error of the system: the path, or a link in it, leads out.
        None if error.kind() == io::ErrorKind::PermissionDenied => outside(path, root),
        _ => fault(path, &root.join(path), &error),
    };
    let inside = below(root, path);
    let inside = inside.as_deref().unwrap_or(path);
    // Before it is opened, since opening a device may do something.
    refuse_other_than_files(path, &dir.metadata(inside).map_err(fault)?)?;
    open_below(&dir, inside, path).map_err(fault)?
}

/// Reads what is at a path by now: another process may have put something else there since its kind was checked.
fn open_below(dir: &Dir, inside: &Path, path: &Path) -> io::Result<Result<Attachment, String>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::custom_flags(&mut options, crate::base::open_file::nonblocking());
    let file = dir.open_with(inside, &options)?;
    let metadata = file.metadata()?;
    Ok(refuse_other_than_files(path, &metadata).and_then(|()| attachment(path, metadata.is_dir(), file)))
}

fn refuse_other_than_files(path: &Path, metadata: &Metadata) -> Result<(), String> {
    if metadata.is_file() || metadata.is_dir() {
        return Ok(());
    }
    Err(format!("the attachment `{}` is {NOT_A_FILE}: attach a file", path.display()))
}

/// Returns a path as it is below the root, if it begins with the root: as that was given, or as it is on the disk.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let of = |root: &Path| path.strip_prefix(root).map(Path::to_owned).ok();
    let on_disk = || of(&root.canonicalize().ok()?);
    of(root).or_else(|| path.is_absolute().then(on_disk).flatten())
}

/// Reads a file wherever it is: one that the user named, which may be a pipe that is waited for.
#[cfg(feature = "cli")]
pub(crate) fn read_anywhere(path: &Path) -> Result<Attachment, String> {
    let fault = |error: io::Error| fault(path, path, &error);
    let file = std::fs::File::open(path).map_err(fault)?;
    let is_dir = file.metadata().map_err(fault)?.is_dir();
    attachment(path, is_dir, file)
}

fn outside(path: &Path, root: &Path) -> String {
    let (path, root) = (path.display(), root.display());
    format!("the attachment `{path}` is not below the project's root `{root}`: attach a file that is")
}

fn fault(path: &Path, whole: &Path, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("attachment not found: {}", whole.display()),
        _ => format!("the attachment `{}` cannot be read: {error}", path.display()),
    }
}

fn attachment(path: &Path, is_dir: bool, file: impl Read) -> Result<Attachment, String> {
    let shown = path.display();
    if is_dir {
        return Err(format!("the attachment `{shown}` is a folder: attach its files"));
    }
    let mut bytes = Vec::new();
    let read = file.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| format!("the attachment `{shown}` cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("the attachment `{shown}` is larger than {} MiB: attach less", MAX_BYTES >> 20));
    }
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Ok(from_bytes(&name, bytes))
}

/// Returns a file of these bytes: its media type is what they begin with, or what the name says, or text.
fn from_bytes(name: &str, bytes: Vec<u8>) -> Attachment {
    let by_content = infer::get(&bytes).map(|kind| kind.mime_type().to_owned());
    let by_name = || mime_guess::from_path(name).first().map(|kind| kind.essence_str().to_owned());
    let otherwise = || if std::str::from_utf8(&bytes).is_ok() { "text/plain" } else { "application/octet-stream" };
    let media_type = by_content.or_else(by_name).unwrap_or_else(|| otherwise().to_owned());
    Attachment::new(media_type, bytes).named(name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::path::Path;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::open_below;

    #[test]
    fn a_pipe_that_took_the_place_of_a_file_is_refused_without_waiting_for_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        assert!(std::process::Command::new("mkfifo").arg(folder.path().join("a.txt")).status().unwrap().success());
        let dir = Dir::open_ambient_dir(folder.path(), ambient_authority()).unwrap();
        let path = Path::new("a.txt");
        let error = open_below(&dir, path, path).unwrap().unwrap_err();
        assert!(error.contains("is a pipe, a socket or a device"), "{error}");
    }
}
