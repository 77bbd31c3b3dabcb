//! How a provider's server is reached, as variables or a builder say: the same for every provider.

use std::fmt;

use reqwest::Url;

use super::{Endpoint, Patience, origin};
use crate::error::{ErrorKind, ProviderError};
use crate::secret::ApiKey;

/// Where a provider is at home, and the variables that say otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home {
    /// What its models' names begin with, and its name in errors.
    pub(crate) provider: &'static str,
    pub(crate) base_url: &'static str,
    /// The host that takes no request without a key; none where no key is needed.
    pub(crate) locked: Option<&'static str>,
    /// The variable of the base URL.
    pub(crate) url_variable: &'static str,
    /// The variables of the key, of which the first that is set counts.
    pub(crate) key_variables: &'static [&'static str],
}

/// How a server is reached.
#[derive(Clone)]
pub(crate) struct Access {
    pub(crate) base_url: String,
    pub(crate) api_key: Option<ApiKey>,
    pub(crate) patience: Patience,
}

impl fmt::Debug for Access {
    /// Shows of the base URL only what is no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { base_url, api_key, patience } = self;
        let origin = Url::parse(base_url).map(|url| origin(&url)).unwrap_or_default();
        let mut shown = f.debug_struct("Access");
        shown.field("origin", &origin).field("api_key", api_key).field("patience", patience).finish()
    }
}

impl Access {
    /// Reaches a provider at home, without a key.
    pub(crate) fn at(home: &Home) -> Self {
        Self { base_url: home.base_url.to_owned(), api_key: None, patience: Patience::default() }
    }

    /// Takes the base URL and the key from variables, where they are set and not empty.
    ///
    /// # Errors
    ///
    /// Returns an error that names the variable, and not its value, if a key is none.
    pub(crate) fn from_variables(
        home: &Home,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, ProviderError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let mut access = Self::at(home);
        if let Some(url) = set(home.url_variable) {
            access.base_url = url;
        }
        if let Some((name, key)) = home.key_variables.iter().find_map(|name| Some((name, set(name)?))) {
            let key = ApiKey::checked(&key).map_err(|fault| home.refused(format!("`{name}`: {fault}")))?;
            access.api_key = Some(key);
        }
        Ok(access)
    }

    /// Returns the endpoint at `path` below `base`; how it is shown the key is up to the provider.
    ///
    /// # Errors
    ///
    /// Returns an error if `base` is no `http` or `https` URL, or if a key is needed there and missing.
    pub(crate) fn endpoint(
        &self,
        home: &Home,
        protocol: &'static str,
        base: &str,
        path: &str,
    ) -> Result<Endpoint, ProviderError> {
        let mut endpoint = Endpoint::new(home.provider, protocol, base, path)?;
        if self.api_key.is_none() && home.locked.is_some_and(|host| endpoint.is_at(host)) {
            let (key, url) = (home.key_variable(), home.url_variable);
            return Err(home.refused(format!("no key; set `{key}`, or `{url}` to a server without keys")));
        }
        endpoint.key_hint = format!("`{}` or the key given in code", home.key_variable());
        endpoint.idle = self.patience.idle;
        endpoint.stream = self.patience.stream;
        endpoint.whole = self.patience.whole;
        Ok(endpoint)
    }
}

impl Home {
    /// The variable to name where a key is missing.
    fn key_variable(&self) -> &'static str {
        self.key_variables.first().copied().unwrap_or_default()
    }

    fn refused(&self, text: String) -> ProviderError {
        ProviderError::new(self.provider, ErrorKind::Configuration, text)
    }
}

/// Makes the setters of a builder that has an `access`; only what a base URL leads to is each provider's own.
macro_rules! access_setters {
    () => {
        /// Sends `key` along. Default: none, which a provider at home does not accept.
        pub fn api_key(mut self, key: $crate::secret::ApiKey) -> Self {
            self.access.api_key = Some(key);
            self
        }

        /// Tries again up to `retries` times after failures that may pass. Default: 2, so 3 tries in all.
        pub fn retries(mut self, retries: u32) -> Self {
            self.access.patience.retries = retries;
            self
        }

        /// Waits at most this long for the beginning and for each further piece of a streamed answer. Default: 120 s.
        pub fn idle_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.access.patience.idle = timeout;
            self
        }

        /// Waits at most this long for the end of a streamed answer, however often a piece comes, each try anew. Default:
        /// 3,600 s.
        ///
        /// It is never shorter than the wait for one piece.
        pub fn stream_timeout(mut self, timeout: std::time::Duration) -> Self {
            self.access.patience.stream = timeout;
            self
        }

        /// Waits at most this long for an answer that is not streamed, each try anew. Default: 600 s.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self.access.patience.whole = timeout;
            self
        }
    };
}

pub(crate) use access_setters;
