//! The cache folder of the hub's files, which its own tools share.
//!
//! Its form is documented at <https://huggingface.co/docs/hub/local-cache>.

#[cfg(feature = "local-download")]
mod lock;
#[cfg(feature = "local-download")]
mod publish;

use std::fs;
use std::path::{Path, PathBuf};

#[cfg(feature = "local-download")]
use super::checksum::Checksum;
use super::hub_file::HubFile;

/// How many hexadecimal digits a commit has.
const COMMIT: usize = 40;

/// The folder that the hub's files are kept in.
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

    /// Returns where `file` is, if it is there.
    pub(super) fn find(&self, file: &HubFile) -> Option<PathBuf> {
        let commit = if is_commit(&file.revision) { file.revision.clone() } else { self.commit(file)? };
        Some(self.snapshot(file, &commit)).filter(|path| path.is_file())
    }

    /// Returns the commit that the file's branch or tag was when it was fetched.
    fn commit(&self, file: &HubFile) -> Option<String> {
        let text = fs::read_to_string(self.reference(file)).ok()?;
        Some(text.trim().to_owned()).filter(|commit| is_commit(commit))
    }

    /// Where the commit of the file's branch or tag is written.
    fn reference(&self, file: &HubFile) -> PathBuf {
        self.folder(file).join("refs").join(&file.revision)
    }

    /// Where `file` is as of `commit`.
    fn snapshot(&self, file: &HubFile, commit: &str) -> PathBuf {
        let mut path = self.folder(file).join("snapshots").join(commit);
        path.extend(&file.path);
        path
    }

    /// Where the content of that checksum is.
    #[cfg(feature = "local-download")]
    pub(super) fn blob(&self, file: &HubFile, checksum: &Checksum) -> PathBuf {
        self.folder(file).join("blobs").join(checksum.as_str())
    }

    /// Where the content of that checksum grows while it is fetched. No other tool writes to it: some leave holes.
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

/// Whether a revision is a commit, which never changes.
pub(super) fn is_commit(revision: &str) -> bool {
    revision.len() == COMMIT && revision.bytes().all(|byte| byte.is_ascii_hexdigit())
}
