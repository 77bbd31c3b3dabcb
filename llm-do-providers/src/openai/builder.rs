//! The builder of a model.

use std::sync::Arc;

use super::server::Server;
use super::{OpenAiModel, PATH, PROTOCOL};
use crate::error::ProviderError;
use crate::http::{ClientConfig, config_setters};

/// Sets up an [`OpenAiModel`]; start with [`OpenAiModel::builder`] or [`OpenAiModel::at`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct OpenAiBuilder {
    server: Server,
    config: ClientConfig,
}

impl OpenAiBuilder {
    pub(super) fn new(server: Server, config: ClientConfig) -> Self {
        Self { server, config }
    }

    /// Returns the builder with the base URL and the key of the variables that [`Server`] lists.
    pub(super) fn from_env(server: Server, model: &str) -> Result<Self, ProviderError> {
        Ok(Self::new(server, ClientConfig::from_env(&server.dialect().server, model)?))
    }

    config_setters! {
        /// Sets the base URL of the server, which `/chat/completions` is added to. Default: that of the [`Server`],
        /// such as `https://api.openai.com/v1` for OpenAI. For OpenAI, the host of another known [`Server`] selects
        /// that server.
        base_url;
        /// Sets what the model supports at this server. Default: the [capabilities](Self::capabilities) of the
        /// [`Server`] and of the model's name; arguments are mended, except for OpenAI's server; OpenAI's search models have `web_search`, and an unknown model of an
        /// unknown server has [`Profile::NATIVE_OUTPUT`](crate::Profile::NATIVE_OUTPUT).
        profile;
    }

    /// Builds the model; sends no request.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`Configuration`](crate::ErrorKind::Configuration) if the default base URL is used
    /// without a key that it requires, or if the base URL is not an `http` or `https` URL.
    pub fn build(self) -> Result<OpenAiModel, ProviderError> {
        let Self { server, config } = self;
        let named = &server.dialect().server;
        let mut endpoint = config.endpoint(named, PROTOCOL, &config.base_url, PATH)?;
        if let Some(key) = &config.api_key {
            endpoint.authorize(key);
        }
        let dialect = server.dialect_at(&endpoint);
        endpoint.provider = dialect.server.provider;
        let capabilities = config.capabilities.openai(dialect.server.provider, &config.model);
        let is_of_openai = std::ptr::eq(dialect, Server::OpenAi.dialect());
        let is_mistral = dialect.is_mistral(&config.model);
        Ok(OpenAiModel {
            name: format!("{}:{}", named.provider, config.model),
            // Models of other servers write their calls as text, which the server may pass on as it is.
            profile: config.profile.unwrap_or_else(|| {
                let provider = dialect.server.provider;
                config.capabilities.with_window_of(
                    provider,
                    &config.model,
                    capabilities.profile().with_mended_arguments(!is_of_openai),
                )
            }),
            model: config.model.into(),
            endpoint: Arc::new(endpoint),
            dialect,
            is_mistral,
            capabilities,
            retries: config.retries,
            pace: config.pace,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::exchange::ResponseAccumulator;
    use crate::message::{Message, ToolResult};
    use crate::model::{JsonWriter, Model, Profile, Request};
    use crate::openai::stream::ChatAccumulator;
    use crate::openai::{OpenAiBuilder, OpenAiModel, Server, convert};
    use crate::secret::ApiKey;
    use crate::settings::Settings;

    fn at(url: &str) -> OpenAiBuilder {
        OpenAiModel::builder("m").base_url(url).api_key(ApiKey::new("k").unwrap())
    }

    /// The call as it goes back to the model that answered with `message`.
    fn sent_back(model: &OpenAiModel, mut message: Value) -> Value {
        message["tool_calls"] =
            json!([{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{}"}}]);
        let mut answer = ChatAccumulator::new(model.dialect, model.model.clone(), 1);
        let body = json!({ "choices": [{ "message": message }] }).to_string();
        answer.absorb_whole(&model.endpoint, body.as_bytes()).unwrap();
        let response = answer.complete();
        let results = response.tool_calls().map(|call| ToolResult::new(call, "3")).collect();
        let messages = [Message::Assistant { parts: response.parts }, Message::Tool { results }];
        let settings = Settings::default();
        let (chat, _) =
            convert::request(model.target(), &Request::new(&messages, &settings), false, &mut JsonWriter::default())
                .unwrap();
        serde_json::to_value(chat).unwrap()["messages"][0].take()
    }

    #[test]
    fn a_server_that_was_not_named_is_known_by_its_host() {
        for (url, provider) in [
            ("https://api.deepseek.com", "deepseek"),
            ("https://api.deepseek.com/v1/", "deepseek"),
            ("https://api.groq.com/openai/v1", "groq"),
            ("https://api.mistral.ai/v1", "mistral"),
            ("https://api.moonshot.cn/v1", "moonshot"),
            ("https://openrouter.ai/api/v1", "openrouter"),
            ("https://api.openai.com/v1", "openai"),
            ("http://127.0.0.1:8080/v1", "openai"),
            ("https://api.deepseek.com.example.org", "openai"),
        ] {
            let model = at(url).build().unwrap();
            assert_eq!((model.name(), model.dialect.server.provider), ("openai:m", provider), "{url}");
            assert_eq!(model.endpoint.provider, provider, "errors name who is asked");
        }
    }

    #[test]
    fn explicit_settings_hold_for_any_server() {
        let url = "https://api.deepseek.com";
        assert_eq!(at(url).build().unwrap().profile(), Profile::BASIC.with_mended_arguments(true));
        assert_eq!(at(url).profile(Profile::NATIVE_OUTPUT).build().unwrap().profile(), Profile::NATIVE_OUTPUT);
        assert!(!at("https://api.openai.com/v1").build().unwrap().profile().mend_arguments);
        let named = OpenAiModel::at(Server::Vllm, "m").base_url(url).build().unwrap();
        assert!(named.profile().mend_arguments);
        assert_eq!((named.name(), named.dialect.server.provider), ("vllm:m", "vllm"));
    }

    #[test]
    fn thoughts_go_back_to_the_hosts_that_refuse_an_answer_without_them() {
        let told = json!({"content": "", "reasoning_content": "hm"});
        for (url, missing) in [("https://api.deepseek.com", ""), ("https://api.moonshot.ai/v1", " ")] {
            let model = at(url).build().unwrap();
            assert_eq!(sent_back(&model, told.clone())["reasoning_content"], "hm", "{url}");
            assert_eq!(sent_back(&model, json!({"content": ""}))["reasoning_content"], missing, "{url}");
        }
        let other = at("http://127.0.0.1:8080/v1").build().unwrap();
        assert_eq!(sent_back(&other, told).get("reasoning_content"), None);
    }
}
