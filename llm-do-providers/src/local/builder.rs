//! The builder of the embedded model.

use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "local-download")]
use std::time::Duration;

use super::LocalModel;
use super::weights::{HubOptions, Weights};
use crate::error::ProviderError;
#[cfg(feature = "local-download")]
use crate::secret::ApiKey;

/// Builds a [`LocalModel`]; created by [`LocalModel::builder`].
///
/// All options are about models on the Hugging Face Hub. They take precedence over the environment variables.
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

    /// Sets the cache directory of the hub. Default: `HF_HUB_CACHE`, or `hub` in `HF_HOME`.
    pub fn cache_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.hub.cache = Some(folder.into());
        self
    }

    /// Disables downloads: a file that is not in the cache is an error. Default: `HF_HUB_OFFLINE`.
    pub fn offline(mut self, offline: bool) -> Self {
        self.hub.offline = Some(offline);
        self
    }

    /// Sets the URL of the hub. Default: `HF_ENDPOINT`, or `https://huggingface.co`.
    #[cfg(feature = "local-download")]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.hub.endpoint = Some(url.into());
        self
    }

    /// Sets the access token. It is sent to the hub only, not to hosts that the hub redirects to. Default:
    /// `HF_TOKEN`, or the token that the hub's own tools saved.
    #[cfg(feature = "local-download")]
    pub fn token(mut self, token: ApiKey) -> Self {
        self.hub.token = Some(token);
        self
    }

    /// Sends no token, even if the environment has one. A [`token`](Self::token) set on this builder is still sent.
    #[cfg(feature = "local-download")]
    pub fn anonymous(mut self) -> Self {
        self.hub.is_anonymous = true;
        self
    }

    /// Sets the maximum number of retries after transient failures; each resumes the download. Default: 4.
    ///
    /// The count restarts after each further 1 % of the file.
    #[cfg(feature = "local-download")]
    pub fn retries(mut self, retries: u32) -> Self {
        self.hub.retries = Some(retries);
        self
    }

    /// Sets the maximum time between two chunks of the file. Default: 60 s.
    #[cfg(feature = "local-download")]
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.hub.idle = Some(timeout);
        self
    }

    /// Returns the model; it is downloaded and loaded later.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`LocalModel::new`].
    pub fn build(self) -> Result<LocalModel, ProviderError> {
        let weights = Weights::find(&self.name, &self.hub)?;
        Ok(LocalModel { name: format!("local:{}", self.name), weights: Arc::new(weights) })
    }
}
