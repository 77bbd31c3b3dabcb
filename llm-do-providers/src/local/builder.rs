//! How an embedded model is set up.

use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "local-download")]
use std::time::Duration;

use super::LocalModel;
use super::weights::{HubOptions, Weights};
use crate::error::ProviderError;
#[cfg(feature = "local-download")]
use crate::secret::ApiKey;

/// Sets up a [`LocalModel`]; [`LocalModel::builder`] makes one.
///
/// All of it is about files of the hub; it goes before the environment.
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct LocalBuilder {
    name: String,
    hub: HubOptions,
}

impl LocalBuilder {
    pub(super) fn new(name: String) -> Self {
        Self { name, hub: HubOptions::default() }
    }

    /// Keeps the hub's files in this folder. Default: `HF_HUB_CACHE`, or `hub` in `HF_HOME`.
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.hub.cache = Some(folder.into());
        self
    }

    /// Fetches nothing: a file that is not in the cache is an error. Default: `HF_HUB_OFFLINE`.
    pub fn offline(mut self, offline: bool) -> Self {
        self.hub.offline = Some(offline);
        self
    }

    /// Fetches from the hub at `url`. Default: `HF_ENDPOINT`, or `https://huggingface.co`.
    #[cfg(feature = "local-download")]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.hub.endpoint = Some(url.into());
        self
    }

    /// Shows the hub this token, and nobody that it redirects to. Default: `HF_TOKEN`, or the token of the hub's tools.
    #[cfg(feature = "local-download")]
    pub fn token(mut self, token: ApiKey) -> Self {
        self.hub.token = Some(token);
        self
    }

    /// Shows nobody a token, whatever the environment says; a [`token`](Self::token) of this builder goes before.
    #[cfg(feature = "local-download")]
    pub fn anonymous(mut self) -> Self {
        self.hub.is_anonymous = true;
        self
    }

    /// Tries again up to `retries` times after failures that may pass, from where the download broke off. Default: 4.
    ///
    /// They are counted anew with each hundredth of the file that had not come before.
    #[cfg(feature = "local-download")]
    pub fn retries(mut self, retries: u32) -> Self {
        self.hub.retries = Some(retries);
        self
    }

    /// Waits at most this long for each piece of the file. Default: 60 s.
    #[cfg(feature = "local-download")]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.hub.idle = Some(timeout);
        self
    }

    /// Returns the model; nothing is fetched or loaded yet.
    ///
    /// # Errors
    ///
    /// As [`LocalModel::new`].
    pub fn build(self) -> Result<LocalModel, ProviderError> {
        let weights = Weights::find(&self.name, &self.hub)?;
        Ok(LocalModel { name: format!("local:{}", self.name), weights: Arc::new(weights) })
    }
}
