//! Tokens in a file that only the user can read.

use std::hash::Hash;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use rmcp::transport::auth::{AuthError, CredentialStore, StoredCredentials};
use siphasher::sip128::{Hasher128, SipHasher13};
use tempfile::NamedTempFile;

/// The tokens of one server, in a file of its own.
#[derive(Debug)]
pub(super) struct FileStore {
    file: PathBuf,
}

impl FileStore {
    pub(super) fn new(folder: &Path, url: &str) -> Self {
        let mut hasher = SipHasher13::new();
        url.hash(&mut hasher);
        let name = format!("{:032x}.json", hasher.finish128().as_u128());
        Self { file: folder.join(name) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.file
    }

    fn read(&self) -> io::Result<Option<StoredCredentials>> {
        match std::fs::read(&self.file) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a new file in place of the old one: it appears whole, or not at all.
    fn write(&self, credentials: &StoredCredentials) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)?;
        // Created with the permissions 0600.
        let mut file = NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(credentials)?)?;
        file.persist(&self.file).map_err(|error| error.error)?;
        Ok(())
    }

    fn remove(&self) -> io::Result<()> {
        match std::fs::remove_file(&self.file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    fn failed(&self, error: &io::Error) -> AuthError {
        AuthError::CredentialStoreError(format!("{}: {error}", self.file.display()))
    }
}

#[async_trait]
impl CredentialStore for FileStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.read().map_err(|error| self.failed(&error))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.write(&credentials).map_err(|error| self.failed(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.remove().map_err(|error| self.failed(&error))
    }
}

/// A store of any kind.
pub(super) struct KeptCredentials(pub(super) Box<dyn CredentialStore>);

#[async_trait]
impl CredentialStore for KeptCredentials {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        self.0.load().await
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.0.save(credentials).await
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.0.clear().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn tokens_are_kept_in_a_file_that_only_the_user_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().join("new");
        let store = FileStore::new(&folder, "https://example.org/mcp");
        assert!(store.load().await.unwrap().is_none());
        store.save(StoredCredentials::new("me".into(), None, vec!["a".into()], Some(7))).await.unwrap();
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&store.file).unwrap().permissions()) & 0o777,
            0o600
        );
        let again = FileStore::new(&folder, "https://example.org/mcp").load().await.unwrap().unwrap();
        assert_eq!((again.client_id.as_str(), again.granted_scopes), ("me", vec!["a".to_owned()]));
        assert!(FileStore::new(&folder, "https://example.com/mcp").load().await.unwrap().is_none(), "another server");
        store.clear().await.unwrap();
        store.clear().await.unwrap();
        assert!(store.load().await.unwrap().is_none());
    }
}
