//! What can be set on a model before it is asked.

use std::sync::Arc;

use super::convert::Dialect;
use super::{API_KEY, BASE_URL, HOME, HOME_HOST, OpenAiModel, PROTOCOL, PROVIDER, configuration, search};
use crate::error::ProviderError;
use crate::http::{Endpoint, Patience, patience_setters};
use crate::model::Profile;
use crate::secret::ApiKey;

/// Sets up an [`OpenAiModel`]; start with [`OpenAiModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct OpenAiBuilder {
    model: String,
    base_url: String,
    api_key: Option<ApiKey>,
    profile: Option<Profile>,
    patience: Patience,
}

impl OpenAiBuilder {
    pub(super) fn new(model: String) -> Self {
        Self { model, base_url: HOME.to_owned(), api_key: None, profile: None, patience: Patience::default() }
    }

    /// Asks the server at `base_url`, below which `/chat/completions` is found. Default: `https://api.openai.com/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// Sends `key` along. Default: none, which the default server does not accept.
    pub fn api_key(mut self, key: ApiKey) -> Self {
        self.api_key = Some(key);
        self
    }

    /// Says what the model, with this server, can do. Default: [`Profile::NATIVE_OUTPUT`], and for OpenAI's search
    /// models the server-side tool `web_search`.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    patience_setters!();

    /// Returns the model; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default server is to be asked without a key, or
    /// if the base URL is not an `http` or `https` URL.
    pub fn build(self) -> Result<OpenAiModel, ProviderError> {
        let mut endpoint = Endpoint::new(PROVIDER, PROTOCOL, &self.base_url, "/chat/completions")?;
        let at_home = endpoint.is_at(HOME_HOST);
        match &self.api_key {
            Some(key) => endpoint.authorize(key),
            None if at_home => {
                return Err(configuration(&format!(
                    "no key; set `{API_KEY}`, or `{BASE_URL}` to a server without keys"
                )));
            }
            None => {}
        }
        endpoint.key_hint = "`OPENAI_API_KEY` or the key given in code";
        endpoint.idle = self.patience.idle;
        endpoint.whole = self.patience.whole;
        let profile = self.profile.unwrap_or_else(|| search::profile(&self.model));
        Ok(OpenAiModel {
            name: format!("{PROVIDER}:{}", self.model),
            model: self.model.into(),
            endpoint: Arc::new(endpoint),
            dialect: Dialect { completion_limit: at_home },
            profile,
            retries: self.patience.retries,
        })
    }
}
