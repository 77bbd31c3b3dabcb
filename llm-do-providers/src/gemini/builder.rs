//! The builder of a model.

use std::sync::Arc;

use super::{GeminiModel, PROTOCOL, PROVIDER, SERVER};
use crate::error::{ErrorKind, ProviderError};
use crate::http::{ClientConfig, Endpoint, config_setters};

/// The header of the key, by <https://ai.google.dev/gemini-api/docs/api-key>.
const KEY_HEADER: &str = "x-goog-api-key";
/// The default version of the API, for a base URL without one.
const VERSION: &str = "/v1beta";

/// Sets up a [`GeminiModel`]; start with [`GeminiModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct GeminiBuilder {
    config: ClientConfig,
}

impl GeminiBuilder {
    pub(super) fn new(config: ClientConfig) -> Self {
        Self { config }
    }

    config_setters! {
        /// Sets the base URL of the server, which `/models/MODEL:generateContent` is added to.
        ///
        /// A URL that does not end in a version, such as `/v1beta`, gets that one. Default:
        /// `https://generativelanguage.googleapis.com/v1beta`.
        base_url;
        /// Sets what the model supports. Default: the [capabilities](Self::capabilities) of its name, see
        /// [`GeminiModel`].
        profile;
    }

    /// Builds the model; sends no request.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default server is used
    /// without a key, if the base URL is not an `http` or `https` URL, or if the model's name cannot be part of a URL.
    pub fn build(self) -> Result<GeminiModel, ProviderError> {
        let capabilities = self.config.capabilities.gemini(&self.config.model);
        Ok(GeminiModel {
            name: format!("{PROVIDER}:{}", self.config.model),
            whole: Arc::new(self.endpoint("generateContent")?),
            streamed: Arc::new(self.endpoint("streamGenerateContent?alt=sse")?),
            profile: self.config.profile.unwrap_or_else(|| {
                self.config.capabilities.with_window_of(PROVIDER, &self.config.model, capabilities.profile())
            }),
            capabilities,
            retries: self.config.retries,
            pace: self.config.pace,
            model: self.config.model.into(),
        })
    }

    fn endpoint(&self, method: &str) -> Result<Endpoint, ProviderError> {
        let path = format!("{}/{}:{method}", self.version(), self.resource()?);
        let mut endpoint = self.config.endpoint(&SERVER, PROTOCOL, &self.config.base_url, &path)?;
        if let Some(key) = &self.config.api_key {
            endpoint.key_header(KEY_HEADER, key);
        }
        Ok(endpoint)
    }

    /// Returns the path segments between the base URL and the name of the model.
    fn version(&self) -> &'static str {
        let last = self.config.base_url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let is_version =
            last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        if is_version { "" } else { VERSION }
    }

    /// Returns the API's resource name of the model: with its own prefix, such as `tunedModels/ours`, or below `models`.
    fn resource(&self) -> Result<String, ProviderError> {
        let model = &self.config.model;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./@".contains(&byte);
        if model.is_empty() || !model.bytes().all(is_plain) || model.contains("..") {
            let text = format!("invalid model name `{model}`: expected a name such as `gemini-2.5-flash`");
            return Err(ProviderError::new(PROVIDER, ErrorKind::Configuration, text));
        }
        Ok(if model.contains('/') { model.clone() } else { format!("models/{model}") })
    }
}
