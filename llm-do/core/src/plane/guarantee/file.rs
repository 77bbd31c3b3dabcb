//! Evidence in a file, which processes share.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::state::add;
use super::{EvidenceStore, HybridState, Note, NoteKind, Subject, Turned};
use crate::base::error::BoxError;
use crate::base::open_file::{create_private_unlinked, folder_or_current, read_only, refuse_link};

/// The maximum size of a file, in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// A file with evidence. A process locks a file beside it for the time of a change, and replaces the file as a whole.
#[derive(Debug)]
pub(crate) struct FileEvidence {
    path: PathBuf,
}

/// The content of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Content {
    /// The version of the format.
    llm_do_evidence: u32,
    hybrids: BTreeMap<String, HybridState>,
}

impl Default for Content {
    fn default() -> Self {
        Self { llm_do_evidence: 1, hybrids: BTreeMap::new() }
    }
}

impl FileEvidence {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Reads the states; an absent file has none.
    pub(crate) fn read(&self) -> io::Result<BTreeMap<String, HybridState>> {
        Ok(self.content().map_err(|error| named(&self.path, &error))?.hybrids)
    }

    fn content(&self) -> io::Result<Content> {
        refuse_link(&self.path)?;
        let file = match read_only(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Content::default()),
            Err(error) => return Err(error),
        };
        let mut text = String::new();
        file.take(MAX_SIZE).read_to_string(&mut text)?;
        let content: Content = serde_json::from_str(&text).map_err(io::Error::other)?;
        match content.llm_do_evidence {
            1 => Ok(content),
            version => Err(io::Error::other(format!(
                "it has the later version {version}; use the version of llm-do that wrote it"
            ))),
        }
    }

    fn change(&self, subject: &Subject, note: Note) -> io::Result<Option<Turned>> {
        let is_comparison = matches!(note.kind, NoteKind::ByWorker { disagrees: Some(_), .. });
        create_folder(folder_or_current(self.path.parent().unwrap_or(Path::new(""))))?;
        let lock = create_private_unlinked(&beside(&self.path, "lock"))?;
        lock.lock()?;
        let mut content = self.content()?;
        let turned = add(&mut content.hybrids, subject, note);
        let new = beside(&self.path, "new");
        let mut file = create_private_unlinked(&new)?;
        file.write_all(serde_json::to_string(&content)?.as_bytes())?;
        // What is lost with the power is a count otherwise.
        if is_comparison {
            file.sync_data()?;
        }
        fs::rename(&new, &self.path)?;
        File::unlock(&lock)?;
        Ok(turned)
    }
}

/// Creates a folder that only its owner can read; an existing folder is unchanged.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Returns the path with an ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.file_name().unwrap_or(OsStr::new("evidence")).to_owned();
    name.push(".");
    name.push(ending);
    path.with_file_name(name)
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("cannot use the evidence in {}: {error}", path.display()))
}

#[async_trait]
impl EvidenceStore for FileEvidence {
    async fn load(&self, key: &str) -> Result<Option<HybridState>, BoxError> {
        Ok(self.read()?.remove(key))
    }

    async fn note(&self, subject: &Subject, note: Note) -> Result<Option<Turned>, BoxError> {
        Ok(self.change(subject, note).map_err(|error| named(&self.path, &error))?)
    }

    async fn all(&self) -> Result<Vec<HybridState>, BoxError> {
        Ok(self.read()?.into_values().collect())
    }
}
