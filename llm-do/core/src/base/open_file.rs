//! Opens files without blocking on pipes, and creates files that only their owner can read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// The name of paths that are neither a file nor a folder, for error messages.
pub(crate) const NOT_A_FILE: &str = "a pipe, a socket or a device";
/// Folders of devices, and of the open files of a process.
const STREAMS: [&str; 4] = ["/dev", "/dev/fd", "/dev/pts", "/proc/self/fd"];

/// Makes `open` return immediately instead of blocking until the other end of a pipe is opened.
///
/// Check the type of the opened file before you read it; checking the path first would leave time to replace it.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, nonblocking());
    options
}

/// The flag that [`without_waiting`] sets, for other kinds of options.
#[cfg(unix)]
#[must_use]
pub fn nonblocking() -> i32 {
    libc::O_NONBLOCK
}

/// Opens a file or folder for reading; returns an error for a pipe, a socket or a device, without blocking.
pub fn read_only(path: &Path) -> io::Result<File> {
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_dir() { Ok(file) } else { Err(not_a_file()) }
}

/// Returns the error for a pipe, a socket or a device in place of a file.
#[must_use]
pub fn not_a_file() -> io::Error {
    io::Error::other(format!("not a file: {NOT_A_FILE}"))
}

/// Returns the folder of a path: the current one if the path is empty, such as the parent of a file name.
#[must_use]
pub fn folder_or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

/// Opens a file for writing and truncates it, or creates it. On Unix, only its owner can read it.
///
/// A device is opened directly. Opening a pipe blocks until a program reads it.
pub fn create_private(path: &Path) -> io::Result<File> {
    emptied(private().open(path)?)
}

/// Like `create_private`, for a file in a folder that may belong to a project: a link is an error.
pub fn create_private_unlinked(path: &Path) -> io::Result<File> {
    emptied(open_unlinked(&mut private(), path)?)
}

fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Truncates a file, and removes the permissions of other users.
fn emptied(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        make_private(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// Opens a file, unless it is a link, which a project may contain. A stream, such as `/dev/stdout`, is opened directly.
pub fn open_unlinked(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    if !is_stream(path) {
        refuse_link(path)?;
        // The file may be replaced with a link after the check.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NOFOLLOW);
    }
    options.open(path)
}

/// Returns an error if a path is a link.
pub fn refuse_link(path: &Path) -> io::Result<()> {
    if path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) { Err(link_fault(path)) } else { Ok(()) }
}

/// Returns the error for a path that is a link.
#[must_use]
pub fn link_fault(path: &Path) -> io::Error {
    let target = std::fs::read_link(path).unwrap_or_default();
    io::Error::other(format!("it is a link to {}, which is not followed; name the file itself", target.display()))
}

/// Returns whether a path is a device or an open file of this process, such as `/dev/stdout`, by its folder: projects
/// cannot contain these.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    path.parent().is_some_and(|folder| STREAMS.iter().any(|known| folder == Path::new(known)))
}

/// Removes the permissions of the group and of other users from an open file.
#[cfg(unix)]
pub fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mode = file.metadata()?.permissions().mode();
    let private = mode & 0o700;
    if mode & 0o777 == private {
        return Ok(());
    }
    file.set_permissions(PermissionsExt::from_mode(private)).map_err(|error| {
        let text = format!(
            "other users can read this file, and its permissions cannot be changed ({error}); choose another file"
        );
        io::Error::new(error.kind(), text)
    })
}

/// On other systems, the folder decides who can read a file.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "same signature as on Unix")]
pub(crate) fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::{Permissions, metadata, read, set_permissions, write};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::{NOT_A_FILE, create_private, read_only};

    fn mode(path: &Path) -> u32 {
        metadata(path).expect("the file exists").permissions().mode() & 0o777
    }

    #[test]
    fn a_created_or_truncated_file_is_readable_by_its_owner_only() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old) = (folder.path().join("new"), folder.path().join("old"));
        create_private(&new).unwrap();
        assert_eq!(mode(&new), 0o600);

        write(&old, "before").unwrap();
        set_permissions(&old, Permissions::from_mode(0o644)).unwrap();
        create_private(&old).unwrap();
        assert_eq!((mode(&old), read(&old).unwrap().len()), (0o600, 0));
    }

    #[test]
    fn the_permissions_of_a_device_are_unchanged() {
        create_private(Path::new("/dev/null")).unwrap();
        assert_eq!(mode(Path::new("/dev/null")), 0o666);
    }

    #[test]
    fn a_pipe_is_rejected_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read_only(&pipe).unwrap_err().to_string(), format!("not a file: {NOT_A_FILE}"));
    }
}
