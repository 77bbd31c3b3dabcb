//! From a name on the hub to a file in its cache.
//!
//! What is asked, and what the answer says, is documented at
//! <https://huggingface.co/docs/huggingface_hub/package_reference/file_download>: `HEAD` of
//! `/OWNER/REPO/resolve/REVISION/FILE` tells the commit (`x-repo-commit`), and of a large file the SHA-256
//! (`x-linked-etag`) and the size (`x-linked-size`), beside a redirect to whoever sends it.
//!
//! The hub's own crate, hf-hub 1.0, is not used for it: it downloads without a look at the checksum, begins a broken
//! download anew, and brings a hundred crates more, most of them for uploads.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use tokio::time::sleep;

use super::super::fault;
use super::checksum::Checksum;
use super::hub::Hub;
use super::hub_cache::is_commit;
use super::hub_file::HubFile;
use super::part::Part;
use super::progress::{FetchProgress, Size};
use super::refusal::refused;
use crate::error::{ErrorKind, ProviderError};
use crate::http::{Answer, FileServer};
use crate::retry::RetryState;

/// The header that has a large file's checksum.
const CHECKSUM: &str = "x-linked-etag";

/// What is said of a hub that leaves out what is needed.
const SILENT: &str = "does not say what the file is, as the hub does";

/// How many parts of a file are told of.
const TOLD: u64 = 200;

/// What the hub says of a file.
#[derive(Debug)]
struct Facts {
    commit: String,
    checksum: Checksum,
    size: u64,
}

/// A download of one file.
pub(super) struct Download<'a> {
    hub: &'a Hub,
    file: &'a HubFile,
    tell: &'a dyn Fn(FetchProgress),
    server: FileServer,
}

impl<'a> Download<'a> {
    pub(super) fn new(hub: &'a Hub, file: &'a HubFile, tell: &'a dyn Fn(FetchProgress)) -> Result<Self, ProviderError> {
        let server = FileServer::new(fault::PROVIDER, &hub.endpoint, hub.token.clone(), hub.idle)?;
        Ok(Self { hub, file, tell, server })
    }

    /// Brings the file, if `pinned` is its checksum or nothing is pinned, and returns where it is.
    ///
    /// Whoever asks for a file that is being fetched waits for it. The file is in its place once it is whole and
    /// checked; until then what came is kept apart, and the next attempt goes on from there.
    pub(super) async fn run(&self, pinned: Option<&Checksum>) -> Result<PathBuf, ProviderError> {
        let on = format!("asking {} for `{}`", self.server.origin(), self.file.file_name());
        (self.tell)(FetchProgress::Waiting { on });
        let facts = self.patient_facts(pinned).await?;
        if let Some(pinned) = pinned.filter(|pinned| **pinned != facts.checksum) {
            return Err(fault::configuration(format!(
                "the hub's `{}` has the SHA-256 {}, and {pinned} is pinned; correct what is pinned, or the revision",
                self.file, facts.checksum
            )));
        }
        // Dropping it is what ends the lock.
        let _lock = self.lock(&facts).await?;
        let blob = self.hub.cache.blob(self.file, &facts.checksum);
        if blob.metadata().is_ok_and(|metadata| metadata.len() == facts.size) {
            // All that is in the cache is taken from whoever put it there; only what is pinned is checked.
            pinned.map_or(Ok(()), |pinned| pinned.check(&blob))?;
        } else {
            self.fetch(&facts).await?;
        }
        let published = self.hub.cache.publish(self.file, &facts.commit, &facts.checksum);
        published.map_err(|error| self.unwritten(error, &facts))
    }

    async fn lock(&self, facts: &Facts) -> Result<File, ProviderError> {
        let busy = || {
            let on = format!("`{}` is being downloaded already; waiting for it", self.file.file_name());
            (self.tell)(FetchProgress::Waiting { on });
        };
        let lock = self.hub.cache.lock(self.file, &facts.checksum, busy).await;
        lock.map_err(|error| self.unwritten(error, facts))
    }

    /// Asks what the file is, again after failures that may pass.
    async fn patient_facts(&self, pinned: Option<&Checksum>) -> Result<Facts, ProviderError> {
        let mut tries = RetryState::new(self.hub.retries);
        loop {
            match self.facts(pinned).await {
                Ok(facts) => return Ok(facts),
                Err(error) => self.pause(&mut tries, error).await?,
            }
        }
    }

