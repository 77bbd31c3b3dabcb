//! Opening files that others may replace, and files that only their owner may read.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// What a path is called where it is no file and no folder.
pub(crate) const NOT_A_FILE: &str = "a pipe, a socket or a device";

/// Makes opening return at once where it would wait for the other end of a pipe.
///
/// What was opened has to be checked before it is read: by then it can no longer be replaced.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, nonblocking());
    options
}

/// The flag of [`without_waiting`], for other kinds of options.
#[cfg(unix)]
pub(crate) fn nonblocking() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}

/// Opens a file to read it, and refuses a pipe, a socket or a device without waiting for it.
pub(crate) fn read_only(path: &Path) -> io::Result<File> {
    let file = without_waiting(OpenOptions::new().read(true)).open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_file() || kind.is_dir() { Ok(file) } else { Err(io::Error::other(format!("it is {NOT_A_FILE}"))) }
}

/// Opens an empty file to write it: a new one, or one that is emptied. Only its owner may read it, on Unix.
///
/// A device is opened as it is, and a pipe once somebody reads it.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        make_private(&file)?;
        file.set_len(0)?;
    }
    Ok(file)
}

/// Takes the permissions on an open file from everybody but its owner.
#[cfg(unix)]
pub(crate) fn make_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mode = file.metadata()?.permissions().mode();
    let private = mode & 0o700;
    if mode & 0o777 == private {
        return Ok(());
    }
    file.set_permissions(PermissionsExt::from_mode(private)).map_err(|error| {
        let text = format!("others may read it, and that cannot be changed ({error}): choose another file");
        io::Error::new(error.kind(), text)
    })
}

/// Elsewhere, a file is as private as its folder.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
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
        metadata(path).expect("it is there").permissions().mode() & 0o777
    }

    #[test]
    fn a_file_that_is_written_is_its_owners_alone_even_if_it_was_not() {
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
    fn a_device_is_written_as_it_is() {
        create_private(Path::new("/dev/null")).unwrap();
        assert_eq!(mode(Path::new("/dev/null")), 0o666);
    }

    #[test]
    fn a_pipe_is_refused_without_waiting_for_a_writer() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read_only(&pipe).unwrap_err().to_string(), format!("it is {NOT_A_FILE}"));
    }
}
