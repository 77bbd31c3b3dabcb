//! Downloads a file from the hub to the cache.
//!
//! The protocol is documented at <https://huggingface.co/docs/huggingface_hub/package_reference/file_download>: `HEAD
//! /OWNER/REPO/resolve/REVISION/FILE` returns the commit (`x-repo-commit`) and, for large files, the SHA-256
//! (`x-linked-etag`) and the size (`x-linked-size`), with a redirect to the content.
//!
//! The hub's own crate, hf-hub 1.0, is not used: it does not verify checksums, restarts interrupted downloads, and
//! has a hundred further dependencies, most of them for uploads.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tokio::time::sleep;

use super::super::fault;
use super::checksum::Checksum;
use super::hub::Hub;
use super::hub_cache::is_commit;
use super::hub_error::hub_error;
use super::hub_file::HubFile;
use super::partial_file::PartialFile;
use super::progress::{FetchProgress, Size};
use crate::error::{ErrorKind, ProviderError};
use crate::http::{FileResponse, FileServer};
use crate::retry::RetryState;

/// The header with the checksum of a large file.
const CHECKSUM: &str = "x-linked-etag";

/// The error for a response without the required headers.
const MISSING_METADATA: &str = "returned no valid file metadata (`x-repo-commit`, size)";

/// The number of progress reports per file.
const PROGRESS_STEPS: u64 = 200;

/// The hub's metadata of a file.
#[derive(Debug)]
struct FileMetadata {
    commit: String,
    checksum: Checksum,
    size: u64,
}

/// The download of one file.
pub(super) struct Download<'a> {
    hub: &'a Hub,
    file: &'a HubFile,
    report: &'a dyn Fn(FetchProgress),
    server: FileServer,
}

impl<'a> Download<'a> {
    pub(super) fn new(
        hub: &'a Hub,
        file: &'a HubFile,
        report: &'a dyn Fn(FetchProgress),
    ) -> Result<Self, ProviderError> {
        let server = FileServer::new(fault::PROVIDER, &hub.endpoint, hub.token.clone(), hub.idle)?;
        Ok(Self { hub, file, report, server })
    }

    /// Downloads the file and returns its path; `pinned` must be its checksum, if given.
    ///
    /// Waits if another task or process downloads the file. The file gets its name in the cache once it is complete
    /// and verified; until then the received part is kept separately, and the next attempt resumes it.
    pub(super) async fn run(&self, pinned: Option<&Checksum>) -> Result<PathBuf, ProviderError> {
        let on = format!("requesting the metadata of `{1}` from {0}", self.server.origin(), self.file.file_name());
        (self.report)(FetchProgress::Waiting { on });
        let metadata = self.metadata_with_retries(pinned).await?;
        if let Some(pinned) = pinned.filter(|pinned| **pinned != metadata.checksum) {
            return Err(fault::configuration(format!(
                "checksum mismatch: `{}` on the hub has the SHA-256 {}, but {pinned} is pinned; correct the pinned checksum or \
                 the revision",
                self.file, metadata.checksum
            )));
        }
        // The lock is released on drop.
        let _lock = self.lock(&metadata).await?;
        let blob = self.hub.cache.blob(self.file, &metadata.checksum);
        if blob.metadata().is_ok_and(|found| found.len() == metadata.size) {
            // Cached files are trusted; only a pinned checksum is verified.
            pinned.map_or(Ok(()), |pinned| pinned.check(&blob))?;
        } else {
            self.fetch(&metadata).await?;
        }
        let published = self.hub.cache.publish(self.file, &metadata.commit, &metadata.checksum);
        published.map_err(|error| self.write_error(error, &metadata))
    }

    async fn lock(&self, metadata: &FileMetadata) -> Result<File, ProviderError> {
        let busy = || {
            let on = format!("waiting for another download of `{}`", self.file.file_name());
            (self.report)(FetchProgress::Waiting { on });
        };
        let lock = self.hub.cache.lock(self.file, &metadata.checksum, busy).await;
        lock.map_err(|error| self.write_error(error, metadata))
    }

    /// Requests the metadata, with retries after transient failures.
    async fn metadata_with_retries(&self, pinned: Option<&Checksum>) -> Result<FileMetadata, ProviderError> {
        let mut tries = RetryState::new(self.hub.retries);
        loop {
            match self.metadata(pinned).await {
                Ok(metadata) => return Ok(metadata),
                Err(error) => self.pause(&mut tries, error).await?,
            }
        }
    }

