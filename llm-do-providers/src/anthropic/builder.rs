//! The builder of a model.

use std::sync::Arc;

use super::{AnthropicModel, PROTOCOL, PROVIDER, SERVER, binding};
use crate::error::ProviderError;
use crate::http::{ClientConfig, config_setters};

/// The version of the API, which is still the latest.
const VERSION: &str = "2023-06-01";

/// Sets up an [`AnthropicModel`]; start with [`AnthropicModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct AnthropicBuilder {
    config: ClientConfig,
    betas: Vec<String>,
}

impl AnthropicBuilder {
    pub(super) fn new(config: ClientConfig) -> Self {
        Self { config, betas: Vec::new() }
    }

    config_setters! {
        /// Sets the base URL of the server, which `/v1/messages` is added to, with or without its `/v1`. Default:
        /// `https://api.anthropic.com`.
        base_url;
        /// Sets what the model supports at this server. Default: the [capabilities](Self::capabilities) of its name;
        /// for models of other vendors, text and tools.
        profile;
    }

    /// Enables a beta of the API, such as `interleaved-thinking-2025-05-14`. Default: none. At Anthropic's server,
    /// models from Fable 5.1 and Claude 5.5 on always have the beta for [thoughts](AnthropicModel#thinking) in
    /// addition.
    ///
    /// Betas are sent in the header `anthropic-beta`; a header with that name in a request's settings replaces all of
    /// them.
    pub fn beta(mut self, name: impl Into<String>) -> Self {
        self.betas.push(name.into());
        self
    }

    /// Builds the model; sends no request.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default server is used without
    /// a key, if the base URL is not an `http` or `https` URL, or if a beta's name cannot be sent.
    pub fn build(self) -> Result<AnthropicModel, ProviderError> {
        let base = self.config.base_url.trim_end_matches('/');
        let base = base.strip_suffix("/v1").unwrap_or(base);
        let mut endpoint = self.config.endpoint(&SERVER, PROTOCOL, base, "/v1/messages")?;
        if let Some(key) = &self.config.api_key {
            endpoint.key_header("x-api-key", key);
        }
        endpoint.header("anthropic-version", VERSION)?;
        let capabilities = self.config.capabilities.anthropic(&self.config.model);
        let mut betas = self.betas;
        binding::add_beta(&mut betas, &capabilities, SERVER.key_required_at.is_some_and(|host| endpoint.is_at(host)));
        let betas = betas.join(",");
        if !betas.is_empty() {
            endpoint.header(binding::HEADER, &betas)?;
        }
        Ok(AnthropicModel {
            name: format!("{PROVIDER}:{}", self.config.model),
            profile: self.config.profile.unwrap_or_else(|| {
                self.config.capabilities.with_window_of(PROVIDER, &self.config.model, capabilities.profile())
            }),
            model: self.config.model.into(),
            endpoint: Arc::new(endpoint),
            betas,
            capabilities,
            retries: self.config.retries,
            pace: self.config.pace,
        })
    }
}
