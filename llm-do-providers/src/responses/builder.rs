//! What can be set on a model before it is asked.

use std::sync::Arc;

use super::{OpenAiResponsesModel, PROTOCOL, PROVIDER, tools};
use crate::error::{ErrorKind, ProviderError};
use crate::http::{Endpoint, Patience, patience_setters};
use crate::model::Profile;
use crate::openai::{API_KEY, BASE_URL, HOME, HOME_HOST};
use crate::secret::ApiKey;

/// Sets up an [`OpenAiResponsesModel`]; start with [`OpenAiResponsesModel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct OpenAiResponsesBuilder {
    model: String,
    base_url: String,
    api_key: Option<ApiKey>,
    profile: Profile,
    patience: Patience,
}

impl OpenAiResponsesBuilder {
    pub(super) fn new(model: String) -> Self {
        Self {
            model,
            base_url: HOME.to_owned(),
            api_key: None,
            profile: Profile::NATIVE_OUTPUT.with_server_side_tools(tools::SERVER_SIDE),
            patience: Patience::default(),
        }
    }

    /// Takes the base URL and the key from variables, where they are set.
    pub(super) fn from_variables(
        model: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        let mut builder = Self::new(model.to_owned());
        if let Some(url) = set(BASE_URL) {
            builder = builder.base_url(url);
        }
        if let Some(key) = set(API_KEY) {
            let key = ApiKey::checked(&key).map_err(|fault| configuration(&format!("`{API_KEY}`: {fault}")))?;
            builder = builder.api_key(key);
        }
        Ok(builder)
    }

    /// Asks the server at `base_url`, below which `/responses` is found. Default: `https://api.openai.com/v1`.
    pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
        self.base_url = base_url.into();
        self
    }

    /// Sends `key` along. Default: none, which the default server does not accept.
    pub fn api_key(mut self, key: ApiKey) -> Self {
        self.api_key = Some(key);
        self
    }

    /// Says what the model, with this server, can do. Default: native output, and the tools that the provider runs.
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    patience_setters!();

    /// Returns the model; nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](ErrorKind::Configuration) if the default server is to be asked without a key,
    /// or if the base URL is not an `http` or `https` URL.
    pub fn build(self) -> Result<OpenAiResponsesModel, ProviderError> {
        let mut endpoint = Endpoint::new(PROVIDER, PROTOCOL, &self.base_url, "/responses")?;
        match &self.api_key {
            Some(key) => endpoint.authorize(key),
            None if endpoint.is_at(HOME_HOST) => {
                return Err(configuration(&format!(
                    "no key; set `{API_KEY}`, or `{BASE_URL}` to a server without keys"
                )));
            }
            None => {}
        }
        endpoint.key_hint = "`OPENAI_API_KEY` or the key given in code";
        endpoint.idle = self.patience.idle;
        endpoint.whole = self.patience.whole;
        Ok(OpenAiResponsesModel {
            name: format!("{PROVIDER}:{}", self.model),
            model: self.model.into(),
            endpoint: Arc::new(endpoint),
            profile: self.profile,
            retries: self.patience.retries,
        })
    }
}

fn configuration(text: &str) -> ProviderError {
    ProviderError::new(PROVIDER, ErrorKind::Configuration, text)
}

#[cfg(test)]
mod tests {
    use super::OpenAiResponsesBuilder;
    use crate::error::ErrorKind;
    use crate::model::Model;

    fn with(variables: &[(&str, &str)]) -> Result<super::OpenAiResponsesModel, super::ProviderError> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
        OpenAiResponsesBuilder::from_variables("gpt-5", find)?.build()
    }

    #[test]
    fn a_missing_key_is_named_by_its_variable() {
        let error = with(&[]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains("set `OPENAI_API_KEY`"), "{error}");
        let model = with(&[("OPENAI_API_KEY", "sk-secret")]).unwrap();
        assert_eq!(model.name(), "openai-responses:gpt-5");
        assert!(!format!("{model:?}").contains("sk-secret"));
    }
}