    /// Requests the metadata. A pinned checksum replaces one that the hub does not state.
    async fn metadata(&self, pinned: Option<&Checksum>) -> Result<FileMetadata, ProviderError> {
        let answer = self.server.head(&self.path(&self.file.revision), CHECKSUM).await?;
        if !matches!(answer.status(), 200..400) {
            return Err(hub_error(&answer, self.hub, self.file));
        }
        let commit = answer.header("x-repo-commit").filter(|commit| is_commit(commit));
        let checksum = answer.header(CHECKSUM).and_then(parse_etag).or_else(|| pinned.cloned());
        match (commit, checksum) {
            (Some(commit), Some(checksum)) => {
                let commit = commit.to_owned();
                Ok(FileMetadata { commit, checksum, size: self.size(answer).await? })
            }
            (Some(_), None) => {
                let text = format!(
                    "the hub reports no SHA-256 for `{}`; add `#sha256=<64 hexadecimal digits>` to the model name",
                    self.file
                );
                Err(answer.refusal(ErrorKind::InvalidRequest, text))
            }
            (None, _) => Err(self.unexpected_response(&answer, MISSING_METADATA)),
        }
    }

    /// Returns the file size from the hub's header, or else from the content length after redirects.
    async fn size(&self, answer: FileResponse) -> Result<u64, ProviderError> {
        if let Some(size) = answer.header("x-linked-size") {
            return size.parse().map_err(|_| self.unexpected_response(&answer, MISSING_METADATA));
        }
        // The content length of a redirect is that of its own body.
        let answer = self.server.follow(answer).await?;
        if answer.status() != 200 {
            return Err(hub_error(&answer, self.hub, self.file));
        }
        let size = answer.header("content-length").and_then(|size| size.parse().ok());
        size.ok_or_else(|| self.unexpected_response(&answer, MISSING_METADATA))
    }

    /// Downloads the content into the cache.
    async fn fetch(&self, metadata: &FileMetadata) -> Result<(), ProviderError> {
        let path = self.hub.cache.part(self.file, &metadata.checksum);
        let mut part = PartialFile::open(path).map_err(|error| self.write_error(error, metadata))?;
        if part.length() > metadata.size {
            part.clear().map_err(|error| self.write_error(error, metadata))?;
        }
        let is_resumed = part.length() > 0;
        let mut outcome = self.complete(&mut part, metadata).await;
        if is_resumed && outcome.is_ok() && part.checksum() != metadata.checksum {
            // Only the resumed part may be damaged.
            outcome = part.clear().map_err(|error| self.write_error(error, metadata));
            if outcome.is_ok() {
                outcome = self.complete(&mut part, metadata).await;
            }
        }
        match outcome {
            Ok(()) if part.checksum() != metadata.checksum => {
                let error = self.checksum_mismatch(metadata, &part.checksum());
                part.discard();
                Err(error)
            }
            Ok(()) => {
                let blob = self.hub.cache.blob(self.file, &metadata.checksum);
                part.finish(&blob).map_err(|error| self.write_error(error, metadata))
            }
            Err(error) => Err(keep_or_discard(error, part)),
        }
    }

    /// Downloads the rest of the file, with retries after transient failures.
    ///
    /// The retry count restarts after each further 1 % of the file beyond the previous maximum, so even a server that
    /// sends little per attempt, or loses the partial file, cannot cause endless retries.
    async fn complete(&self, part: &mut PartialFile, metadata: &FileMetadata) -> Result<(), ProviderError> {
        let mut tries = RetryState::new(self.hub.retries);
        let mut maximum = part.length();
        loop {
            let Err(error) = self.attempt(part, metadata).await else { return Ok(()) };
            if part.length() > maximum.saturating_add(metadata.size / 100) {
                maximum = part.length();
                tries = RetryState::new(self.hub.retries);
            }
            self.pause(&mut tries, error).await?;
        }
    }

