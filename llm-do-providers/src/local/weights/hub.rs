//! The hub as it is set up to fetch from: who sends its files, and what shows that one may have them.
//!
//! The variables are those of the hub's own tools:
//! <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use super::super::fault;
use super::hub_cache::HubCache;
use super::hub_options::{HubOptions, home, variable};
use crate::error::ProviderError;
use crate::secret::ApiKey;

/// The hub unless a variable or the builder says another.
const HOME: &str = "https://huggingface.co";

/// The hub as it is set up.
#[derive(Clone, Debug)]
pub(super) struct Hub {
    pub(super) cache: HubCache,
    pub(super) endpoint: String,
    pub(super) token: Option<ApiKey>,
    pub(super) retries: u32,
    pub(super) idle: Duration,
}

impl Hub {
    /// Returns the hub whose files are kept in `cache`, as `options` and the environment say.
    ///
    /// Only what is to be fetched needs it: a token or an address that is none keeps nobody from what is in the cache.
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
            let text = "the hub's address may hold no user and no password, which errors would show; set `HF_TOKEN`";
            return Err(fault::configuration(text));
        }
        let token = match options.token.clone() {
            Some(token) => Some(token),
            None if options.is_anonymous => None,
            None => token(&variable, home(&variable).ok())?,
        };
        Ok(Self {
            cache,
            endpoint: endpoint.unwrap_or_else(|| HOME.to_owned()),
            token,
            retries: options.retries.unwrap_or(4),
            idle: options.idle.unwrap_or(Duration::from_secs(60)),
        })
    }
}

/// Returns the user's token: of the environment, or of the file that the hub's tools keep it in.
fn token(variable: &impl Fn(&str) -> Option<OsString>, home: Option<PathBuf>) -> Result<Option<ApiKey>, ProviderError> {
    if let Some(text) = variable("HF_TOKEN") {
        return checked(&text.to_string_lossy(), "HF_TOKEN");
    }
    let file = variable("HF_TOKEN_PATH").map(PathBuf::from).or_else(|| home.map(|home| home.join("token")));
    // Most users have no such file, and need none.
    let text = file.as_ref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
    checked(&text, &file.unwrap_or_default().to_string_lossy())
}

/// Returns the token that `text` of `place` is, if it is any.
fn checked(text: &str, place: &str) -> Result<Option<ApiKey>, ProviderError> {
    match text.trim() {
        "" => Ok(None),
        text => ApiKey::checked(text)
            .map(Some)
            .map_err(|fault| fault::configuration(format!("the hub's token in `{place}` is none: {fault}"))),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Hub, HubCache, HubOptions};

    #[test]
    fn a_token_that_no_header_can_carry_is_refused_without_showing_it() {
        let variable = |name: &str| (name == "HF_TOKEN").then(|| OsString::from("hf_se cret"));
        let error =
            Hub::read(HubCache::new("/a".into()), &HubOptions::default(), variable).expect_err("it has a space");
        assert!(error.to_string().contains("the hub's token in `HF_TOKEN` is none"), "{error}");
        assert!(!error.to_string().contains("hf_se"), "{error}");
    }
}
