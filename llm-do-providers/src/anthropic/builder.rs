//! What can be set on a model before it is asked.

use std::sync::Arc;

use super::family::Family;
use super::{AnthropicModel, HOME, PROTOCOL, PROVIDER, binding};
use crate::error::ProviderError;
use crate::http::{Access, access_setters};
use crate::model::Profile;

/// The version of the API: there has been no other since.
const VERSION: &str = "2023-06-01";

/// Sets up an [`AnthropicModel`]; start with [`AnthropicModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct AnthropicBuilder {
    model: String,
    access: Access,
    betas: Vec<String>,
    profile: Option<Profile>,
}

impl AnthropicBuilder {
    pub(super) fn new(model: String, access: Access) -> Self {
        Self { model, access, betas: Vec::new(), profile: None }
    }

    /// Asks the server at `base_url`, below which `/v1/messages` is found, with or without the `/v1`. Default:
    /// `https://api.anthropic.com`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.access.base_url = base_url.into();
        self
    }

    /// Turns on what the API calls a beta, such as `interleaved-thinking-2025-05-14`. Default: at home the one that
    /// [thoughts](AnthropicModel#thinking) need from Fable 5.1 and Claude 5.5 on, which stays beside yours; else none.
    ///
    /// They go as the header `anthropic-beta`; one of that name in a request's settings takes the place of all of them.
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Says what the model, with this server, can do. Default: what is known of the model's family, by its name; of models
    /// of other makers, that they write text and call tools.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    access_setters!();

    /// Returns the model; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default server is to be asked without
    /// a key, if the base URL is not an `http` or `https` URL, or if a beta's name cannot be sent.
    pub fn build(self) -> Result<AnthropicModel, ProviderError> {
        let base = self.access.base_url.trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let mut endpoint = self.access.endpoint(&HOME, PROTOCOL, base, "/v1/messages")?;
        if let Some(key) = &self.access.api_key {
            endpoint.key_header("x-api-key", key);
        }
        endpoint.header("anthropic-version", VERSION)?;
        let family = Family::of(&self.model);
        let mut betas = self.betas;
        binding::add_beta(&mut betas, &family, HOME.locked.is_some_and(|host| endpoint.is_at(host)));
        let betas = betas.join(",");
        if !betas.is_empty() {
            endpoint.header(binding::HEADER, &betas)?;
        }
        Ok(AnthropicModel {
            name: format!("{PROVIDER}:{}", self.model),
            model: self.model.into(),
            endpoint: Arc::new(endpoint),
            betas,
            family,
            profile: self.profile.unwrap_or(family.profile),
            retries: self.access.patience.retries,
        })
    }
}
