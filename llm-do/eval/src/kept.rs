//! Reports in a folder, for comparison with later ones.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use llm_do_core::base::open_file::{create_private, read_only};
use serde_json::json;

use super::report::Report;

/// The form of the time in a file name.
const STAMP: &str = "2026-01-02T03-04-05.000000Z";

/// A folder with the reports of a dataset: `NAME-TIME.json`; the latest is the last by name.
#[derive(Clone, Debug)]
pub struct Kept {
    folder: PathBuf,
}

/// The reason that a report cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[error("the kept report `{}` cannot be used", .path.display())]
#[non_exhaustive]
pub struct KeptError {
    /// The path of the file or the folder.
    pub path: PathBuf,
    source: io::Error,
}

impl Kept {
    /// Returns the reports in a folder, which is created with the first report.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the latest report of a dataset, if any.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder or the file cannot be read, or the file is not a report.
    pub fn latest(&self, dataset: Option<&str>) -> Result<Option<Report>, KeptError> {
        let Some(path) = self.files(dataset)?.pop() else { return Ok(None) };
        let parse = |text: String| serde_json::from_str(&text).map_err(io::Error::other);
        let text = read_only(&path).and_then(io::read_to_string);
        text.and_then(parse).map(Some).map_err(|source| KeptError { path, source })
    }

    /// Writes a report with this time, and returns its file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file exists or cannot be written.
    pub fn keep(&self, report: &Report, time: Timestamp) -> Result<PathBuf, KeptError> {
        let stamp = time.strftime("%Y-%m-%dT%H-%M-%S%.6fZ");
        let path = self.folder.join(format!("{}{stamp}.json", prefix(report.dataset.as_deref())));
        self.write(&path, report).map_err(|source| KeptError { path: path.clone(), source })?;
        Ok(path)
    }

    fn write(&self, path: &Path, report: &Report) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        if path.exists() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // The file appears atomically.
        let partial = path.with_extension("json.partial");
        let mut file = create_private(&partial)?;
        file.write_all(json!(report).to_string().as_bytes())?;
        file.sync_all()?;
        fs::rename(&partial, path)
    }

    /// Returns the files of a dataset, the latest last.
    fn files(&self, dataset: Option<&str>) -> Result<Vec<PathBuf>, KeptError> {
        let fault = |source| KeptError { path: self.folder.clone(), source };
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(fault(error)),
        };
        let (mut files, prefix) = (Vec::new(), prefix(dataset));
        for entry in entries {
            let path = entry.map_err(fault)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let stamp = name.strip_prefix(&prefix).and_then(|rest| rest.strip_suffix(".json"));
            // The name of another dataset may begin with this name.
            if stamp.is_some_and(|stamp| stamp.len() == STAMP.len() && stamp.ends_with('Z')) {
                files.push(path);
            }
        }
        files.sort();
        Ok(files)
    }
}

/// Returns the beginning of a file name.
fn prefix(dataset: Option<&str>) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    format!(
        "{}-",
        dataset.unwrap_or("dataset").chars().take(100).map(letter).collect::<String>().trim_start_matches('.')
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::remove_file;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use llm_do_core::base::open_file::not_a_file;

    use super::{Kept, STAMP};

    #[test]
    fn a_report_is_read_from_no_device_and_no_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("capitals-{STAMP}.json"));
        let fault = || Kept::in_folder(folder.path()).latest(Some("capitals")).unwrap_err().source.to_string();
        symlink("/dev/zero", &path).unwrap();
        assert_eq!(fault(), not_a_file().to_string());
        remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert_eq!(fault(), not_a_file().to_string());
    }
}
