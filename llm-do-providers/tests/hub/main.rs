//! Model files of the hub, from a server of this machine that speaks as the hub does.

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

/// The file that the tests fetch.
const NAME: &str = "owner/repo/model.gguf";

/// Where the hub has it.
const PLACE: &str = "/owner/repo/resolve/main/model.gguf";

/// A hub with one file, whoever sends that file, and an empty cache.
struct World {
    bytes: Vec<u8>,
    hub: Server,
    sender: Server,
    cache: TempDir,
}

impl World {
    /// A world in which all goes well.
    async fn new() -> Self {
        let bytes = content();
        Self::sending(bytes.clone(), move |request| Reply::file(&bytes, request)).await
    }

    /// A world in which the hub has `bytes`, and the file is sent as `send` says.
    async fn sending(bytes: Vec<u8>, send: impl FnMut(&Received) -> Reply + Send + 'static) -> Self {
        let sender = Server::new(send).await;
        let (file, location) = (bytes.clone(), format!("{}/somewhere/else", sender.url()));
        let hub = Server::new(move |_| Reply::linked(&file, &location)).await;
        Self { bytes, hub, sender, cache: tempfile::tempdir().unwrap() }
    }

    /// A world in which the hub answers every request the same.
    async fn answering(reply: Reply) -> Self {
        let world = Self::new().await;
        Self { hub: Server::new(move |_| reply.clone()).await, ..world }
    }

    /// A model of this world, whatever the environment says; no test waits long for anything.
    fn builder(&self, name: &str) -> LocalBuilder {
        let builder = LocalModel::builder(name).endpoint(self.hub.url()).cache_dir(self.cache.path());
        builder.anonymous().offline(false).retries(0).idle_timeout(Duration::from_secs(20))
    }

    async fn fetch(&self) -> Result<PathBuf, ProviderError> {
        fetch(&self.builder(NAME)).await
    }

    /// Where the cache has the repository.
    fn repository(&self) -> PathBuf {
        self.cache.path().join("models--owner--repo")
    }

    /// Where the file's content is, once it is whole.
    fn blob(&self) -> PathBuf {
        self.repository().join("blobs").join(sha256(&self.bytes))
    }

    /// Where it grows.
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

/// Fetches, and returns what was told on the way.
async fn told(builder: LocalBuilder) -> (Result<PathBuf, ProviderError>, Vec<FetchProgress>) {
    let told = Arc::new(Mutex::new(Vec::new()));
    let outcome = builder.build().unwrap().fetch(|progress| told.lock().unwrap().push(progress)).await;
    let told = told.lock().unwrap().clone();
    (outcome, told)
}

/// The files below a folder, by their paths in it.
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
