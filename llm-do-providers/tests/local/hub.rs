//! Model files on the hub, served by a local server with the protocol of the hub.

#![expect(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod failing;
mod fetching;
mod naming;
mod resuming;
mod server;
mod sharing;
mod using;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llm_do_providers::{FetchProgress, LocalBuilder, LocalModel, ProviderError};
use tempfile::TempDir;

use self::server::{Received, Reply, Server, sha256};

/// The file that the tests download.
const NAME: &str = "owner/repo/model.gguf";

/// Its path on the hub.
const PLACE: &str = "/owner/repo/resolve/main/model.gguf";

/// A hub with one file, the server of its content, and an empty cache.
struct World {
    bytes: Vec<u8>,
    hub: Server,
    sender: Server,
    cache: TempDir,
}

impl World {
    /// A world without failures.
    async fn new() -> Self {
        let bytes = content();
        Self::sending(bytes.clone(), move |request| Reply::file(&bytes, request)).await
    }

    /// A world whose hub has `bytes`, with the content served by `send`.
    async fn sending(bytes: Vec<u8>, send: impl FnMut(&Received) -> Reply + Send + 'static) -> Self {
        let sender = Server::new(send).await;
        let (file, location) = (bytes.clone(), format!("{}/somewhere/else", sender.url()));
        let hub = Server::new(move |_| Reply::linked(&file, &location)).await;
        Self { bytes, hub, sender, cache: tempfile::tempdir().unwrap() }
    }

    /// A world whose hub answers every request with `reply`.
    async fn answering(reply: Reply) -> Self {
        let world = Self::new().await;
        Self { hub: Server::new(move |_| reply.clone()).await, ..world }
    }

    /// A model of this world, independent of the environment and with short waits.
    fn builder(&self, name: &str) -> LocalBuilder {
        let builder = LocalModel::builder(name).endpoint(self.hub.url()).cache_dir(self.cache.path());
        builder.anonymous().offline(false).retries(0).idle_timeout(Duration::from_secs(20))
    }

    async fn fetch(&self) -> Result<PathBuf, ProviderError> {
        fetch(&self.builder(NAME)).await
    }

    /// The path of the repository in the cache.
    fn repository(&self) -> PathBuf {
        self.cache.path().join("models--owner--repo")
    }

    /// The path of the complete content.
    fn blob(&self) -> PathBuf {
        self.repository().join("blobs").join(sha256(&self.bytes))
    }

    /// The path of the partial content.
    fn part(&self) -> PathBuf {
        self.repository().join("blobs").join(format!("{}.llm-do.incomplete", sha256(&self.bytes)))
    }
}

/// The content of the hub's file.
fn content() -> Vec<u8> {
    (0..300_000_u32).flat_map(u32::to_le_bytes).collect()
}

async fn fetch(builder: &LocalBuilder) -> Result<PathBuf, ProviderError> {
    builder.clone().build().unwrap().fetch(|_| {}).await
}

/// Downloads, and returns the progress reports.
async fn reported(builder: LocalBuilder) -> (Result<PathBuf, ProviderError>, Vec<FetchProgress>) {
    let reported = Arc::new(Mutex::new(Vec::new()));
    let outcome = builder.build().unwrap().fetch(|progress| reported.lock().unwrap().push(progress)).await;
    let reported = reported.lock().unwrap().clone();
    (outcome, reported)
}

/// The relative paths of the files in a directory.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().map(Result::unwrap) {
            match entry.file_type().unwrap() {
                kind if kind.is_dir() => folders.push(entry.path()),
                _ => found.push(entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned()),
            }
        }
    }
    found.sort();
    found
}
