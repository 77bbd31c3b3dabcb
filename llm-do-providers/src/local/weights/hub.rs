//! The hub as it is set up: where its files are kept, who sends them, and whether they may be asked for.
//!
//! The variables are those of the hub's own tools:
//! <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use etcetera::BaseStrategy;

use super::super::fault;
use super::hub_cache::HubCache;
use crate::error::ProviderError;
use crate::secret::ApiKey;

/// The hub unless a variable or the builder says another.
const HOME: &str = "https://huggingface.co";

/// What a builder says of the hub; the environment says the rest.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct HubOptions {
    pub(in super::super) cache: Option<PathBuf>,
    pub(in super::super) endpoint: Option<String>,
    pub(in super::super) token: Option<ApiKey>,
    /// Whether no token is looked for.
    pub(in super::super) is_anonymous: bool,
    pub(in super::super) offline: Option<bool>,
    pub(in super::super) retries: Option<u32>,
    pub(in super::super) idle: Option<Duration>,
}

/// The hub as it is set up.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "local-download"), allow(dead_code, reason = "only the cache is of use without downloads"))]
pub(super) struct Hub {
    pub(super) cache: HubCache,
    pub(super) endpoint: String,
    pub(super) token: Option<ApiKey>,
    pub(super) offline: bool,
    pub(super) retries: u32,
    pub(super) idle: Duration,
}

impl Hub {
    /// Returns the hub as `options` and the environment say.
    pub(super) fn new(options: &HubOptions) -> Result<Self, ProviderError> {
        Self::read(options, |name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn read(options: &HubOptions, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ProviderError> {
        let cache = match options.cache.clone().or_else(|| variable("HF_HUB_CACHE").map(PathBuf::from)) {
            Some(cache) => cache,
            None => home(&variable)?.join("hub"),
        };
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
            cache: HubCache::new(cache),
            endpoint: endpoint.unwrap_or_else(|| HOME.to_owned()),
            token,
            offline: options.offline.unwrap_or_else(|| variable("HF_HUB_OFFLINE").is_some_and(|value| is_true(&value))),
            retries: options.retries.unwrap_or(4),
            idle: options.idle.unwrap_or(Duration::from_secs(60)),
        })
    }
}

/// Returns the folder of the hub's tools.
fn home(variable: &impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, ProviderError> {
    if let Some(home) = variable("HF_HOME") {
        return Ok(home.into());
    }
    let folders = etcetera::base_strategy::Xdg::new().map_err(|source| {
        let text = "this user has no home folder; set `HF_HOME` to a folder for the hub's files";
        fault::configuration(text).with_source(source)
    })?;
    let caches = variable("XDG_CACHE_HOME").map_or_else(|| folders.cache_dir(), PathBuf::from);
    Ok(caches.join("huggingface"))
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

/// Whether the hub's tools take a variable's value for a yes.
fn is_true(value: &OsString) -> bool {
    ["1", "on", "yes", "true"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Hub, HubOptions};

    fn hub(variables: &[(&str, &str)]) -> Hub {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(*value))
        };
        Hub::read(&HubOptions::default(), variable).expect("it is sound")
    }

    #[test]
    fn the_cache_is_where_the_hubs_tools_have_it() {
        let root = |variables: &[(&str, &str)]| hub(variables).cache.root().to_owned();
        let cases: [(&[(&str, &str)], &str); 3] = [
            (&[("HF_HUB_CACHE", "/a"), ("HF_HOME", "/b")], "/a"),
            (&[("HF_HOME", "/b"), ("XDG_CACHE_HOME", "/c")], "/b/hub"),
            (&[("XDG_CACHE_HOME", "/c")], "/c/huggingface/hub"),
        ];
        for (variables, wanted) in cases {
            assert_eq!(root(variables), std::path::Path::new(wanted));
        }
    }

    #[test]
    fn a_yes_to_being_offline_is_told_from_a_no() {
        for (value, offline) in [("1", true), ("True", true), ("ON", true), ("0", false), ("no", false)] {
            assert_eq!(hub(&[("HF_HUB_OFFLINE", value), ("HF_HOME", "/b")]).offline, offline, "{value}");
        }
        assert!(!hub(&[("HF_HOME", "/b")]).offline);
    }

    #[test]
    fn a_token_that_no_header_can_carry_is_refused_without_showing_it() {
        let variable = |name: &str| (name == "HF_TOKEN").then(|| OsString::from("hf_se cret"));
        let error = Hub::read(&HubOptions::default(), variable).expect_err("it has a space");
        assert!(error.to_string().contains("the hub's token in `HF_TOKEN` is none"), "{error}");
        assert!(!error.to_string().contains("hf_se"), "{error}");
    }
}
