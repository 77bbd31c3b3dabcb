//! The configuration of a provider's server, by environment variables or a builder, shared by all providers.

use std::env;
use std::fmt;
use std::time::Duration;

use reqwest::Url;

use super::{Endpoint, origin};
use crate::batched::BatchPace;
use crate::capability::CapabilityTable;
use crate::error::{ErrorKind, ProviderError};
use crate::model::Profile;
use crate::secret::ApiKey;

/// The default server of a provider, and the environment variables that set another one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ServerDefaults {
    /// The prefix of its models' names, and its name in errors.
    pub(crate) provider: &'static str,
    pub(crate) base_url: &'static str,
    /// The host that requires a key; `None` if no key is needed.
    pub(crate) key_required_at: Option<&'static str>,
    /// The variable of the base URL.
    pub(crate) url_variable: &'static str,
    /// The variables of the key; the first one that is set is used.
    pub(crate) key_variables: &'static [&'static str],
}

/// The settings that all builders of models on the network have.
#[derive(Clone)]
pub(crate) struct ClientConfig {
    /// The model's name at its server.
    pub(crate) model: String,
    pub(crate) base_url: String,
    pub(crate) api_key: Option<ApiKey>,
    pub(crate) timeouts: Timeouts,
    /// The maximum number of retries.
    pub(crate) retries: u32,
    /// The profile that the user set, which takes precedence over the capabilities.
    pub(crate) profile: Option<Profile>,
    pub(crate) capabilities: CapabilityTable,
    pub(crate) pace: BatchPace,
}

/// The timeouts of requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Until the head and until each further piece of a streamed answer.
    pub(crate) idle: Duration,
    /// From connecting to the last piece of a streamed answer.
    pub(crate) stream: Duration,
    /// From connecting to the last byte of an unstreamed answer.
    pub(crate) whole: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { idle: Duration::from_secs(120), stream: Duration::from_secs(3600), whole: Duration::from_secs(600) }
    }
}

impl fmt::Debug for ClientConfig {
    /// Shows only the parts of the base URL that contain no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { model, base_url, api_key, timeouts, retries, profile, .. } = self;
        let origin = Url::parse(base_url).map(|url| origin(&url)).unwrap_or_default();
        let mut shown = f.debug_struct("ClientConfig");
        shown.field("model", model).field("origin", &origin).field("api_key", api_key);
        shown.field("timeouts", timeouts).field("retries", retries).field("profile", profile).finish_non_exhaustive()
    }
}

impl ClientConfig {
    /// Returns the configuration of `model` at the default server of a provider, without a key.
    pub(crate) fn new(defaults: &ServerDefaults, model: String) -> Self {
        Self {
            model,
            base_url: defaults.base_url.to_owned(),
            api_key: None,
            timeouts: Timeouts::default(),
            retries: 2,
            profile: None,
            capabilities: CapabilityTable::builtin(),
            pace: BatchPace::default(),
        }
    }

    /// Returns the configuration with the base URL and the key of the environment, if they are set and not empty.
    ///
    /// # Errors
    ///
    /// Returns an error that names the variable, and not its value, if a key is invalid.
    pub(crate) fn from_env(defaults: &ServerDefaults, model: &str) -> Result<Self, ProviderError> {
        Self::from_variables(defaults, model, |name| env::var(name).ok())
    }

    /// Returns the configuration like [`from_env`](Self::from_env), with the variables that `variable` returns.
    pub(crate) fn from_variables(
        defaults: &ServerDefaults,
        model: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut config = Self::new(defaults, model.to_owned());
        if let Some(url) = set(defaults.url_variable) {
            config.base_url = url;
        }
        if let Some((name, key)) = defaults.key_variables.iter().find_map(|name| Some((name, set(name)?))) {
            let key = ApiKey::checked(&key).map_err(|fault| defaults.configuration(format!("`{name}`: {fault}")))?;
            config.api_key = Some(key);
        }
        Ok(config)
    }

