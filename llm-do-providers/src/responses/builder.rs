//! The builder of a model.

use std::sync::Arc;

use super::{OpenAiResponsesModel, PATH, PROTOCOL, SERVER, tools};
use crate::error::ProviderError;
use crate::http::{ClientConfig, config_setters};

/// Sets up an [`OpenAiResponsesModel`]; start with [`OpenAiResponsesModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct OpenAiResponsesBuilder {
    config: ClientConfig,
    summaries: bool,
}

impl OpenAiResponsesBuilder {
    pub(super) fn new(config: ClientConfig) -> Self {
        Self { config, summaries: true }
    }

    config_setters! {
        /// Sets the base URL of the server, which `/responses` is added to. Default: `https://api.openai.com/v1`.
        base_url;
        /// Sets what the model supports at this server. Default: the [capabilities](Self::capabilities) of its name,
        /// where models before GPT-4o have no native output, and the server-side tools of the provider.
        profile;
    }

    /// Sets whether summaries of the thoughts are requested with a thinking level. Default: `true`.
    ///
    /// OpenAI creates summaries only for verified organizations. Other organizations need `false`, since OpenAI refuses
    /// `reasoning.summary` with status 400 (`unsupported_value`). Thoughts then have no text, but are still sent back.
    pub fn summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
        self
    }

    /// Builds the model; sends no request.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default server is used without a key,
    /// or if the base URL is not an `http` or `https` URL.
    pub fn build(self) -> Result<OpenAiResponsesModel, ProviderError> {
        let Self { config, summaries } = self;
        let mut endpoint = config.endpoint(&SERVER, PROTOCOL, &config.base_url, PATH)?;
        if let Some(key) = &config.api_key {
            endpoint.authorize(key);
        }
        let capabilities = config.capabilities.openai(SERVER.provider, &config.model);
        let known = || {
            let tools = tools::server_side_tools(capabilities.programmatic_tool_calling);
            let profile =
                capabilities.profile().with_server_side_tools(tools).with_tool_search(capabilities.tool_search);
            config.capabilities.with_window_of(SERVER.provider, &config.model, profile)
        };
        Ok(OpenAiResponsesModel {
            name: format!("{}:{}", SERVER.provider, config.model),
            profile: config.profile.unwrap_or_else(known),
            model: config.model.into(),
            endpoint: Arc::new(endpoint),
            capabilities,
            summaries,
            retries: config.retries,
            pace: config.pace,
        })
    }
}
