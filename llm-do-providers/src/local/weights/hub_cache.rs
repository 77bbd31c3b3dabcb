//! The cache directory of the hub, shared with the hub's own tools.
//!
//! Its layout is documented at <https://huggingface.co/docs/hub/local-cache>.

#[cfg(feature = "local-download")]
mod lock;
#[cfg(feature = "local-download")]
mod publish;

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(feature = "local-download")]
use super::checksum::Checksum;
use super::hub_file::HubFile;

/// The number of hexadecimal digits of a commit.
const COMMIT_LENGTH: usize = 40;

/// The cache directory of the hub.
#[derive(Clone, Debug)]
pub(super) struct HubCache {
    root: PathBuf,
}

impl HubCache {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path of `file`, if it is cached.
    pub(super) fn find(&self, file: &HubFile) -> Option<PathBuf> {
        let commit = if is_commit(&file.revision) { file.revision.clone() } else { self.commit(file)? };
        Some(self.snapshot(file, &commit)).filter(|path| path.is_file())
    }

    /// Returns the commit of the file's branch or tag at the time of the download.
    fn commit(&self, file: &HubFile) -> Option<String> {
        let text = fs::read_to_string(self.reference(file)).ok()?;
        Some(text.trim().to_owned()).filter(|commit| is_commit(commit))
    }

    /// Returns the path of the file that holds the commit of the branch or tag.
    fn reference(&self, file: &HubFile) -> PathBuf {
        self.folder(file).join("refs").join(&file.revision)
    }

    /// Returns the path of `file` at `commit`.
    fn snapshot(&self, file: &HubFile, commit: &str) -> PathBuf {
        let mut path = self.folder(file).join("snapshots").join(commit);
        path.extend(&file.path);
        path
    }

    /// Returns the path of the content with that checksum.
    #[cfg(feature = "local-download")]
    pub(super) fn blob(&self, file: &HubFile, checksum: &Checksum) -> PathBuf {
        self.folder(file).join("blobs").join(checksum.as_str())
    }

    /// Returns the path of the partial content. No other tool writes to it: some leave holes.
    #[cfg(feature = "local-download")]
    pub(super) fn part(&self, file: &HubFile, checksum: &Checksum) -> PathBuf {
        self.folder(file).join("blobs").join(format!("{checksum}.llm-do.incomplete"))
    }

    fn folder(&self, file: &HubFile) -> PathBuf {
        self.root.join(folder_name(file))
    }
}

fn folder_name(file: &HubFile) -> String {
    format!("models--{}--{}", file.owner, file.repo)
}

/// Returns whether a revision is a commit, which never changes.
pub(super) fn is_commit(revision: &str) -> bool {
    revision.len() == COMMIT_LENGTH && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}
