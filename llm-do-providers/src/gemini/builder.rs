//! What can be set on a model before it is asked.

use std::sync::Arc;

use super::family::Family;
use super::{GeminiModel, HOME, PROTOCOL, PROVIDER, configuration};
use crate::error::ProviderError;
use crate::http::{Access, Endpoint, access_setters};
use crate::model::Profile;

/// The header of the key, by <https://ai.google.dev/gemini-api/docs/api-key>.
const KEY_HEADER: &str = "x-goog-api-key";
/// The version of the API, where the base URL has none.
const VERSION: &str = "/v1beta";

/// Sets up a [`GeminiModel`]; start with [`GeminiModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct GeminiBuilder {
    model: String,
    access: Access,
    profile: Option<Profile>,
}

impl GeminiBuilder {
    pub(super) fn new(model: String, access: Access) -> Self {
        Self { model, access, profile: None }
    }

    /// Asks the server at `base_url`, below which `/models/MODEL:generateContent` is found.
    ///
    /// A URL that does not end in a version, such as `/v1beta`, gets that one. Default:
    /// `https://generativelanguage.googleapis.com/v1beta`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.access.base_url = base_url.into();
        self
    }

    /// Says what the model can do. Default: what its name says, see [`GeminiModel`].
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    access_setters!();

    /// Returns the model; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default server is to be asked
    /// without a key, if the base URL is not an `http` or `https` URL, or if the model's name cannot stand in one.
    pub fn build(self) -> Result<GeminiModel, ProviderError> {
        let family = Family::of(&self.model);
        Ok(GeminiModel {
            name: format!("{PROVIDER}:{}", self.model),
            whole: Arc::new(self.endpoint("generateContent")?),
            streamed: Arc::new(self.endpoint("streamGenerateContent?alt=sse")?),
            family,
            profile: self.profile.unwrap_or_else(|| family.profile()),
            retries: self.access.patience.retries,
            model: self.model.into(),
        })
    }

    fn endpoint(&self, method: &str) -> Result<Endpoint, ProviderError> {
        let path = format!("{}/{}:{method}", self.version(), self.resource()?);
        let mut endpoint = self.access.endpoint(&HOME, PROTOCOL, &self.access.base_url, &path)?;
        if let Some(key) = &self.access.api_key {
            endpoint.key_header(KEY_HEADER, key);
        }
        Ok(endpoint)
    }

    /// What is missing in the base URL before the name of the model.
    fn version(&self) -> &'static str {
        let last = self.access.base_url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let is_version =
            last.strip_prefix('v').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        if is_version { "" } else { VERSION }
    }

    /// The model as the API names it: of a kind of its own, such as `tunedModels/ours`, or one of `models`.
    fn resource(&self) -> Result<String, ProviderError> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./@".contains(&byte);
        if self.model.is_empty() || !self.model.bytes().all(is_plain) || self.model.contains("..") {
            let text = format!("`{}` is not a model's name; write it like `gemini-2.5-flash`", self.model);
            return Err(configuration(&text));
        }
        Ok(if self.model.contains('/') { self.model.clone() } else { format!("models/{}", self.model) })
    }
}
