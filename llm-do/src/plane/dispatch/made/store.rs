//! The files of made workers: each appears whole and for good, or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// What became of a file that was to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stored {
    /// It is written, and on the disk.
    New,
    /// There is a file that says the same, and it is on the disk.
    Equal,
    /// There is another file of its name, which stays as it is.
    Other,
}

/// Writes a file that is not there yet; its folder is made if it is missing.
///
/// The text is written to a temporary file beside it, synced, and then given the name. So a process that dies leaves the whole
/// file, or a temporary one, which no reader takes for a worker. Of several processes that write one name, one succeeds.
pub(super) fn create(path: &Path, text: &str) -> io::Result<Stored> {
    let folder = path.parent().unwrap_or(Path::new(""));
    create_folder(folder)?;
    let mut file = temporary().tempfile_in(folder_or_current(folder))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => sync_folder(folder).map(|()| Stored::New).inspect_err(|_| drop(fs::remove_file(path))),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => found(path, text),
        Err(error) => Err(error.error),
    }
}

/// Compares a file that is there already; the process that wrote it may have died before its folder was synced.
fn found(path: &Path, text: &str) -> io::Result<Stored> {
    // What cannot be read is another's.
    if fs::read(path).is_ok_and(|there| there == text.as_bytes()) {
        sync_folder(path.parent().unwrap_or(Path::new("")))?;
        return Ok(Stored::Equal);
    }
    Ok(Stored::Other)
}

/// Returns the maker of temporary files: of a name that no worker file has, and readable as other new files are.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".worker-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Makes a folder and those above it, so that they are found after a crash.
fn create_folder(folder: &Path) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<_> = folder.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(folder_or_current(folder))?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// Brings the names of a folder's files to the disk.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder_or_current(folder))?.sync_all()
}

/// Elsewhere, folders cannot be synced.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "as on Unix")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

fn folder_or_current(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_file_is_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/a.worker");
        assert_eq!(create(&path, "a").unwrap(), Stored::New);
        assert_eq!(create(&path, "a").unwrap(), Stored::Equal);
        assert_eq!(create(&path, "b").unwrap(), Stored::Other);
        assert_eq!(fs::read_to_string(&path).unwrap(), "a");
        assert_eq!(names(path.parent().unwrap()), ["a.worker"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_may_be_read_by_whom_other_new_files_may() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.worker"), folder.path().join("other"));
        create(&path, "a").unwrap();
        fs::write(&other, "").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(path), mode(other));
    }

    #[test]
    fn of_many_that_write_one_name_one_succeeds_and_the_others_see_its_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, start) = (folder.path().join("made/a.worker"), Barrier::new(8));
        let text = |n: usize| format!("{n}").repeat(10_000);
        let write = |n: usize| {
            start.wait();
            let stored = create(&path, &text(n)).unwrap();
            (stored, fs::read_to_string(&path).unwrap())
        };
        let write = &write;
        let ended: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8).map(|n| scope.spawn(move || write(n))).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let winner = ended.iter().position(|(stored, _)| *stored == Stored::New).unwrap();
        assert!(ended.iter().all(|(_, read)| *read == text(winner)));
        assert_eq!(ended.iter().filter(|(stored, _)| *stored == Stored::New).count(), 1);
        assert_eq!(names(path.parent().unwrap()), ["a.worker"]);
    }
}