    /// Asks what the file is. What is pinned stands in for a checksum that the hub does not have.
    async fn facts(&self, pinned: Option<&Checksum>) -> Result<Facts, ProviderError> {
        let answer = self.server.head(&self.path(&self.file.revision), CHECKSUM).await?;
        if !matches!(answer.status(), 200..400) {
            return Err(refused(&answer, self.hub, self.file));
        }
        let commit = answer.header("x-repo-commit").filter(|commit| is_commit(commit));
        let checksum = answer.header(CHECKSUM).and_then(checksum_of).or_else(|| pinned.cloned());
        match (commit, checksum) {
            (Some(commit), Some(checksum)) => {
                let commit = commit.to_owned();
                Ok(Facts { commit, checksum, size: self.size(answer).await? })
            }
            (Some(_), None) => {
                let text =
                    format!("the hub has no SHA-256 of `{}` to check it by; add `#sha256=..` to the name", self.file);
                Err(answer.refusal(ErrorKind::InvalidRequest, text))
            }
            (None, _) => Err(self.odd(&answer, SILENT)),
        }
    }

    /// Returns the size of the file that `answer` is about: as the hub says, or else as whoever sends it does.
    async fn size(&self, answer: Answer) -> Result<u64, ProviderError> {
        if let Some(size) = answer.header("x-linked-size") {
            return size.parse().map_err(|_| self.odd(&answer, SILENT));
        }
        // A redirect has a length too, which is that of its own content.
        let answer = self.server.follow(answer).await?;
        if answer.status() != 200 {
            return Err(refused(&answer, self.hub, self.file));
        }
        let size = answer.header("content-length").and_then(|size| size.parse().ok());
        size.ok_or_else(|| self.odd(&answer, SILENT))
    }

    /// Brings the content to its place in the cache.
    async fn fetch(&self, facts: &Facts) -> Result<(), ProviderError> {
        let path = self.hub.cache.part(self.file, &facts.checksum);
        let mut part = Part::open(path).map_err(|error| self.unwritten(error, facts))?;
        if part.length() > facts.size {
            part.clear().map_err(|error| self.unwritten(error, facts))?;
        }
        let is_resumed = part.length() > 0;
        let mut outcome = self.complete(&mut part, facts).await;
        if is_resumed && outcome.is_ok() && part.checksum() != facts.checksum {
            // Perhaps it is only what an earlier attempt left behind that is wrong.
            outcome = part.clear().map_err(|error| self.unwritten(error, facts));
            if outcome.is_ok() {
                outcome = self.complete(&mut part, facts).await;
            }
        }
        match outcome {
            Ok(()) if part.checksum() != facts.checksum => {
                let error = self.wrong(facts, &part.checksum());
                part.discard();
                Err(error)
            }
            Ok(()) => {
                let place = self.hub.cache.blob(self.file, &facts.checksum);
                part.finish(&place).map_err(|error| self.unwritten(error, facts))
            }
            Err(error) => Err(left(error, part)),
        }
    }

    /// Adds to `part` what is missing, again after failures that may pass.
    ///
    /// The tries are counted anew with each further hundredth of the file, and what was lost and came again is none: so
    /// they end, whoever sends how little, and however often.
    async fn complete(&self, part: &mut Part, facts: &Facts) -> Result<(), ProviderError> {
        let mut tries = RetryState::new(self.hub.retries);
        let mut furthest = part.length();
        loop {
            let Err(error) = self.attempt(part, facts).await else { return Ok(()) };
            if part.length() > furthest.saturating_add(facts.size / 100) {
                furthest = part.length();
                tries = RetryState::new(self.hub.retries);
            }
            self.pause(&mut tries, error).await?;
        }
    }

