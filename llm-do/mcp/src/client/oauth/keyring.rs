//! Tokens in the keyring of the system, or in a file on systems without one.

use std::path::Path;

use async_trait::async_trait;
use keyring::Entry;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use tokio::task::spawn_blocking;

use super::store::FileStore;

/// The name under which the keyring shows the tokens.
const SERVICE: &str = "llm-do: MCP server";

/// The tokens of one server. If its file exists, they are in the file.
#[derive(Debug)]
pub(super) struct KeyringStore {
    url: String,
    file: FileStore,
}

impl KeyringStore {
    pub(super) fn new(folder: &Path, url: &str) -> Self {
        Self { url: url.to_owned(), file: FileStore::new(folder, url) }
    }

    /// Uses the entry of the keyring, which may ask the user to unlock it.
    async fn entry<T: Send + 'static>(
        &self,
        run: impl FnOnce(&Entry) -> keyring::Result<T> + Send + 'static,
    ) -> Option<T> {
        let url = self.url.clone();
        // Reasons differ by system, and each of them means that the file is used.
        spawn_blocking(move || Entry::new(SERVICE, &url).and_then(|entry| run(&entry)).ok()).await.ok().flatten()
    }
}

#[async_trait]
impl CredentialStore for KeyringStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        if let Some(credentials) = self.file.load().await? {
            return Ok(Some(credentials));
        }
        let Some(text) = self.entry(Entry::get_secret).await else { return Ok(None) };
        let invalid = |error: serde_json::Error| AuthError::CredentialStoreError(format!("in the keyring: {error}"));
        serde_json::from_slice(&text).map(Some).map_err(invalid)
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let is_in_file = self.file.load().await.is_ok_and(|kept| kept.is_some());
        let text = serde_json::to_vec(&credentials).ok().filter(|_| !is_in_file);
        if let Some(text) = text
            && self.entry(move |entry| entry.set_secret(&text)).await.is_some()
        {
            return Ok(());
        }
        self.file.save(credentials).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.entry(Entry::delete_credential).await;
        self.file.clear().await
    }
}