    /// Returns the endpoint at `path` below `base`; the provider adds the key.
    ///
    /// # Errors
    ///
    /// Returns an error if `base` is not an `http` or `https` URL, or if the server requires a key and it is missing.
    pub(crate) fn endpoint(
        &self,
        defaults: &ServerDefaults,
        protocol: &'static str,
        base: &str,
        path: &str,
    ) -> Result<Endpoint, ProviderError> {
        let mut endpoint = Endpoint::new(defaults.provider, protocol, base, path)?;
        if self.api_key.is_none() && defaults.key_required_at.is_some_and(|host| endpoint.is_at(host)) {
            let (key, url) = (defaults.key_variable(), defaults.url_variable);
            return Err(defaults
                .configuration(format!("missing API key; set `{key}`, or set `{url}` to a server that needs no key")));
        }
        endpoint.key_hint = format!("`{}` or the key given in code", defaults.key_variable());
        endpoint.timeouts = self.timeouts;
        Ok(endpoint)
    }
}

impl ServerDefaults {
    /// The variable that an error for a missing key names.
    fn key_variable(&self) -> &'static str {
        self.key_variables.first().copied().unwrap_or_default()
    }

    fn configuration(&self, text: String) -> ProviderError {
        ProviderError::new(self.provider, ErrorKind::Configuration, text)
    }
}

/// Defines the setters of a builder with a `config`; each provider documents its base URL and its default profile.
macro_rules! config_setters {
    ($(#[$base_url:meta])* base_url; $(#[$profile:meta])* profile;) => {
        $(#[$base_url])*
        pub fn base_url(mut self, base_url: impl Into<String>) -> Self {
            self.config.base_url = base_url.into();
            self
        }

        $(#[$profile])*
        pub fn profile(mut self, profile: $crate::model::Profile) -> Self {
            self.config.profile = Some(profile);
            self
        }

        /// Looks up the model's capabilities in `capabilities`. Default:
        /// [`CapabilityTable::builtin`](crate::CapabilityTable::builtin).
        pub fn capabilities(mut self, capabilities: $crate::capability::CapabilityTable) -> Self {
            self.config.capabilities = capabilities;
            self
        }

        /// Sets the API key. Default: none, which a provider's own server does not accept.
        pub fn api_key(mut self, key: $crate::secret::ApiKey) -> Self {
            self.config.api_key = Some(key);
            self
        }

        /// Sets the maximum number of retries after transient failures. Default: 2, so 3 attempts in total.
        pub fn retries(mut self, retries: u32) -> Self {
            self.config.retries = retries;
            self
        }

        /// Sets how long requests with [`Settings::batch`](crate::Settings::batch) are collected before they are submitted
        /// together. Default: 5 s.
        ///
        /// Requests of models with the same server, key, extra headers and times are collected together: with Anthropic of all
        /// models, otherwise of one model.
        pub fn batch_window(mut self, time: std::time::Duration) -> Self {
            self.config.pace.collect = time;
            self
        }

        /// Sets the longest time between two looks at a batch. Default: 300 s.
        ///
        /// The first look is after at most 2 s, and the time doubles with each look.
        pub fn batch_interval(mut self, time: std::time::Duration) -> Self {
            self.config.pace.longest_look = time;
            self
        }

        /// Sets the maximum time until the start, and between the pieces, of a streamed answer. Default: 120 s.
        pub fn idle_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.config.timeouts.idle = timeout;
            self
        }

        /// Sets the maximum time until the end of a streamed answer, for each attempt. Default:
        /// 3,600 s.
        ///
        /// It is never shorter than the idle timeout.
        pub fn stream_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.config.timeouts.stream = timeout;
            self
        }

        /// Sets the maximum time until the end of an answer that is not streamed, for each attempt. Default: 600 s.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.config.timeouts.whole = timeout;
            self
        }
    };
}

pub(crate) use config_setters;