    async fn attempt(&self, part: &mut Part, facts: &Facts) -> Result<(), ProviderError> {
        self.received(part, facts);
        if part.length() == facts.size {
            return Ok(());
        }
        let mut answer = self.server.get(&self.path(&facts.commit), part.length()).await?;
        match answer.status() {
            206 if part.length() > 0 && begins_at(&answer, part.length()) => {}
            // Not every server sends a part of a file.
            200 => part.clear().map_err(|error| self.unwritten(error, facts))?,
            206 | 416 => {
                part.clear().map_err(|error| self.unwritten(error, facts))?;
                let text = format!("{} cannot go on where the download stopped; begin anew", self.server.origin());
                return Err(answer.refusal(ErrorKind::Transport, text));
            }
            _ => return Err(refused(&answer, self.hub, self.file)),
        }
        let mut told = part.length();
        while let Some(bytes) = answer.chunk().await? {
            if bytes.len() as u64 > facts.size - part.length() {
                return Err(self.odd(&answer, "sends more than the file has"));
            }
            part.add(&bytes).map_err(|error| self.unwritten(error, facts))?;
            if part.length() - told >= facts.size.div_ceil(TOLD) || part.length() == facts.size {
                told = part.length();
                self.received(part, facts);
            }
        }
        if part.length() < facts.size {
            let text = format!("{} sent less than the file has; try again", self.server.origin());
            return Err(answer.refusal(ErrorKind::Transport, text));
        }
        Ok(())
    }

    /// Waits for the next try after `error`, if there is to be one.
    async fn pause(&self, tries: &mut RetryState, error: ProviderError) -> Result<(), ProviderError> {
        // Silence is no more than a broken connection: what came is not lost by asking for the rest.
        let error = if error.is_timeout() { error.with_should_retry(true) } else { error };
        let pause = tries.after(error, fastrand::f64())?;
        (self.tell)(FetchProgress::Waiting { on: pause.on });
        sleep(pause.wait).await;
        Ok(())
    }

    fn path<'p>(&'p self, revision: &'p str) -> Vec<&'p str> {
        let mut path = vec![self.file.owner.as_str(), &self.file.repo, "resolve", revision];
        path.extend(self.file.path.iter().map(String::as_str));
        path
    }

    fn received(&self, part: &Part, facts: &Facts) {
        let file = self.file.file_name().to_owned();
        (self.tell)(FetchProgress::Received { file, bytes: part.length(), total: facts.size });
    }

    fn unwritten(&self, error: io::Error, facts: &Facts) -> ProviderError {
        let (name, root) = (self.file.file_name(), self.hub.cache.root().display());
        let advice = match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!("no room for `{name}` ({}) below `{root}`; make some", Size(facts.size))
            }
            _ => format!("`{name}` cannot be written below `{root}`; check its permissions"),
        };
        fault::configuration(format!("{advice}, or set `HF_HUB_CACHE` to another folder")).with_source(error)
    }

    fn wrong(&self, facts: &Facts, actual: &Checksum) -> ProviderError {
        fault::broken(format!(
            "what {} sent as `{}` is damaged: its SHA-256 is {actual}, not {}; nothing of it was kept; try again, or \
             check who answers in the hub's place",
            self.server.origin(),
            self.file,
            facts.checksum
        ))
    }

    fn odd(&self, answer: &Answer, what: &str) -> ProviderError {
        let text = format!("the hub at {} {what}; try again, or check `HF_ENDPOINT`", self.server.origin());
        answer.refusal(ErrorKind::Protocol, text)
    }
}

/// Says what becomes of what came before `error`.
fn left(error: ProviderError, part: Part) -> ProviderError {
    // On a full disk it would be in the way of whoever makes room, and broken content of no use.
    if matches!(error.kind(), ErrorKind::Configuration | ErrorKind::Protocol) || part.length() == 0 {
        part.discard();
        return error;
    }
    error.with_note(&format!("what came of it, {}, is kept for the next time", Size(part.length())))
}

/// Returns the checksum that the hub's tag of a large file is.
fn checksum_of(tag: &str) -> Option<Checksum> {
    Checksum::parse(tag.strip_prefix("W/").unwrap_or(tag).trim_matches('"'))
}

/// Whether a part of a file begins at the byte `from`.
fn begins_at(answer: &Answer, from: u64) -> bool {
    let range = answer.header("content-range").and_then(|range| range.strip_prefix("bytes "));
    range.and_then(|range| range.split_once('-')).is_some_and(|(first, _)| first.parse() == Ok(from))
}