    async fn attempt(&self, part: &mut PartialFile, metadata: &FileMetadata) -> Result<(), ProviderError> {
        self.report_received(part, metadata);
        if part.length() == metadata.size {
            return Ok(());
        }
        let mut answer = self.server.get(&self.path(&metadata.commit), part.length()).await?;
        match answer.status() {
            206 if part.length() > 0 && begins_at(&answer, part.length()) => {}
            // The server does not support range requests.
            200 => part.clear().map_err(|error| self.write_error(error, metadata))?,
            206 | 416 => {
                part.clear().map_err(|error| self.write_error(error, metadata))?;
                let text = format!("{} cannot resume the download; restart it", self.server.origin());
                return Err(answer.refusal(ErrorKind::Transport, text));
            }
            _ => return Err(hub_error(&answer, self.hub, self.file)),
        }
        let mut reported = part.length();
        while let Some(bytes) = answer.chunk().await? {
            if bytes.len() as u64 > metadata.size - part.length() {
                return Err(self.unexpected_response(&answer, "sent more bytes than the size of the file"));
            }
            part.add(&bytes).map_err(|error| self.write_error(error, metadata))?;
            if part.length() - reported >= metadata.size.div_ceil(PROGRESS_STEPS) || part.length() == metadata.size {
                reported = part.length();
                self.report_received(part, metadata);
            }
        }
        if part.length() < metadata.size {
            let text = format!("{} sent fewer bytes than the size of the file; try again", self.server.origin());
            return Err(answer.refusal(ErrorKind::Transport, text));
        }
        Ok(())
    }

    /// Waits before the next attempt; returns `error` if no attempt is left.
    async fn pause(&self, tries: &mut RetryState, error: ProviderError) -> Result<(), ProviderError> {
        // A timeout is retried like a lost connection: the next attempt resumes the download.
        let error = if error.is_timeout() { error.with_should_retry(true) } else { error };
        let pause = tries.after(error, fastrand::f64())?;
        (self.report)(FetchProgress::Waiting { on: pause.on });
        sleep(pause.wait).await;
        Ok(())
    }

    fn path<'p>(&'p self, revision: &'p str) -> Vec<&'p str> {
        let mut path = vec![self.file.owner.as_str(), &self.file.repo, "resolve", revision];
        path.extend(self.file.path.iter().map(String::as_str));
        path
    }

    fn report_received(&self, part: &PartialFile, metadata: &FileMetadata) {
        let file = self.file.file_name().to_owned();
        (self.report)(FetchProgress::Received { file, bytes: part.length(), total: metadata.size });
    }

    fn write_error(&self, error: io::Error, metadata: &FileMetadata) -> ProviderError {
        let (name, root) = (self.file.file_name(), self.hub.cache.root().display());
        let advice = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!("not enough disk space for `{name}` ({}) in `{root}`; free some space", Size(metadata.size))
            }
            _ => format!("cannot write `{name}` in `{root}`; check its permissions"),
        };
        fault::configuration(format!("{advice}, or set `HF_HUB_CACHE` to another directory")).with_source(error)
    }

    fn checksum_mismatch(&self, metadata: &FileMetadata, actual: &Checksum) -> ProviderError {
        fault::internal(format!(
            "checksum mismatch: {} sent `{}` with the SHA-256 {actual}, expected {}; the download was discarded; try \
             again, or check for a proxy between you and the hub",
            self.server.origin(),
            self.file,
            metadata.checksum
        ))
    }

    fn unexpected_response(&self, answer: &FileResponse, problem: &str) -> ProviderError {
        let text = format!("the hub at {} {problem}; try again, or check `HF_ENDPOINT`", self.server.origin());
        answer.refusal(ErrorKind::Protocol, text)
    }
}

/// Discards or keeps the partial file after `error`.
fn keep_or_discard(error: ProviderError, part: PartialFile) -> ProviderError {
    // On a full disk it would take space, and damaged content is useless.
    if matches!(error.kind(), ErrorKind::Configuration | ErrorKind::Protocol) || part.length() == 0 {
        part.discard();
        return error;
    }
    error.with_note(&format!("the received part ({}) is kept, and the next attempt resumes it", Size(part.length())))
}

/// Parses the checksum in the entity tag of a large file.
fn parse_etag(tag: &str) -> Option<Checksum> {
    Checksum::parse(tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"'))
}

/// Returns whether the range of a response starts at the byte `from`.
fn begins_at(answer: &FileResponse, from: u64) -> bool {
    let range = answer.header("content-range").and_then(|range| range.strip_prefix("bytes "));
    range.and_then(|range| range.split_once('-')).is_some_and(|(first, _)| first.parse() == Ok(from))
}
