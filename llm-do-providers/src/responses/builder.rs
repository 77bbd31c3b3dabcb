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
    summaries: bool,
}

impl OpenAiResponsesBuilder {
    pub(super) fn new(model: String, access: Access) -> Self {
        let profile = Family::of(&model).profile().with_server_side_tools(tools::SERVER_SIDE);
        Self { model, access, profile, summaries: true }
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

    /// Says whether a level of thinking asks for summaries of the thoughts. Default: yes.
    ///
    /// OpenAI makes them only for organisations that it has verified: others get status 400 (`unsupported_value`), by which it
    /// refuses `reasoning.summary`, and need `false` here. Thoughts then have no text, and go back all the same.
    pub fn summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
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
            summaries: self.summaries,
            retries: self.access.patience.retries,
        })
    }
}
