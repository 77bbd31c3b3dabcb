//! Writes the files of workers created at run time: each is written completely and durably, or not at all.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use crate::base::open_file::folder_or_current;

/// The outcome of writing a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteOutcome {
    /// The file was written and synced.
    New,
    /// A file with the same text exists and is synced.
    Equal,
    /// A file with the same name and a different text exists; it was not changed.
    Other,
}

/// Writes a new file; creates its folder if it is missing.
///
/// The text is written to a temporary file in the same folder, synced, and renamed. A process that dies leaves the complete
/// file, or a temporary one that is not read as a worker file. If several processes write the same name, one succeeds.
pub(super) fn create(path: &Path, text: &str) -> io::Result<WriteOutcome> {
    let folder = path.parent().unwrap_or(Path::new(""));
    create_folder(folder)?;
    let mut file = temporary_file().tempfile_in(folder_or_current(folder))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => sync_folder(folder).map(|()| WriteOutcome::New).inspect_err(|_| drop(fs::remove_file(path))),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => compare_existing(path, text),
        Err(error) => Err(error.error),
    }
}

/// Replaces a file with the text `expected`, or writes a missing file; a file that already has the new text counts as
/// replaced.
///
/// As with [`create`], a process that dies leaves the earlier file or the new one, each complete.
pub(super) fn replace(path: &Path, expected: &str, text: &str) -> io::Result<WriteOutcome> {
    let existing = match fs::read(path) {
        Ok(existing) => existing,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return create(path, text),
        Err(error) => return Err(error),
    };
    if existing == text.as_bytes() || existing != expected.as_bytes() {
        return compare_existing(path, text);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut file = temporary_file().tempfile_in(folder_or_current(folder))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    sync_folder(folder).map(|()| WriteOutcome::New)
}

/// Compares an existing file; syncs its folder, since the process that wrote it may have died before.
fn compare_existing(path: &Path, text: &str) -> io::Result<WriteOutcome> {
    // A file that cannot be read counts as a different one.
    if fs::read(path).is_ok_and(|existing| existing == text.as_bytes()) {
        sync_folder(path.parent().unwrap_or(Path::new("")))?;
        return Ok(WriteOutcome::Equal);
    }
    Ok(WriteOutcome::Other)
}

/// Returns a builder of temporary files, named unlike worker files, with the permissions of other new files.
fn temporary_file() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".worker-").suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Creates a folder and its missing parents, and syncs them, so that they exist after a crash.
fn create_folder(folder: &Path) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<_> = folder.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(folder_or_current(folder))?;
    missing.into_iter().filter_map(Path::parent).try_for_each(sync_folder)
}

/// Syncs the file names in a folder.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder_or_current(folder))?.sync_all()
}

/// Does nothing: folders cannot be synced on this platform.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
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
    fn a_file_is_complete_and_no_temporary_file_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/a.worker");
        assert_eq!(create(&path, "a").unwrap(), WriteOutcome::New);
        assert_eq!(create(&path, "a").unwrap(), WriteOutcome::Equal);
        assert_eq!(create(&path, "b").unwrap(), WriteOutcome::Other);
        assert_eq!(fs::read_to_string(&path).unwrap(), "a");
        assert_eq!(names(path.parent().unwrap()), ["a.worker"]);
    }

    #[test]
    fn only_an_expected_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.worker");
        assert_eq!(replace(&path, "a", "b").unwrap(), WriteOutcome::New);
        assert_eq!(replace(&path, "a", "b").unwrap(), WriteOutcome::Equal);
        assert_eq!(replace(&path, "a", "c").unwrap(), WriteOutcome::Other);
        assert_eq!(replace(&path, "b", "c").unwrap(), WriteOutcome::New);
        assert_eq!(fs::read_to_string(&path).unwrap(), "c");
        assert_eq!(names(folder.path()), ["a.worker"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_the_permissions_of_other_new_files() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.worker"), folder.path().join("other"));
        create(&path, "a").unwrap();
        fs::write(&other, "").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(path), mode(other));
    }

    #[test]
    fn of_concurrent_writers_of_one_name_one_succeeds_and_all_read_its_complete_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, start) = (folder.path().join("made/a.worker"), Barrier::new(8));
        let text = |n: usize| format!("{n}").repeat(10_000);
        let write = |n: usize| {
            start.wait();
            let outcome = create(&path, &text(n)).unwrap();
            (outcome, fs::read_to_string(&path).unwrap())
        };
        let write = &write;
        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8).map(|n| scope.spawn(move || write(n))).collect();
            writers.into_iter().map(|writer| writer.join().unwrap()).collect()
        });
        let winner = outcomes.iter().position(|(outcome, _)| *outcome == WriteOutcome::New).unwrap();
        assert!(outcomes.iter().all(|(_, read)| *read == text(winner)));
        assert_eq!(outcomes.iter().filter(|(outcome, _)| *outcome == WriteOutcome::New).count(), 1);
        assert_eq!(names(path.parent().unwrap()), ["a.worker"]);
    }
}
