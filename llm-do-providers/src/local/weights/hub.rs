//! The configuration of the hub: endpoint, token and retries.
//!
//! The environment variables are those of the hub's own tools:
//! <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::super::fault;
use super::hub_cache::HubCache;
use super::hub_options::{HubOptions, hf_home, variable};
use crate::error::ProviderError;
use crate::secret::ApiKey;

/// The default endpoint.
const DEFAULT_ENDPOINT: &str = "https://huggingface.co";

/// The configuration of the hub.
#[derive(Clone, Debug)]
pub(super) struct Hub {
    pub(super) cache: HubCache,
    pub(super) endpoint: String,
    pub(super) token: Option<ApiKey>,
    pub(super) retries: u32,
    pub(super) idle: Duration,
}

impl Hub {
    /// Builds the configuration from `options` and the environment; files are kept in `cache`.
    ///
    /// Only downloads need it: an invalid token or endpoint does not affect cached files.
    pub(super) fn new(cache: HubCache, options: &HubOptions) -> Result<Self, ProviderError> {
        Self::read(cache, options, variable)
    }

    fn read(
        cache: HubCache,
        options: &HubOptions,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, ProviderError> {
        let endpoint = options.endpoint.clone().or_else(|| variable("HF_ENDPOINT")?.into_string().ok());
        if endpoint.as_ref().is_some_and(|endpoint| endpoint.contains('@')) {
            let text = "the hub's URL must not contain a user name or password, since errors would show them; set `HF_TOKEN` instead";
            return Err(fault::configuration(text));
        }
        let token = match options.token.clone() {
            Some(token) => Some(token),
            None if options.is_anonymous => None,
            None => token(&variable, hf_home(&variable).ok())?,
        };
        Ok(Self {
            cache,
            endpoint: endpoint.unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()),
            token,
            retries: options.retries.unwrap_or(4),
            idle: options.idle.unwrap_or(Duration::from_secs(60)),
        })
    }
}

/// Returns the token of the environment, or of the file where the hub's tools save it.
fn token(variable: &impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Result<Option<ApiKey>, ProviderError> {
    if let Some(text) = variable("HF_TOKEN") {
        return parse_token(&text.to_string_lossy(), "HF_TOKEN");
    }
    let file = variable("HF_TOKEN_PATH").map(PathBuf::from).or_else(|| home.map(|home| home.join("token")));
    // The file is optional.
    let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    parse_token(&text, &file.unwrap_or_default().to_string_lossy())
}

/// Parses the token `text` from `source`; `None` if it is empty.
fn parse_token(text: &str, source: &str) -> Result<Option<ApiKey>, ProviderError> {
    match text.trim() {
        "" => Ok(None),
        text => ApiKey::checked(text)
            .map(Some)
            .map_err(|fault| fault::configuration(format!("invalid hub token in `{source}`: {fault}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Hub, HubCache, HubOptions};

    #[test]
    fn a_token_that_is_an_invalid_header_is_rejected_without_showing_it() {
        let variable = |name: &str| (name == "HF_TOKEN").then(|| OsString::from("hf_se cret"));
        let error =
            Hub::read(HubCache::new("/a".into()), &HubOptions::default(), variable).expect_err("it has a space");
        assert!(error.to_string().contains("invalid hub token in `HF_TOKEN`"), "{error}");
        assert!(!error.to_string().contains("hf_se"), "{error}");
    }
}
