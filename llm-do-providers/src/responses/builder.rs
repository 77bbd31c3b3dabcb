//! What can be set on a model before it is asked.

use std::sync::Arc;

use super::{HOME, OpenAiResponsesModel, PROTOCOL, tools};
use crate::error::ProviderError;
use crate::http::{Access, access_setters};
use crate::model::Profile;
use crate::openai::Family;

/// Sets up an [`OpenAiResponsesModel`]; start with [`OpenAiResponsesModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct OpenAiResponsesBuilder {
    model: String,
    access: Access,
    profile: Profile,
}

impl OpenAiResponsesBuilder {
    pub(super) fn new(model: String, access: Access) -> Self {
        let profile = Family::of(&model).profile().with_server_side_tools(tools::SERVER_SIDE);
        Self { model, access, profile }
    }

    /// Asks the server at `base_url`, below which `/responses` is found. Default: `https://api.openai.com/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.access.base_url = base_url.into();
        self
    }

    /// Says what the model, with this server, can do. Default: native output, but for models before
    /// GPT-4o, and the tools that the provider runs.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    access_setters!();

    /// Returns the model; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default server is to be asked without a key,
    /// or if the base URL is not an `http` or `https` URL.
    pub fn build(self) -> Result<OpenAiResponsesModel, ProviderError> {
        let mut endpoint = self.access.endpoint(&HOME, PROTOCOL, &self.access.base_url, "/responses")?;
        if let Some(key) = &self.access.api_key {
            endpoint.authorize(key);
        }
        Ok(OpenAiResponsesModel {
            name: format!("{}:{}", HOME.provider, self.model),
            model: self.model.into(),
            endpoint: Arc::new(endpoint),
            profile: self.profile,
            retries: self.access.patience.retries,
        })
    }
}
