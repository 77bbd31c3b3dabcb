//! What can be set on a model before it is asked.

use std::sync::Arc;

use super::profile::profile;
use super::server::{ELSEWHERE, Server};
use super::{OpenAiModel, PROTOCOL};
use crate::error::ProviderError;
use crate::http::{Access, access_setters};
use crate::model::Profile;

/// Sets up an [`OpenAiModel`]; start with [`OpenAiModel::builder`] or [`OpenAiModel::at`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct OpenAiBuilder {
    server: Server,
    model: String,
    access: Access,
    profile: Option<Profile>,
}

impl OpenAiBuilder {
    pub(super) fn new(server: Server, model: String, access: Access) -> Self {
        Self { server, model, access, profile: None }
    }

    /// Asks the server at `base_url`, below which `/chat/completions` is found. Default: where the [`Server`] is at home,
    /// which for OpenAI is `https://api.openai.com/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.access.base_url = base_url.into();
        self
    }

    /// Says what the model, with this server, can do. Default: what is known of the [`Server`] and of the model's name, by
    /// which OpenAI's search models have `web_search`; a server and a model that are not known have
    /// [`Profile::NATIVE_OUTPUT`].
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    access_setters!();

    /// Returns the model; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if a server that needs a key is to be asked
    /// at home without one, or if the base URL is not an `http` or `https` URL.
    pub fn build(self) -> Result<OpenAiModel, ProviderError> {
        let dialect = self.server.dialect();
        let home = &dialect.home;
        let mut endpoint = self.access.endpoint(home, PROTOCOL, &self.access.base_url, "/chat/completions")?;
        if let Some(key) = &self.access.api_key {
            endpoint.authorize(key);
        }
        let is_elsewhere = self.server == Server::OpenAi && !home.locked.is_some_and(|host| endpoint.is_at(host));
        Ok(OpenAiModel {
            name: format!("{}:{}", home.provider, self.model),
            profile: self.profile.unwrap_or_else(|| profile(self.server, &self.model)),
            model: self.model.into(),
            endpoint: Arc::new(endpoint),
            dialect: if is_elsewhere { &ELSEWHERE } else { dialect },
            retries: self.access.patience.retries,
        })
    }
}
