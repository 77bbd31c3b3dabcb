//! Options of a builder for the hub, and the location of its cache.
//!
//! The environment variables are those of the hub's own tools:
//! <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use etcetera::BaseStrategy;

use super::super::fault;
use super::hub_cache::HubCache;
use crate::error::ProviderError;
use crate::secret::ApiKey;

/// The options of a builder; unset ones are read from the environment.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "local-download"), allow(dead_code, reason = "without downloads only the cache is used"))]
pub(in super::super) struct HubOptions {
    pub(in super::super) cache: Option<PathBuf>,
    pub(in super::super) endpoint: Option<String>,
    pub(in super::super) token: Option<ApiKey>,
    /// Whether the tokens of the environment are ignored.
    pub(in super::super) is_anonymous: bool,
    pub(in super::super) offline: Option<bool>,
    pub(in super::super) retries: Option<u32>,
    pub(in super::super) idle: Option<Duration>,
}

impl HubOptions {
    /// Returns the cache directory from the options and the environment.
    pub(super) fn cache(&self) -> Result<HubCache, ProviderError> {
        self.cache_by(&variable)
    }

    fn cache_by(&self, variable: &impl Fn(&str) -> Option<OsString>) -> Result<HubCache, ProviderError> {
        let root = match self.cache.clone().or_else(|| variable("HF_HUB_CACHE").map(PathBuf::from)) {
            Some(root) => root,
            None => hf_home(variable)?.join("hub"),
        };
        Ok(HubCache::new(root))
    }

    /// Returns which setting disables downloads and how to change it, if any does.
    pub(super) fn offline_reason(&self) -> Option<&'static str> {
        self.offline_reason_by(&variable)
    }

    fn offline_reason_by(&self, variable: &impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
        match self.offline {
            Some(true) => Some("remove `LocalBuilder::offline` or set it to `false`"),
            Some(false) => None,
            None => variable("HF_HUB_OFFLINE").is_some_and(|value| is_true(&value)).then_some("unset `HF_HUB_OFFLINE`"),
        }
    }
}

/// Returns an environment variable, if it is set and not empty.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the directory of the hub's tools.
pub(super) fn hf_home(variable: &impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, ProviderError> {
    if let Some(home) = variable("HF_HOME") {
        return Ok(home.into());
    }
    let folders = etcetera::base_strategy::Xdg::new().map_err(|source| {
        let text = "cannot find the home directory of this user; set `HF_HOME` to a directory for the hub's files";
        fault::configuration(text).with_source(source)
    })?;
    let caches = variable("XDG_CACHE_HOME").map_or_else(|| folders.cache_dir(), PathBuf::from);
    Ok(caches.join("huggingface"))
}

/// Returns whether the hub's tools treat a value as true.
fn is_true(value: &OsString) -> bool {
    ["1", "on", "yes", "true"].iter().any(|yes| value.eq_ignore_ascii_case(yes))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::HubOptions;

    fn environment(variables: &[(&str, &str)]) -> impl Fn(&str) -> Option<OsString> {
        |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(*value))
        }
    }

    #[test]
    fn the_cache_is_that_of_the_hubs_tools() {
        let cases: [(&[(&str, &str)], &str); 3] = [
            (&[("HF_HUB_CACHE", "/a"), ("HF_HOME", "/b")], "/a"),
            (&[("HF_HOME", "/b"), ("XDG_CACHE_HOME", "/c")], "/b/hub"),
            (&[("XDG_CACHE_HOME", "/c")], "/c/huggingface/hub"),
        ];
        for (variables, wanted) in cases {
            let cache = HubOptions::default().cache_by(&environment(variables)).expect("the environment is valid");
            assert_eq!(cache.root(), std::path::Path::new(wanted));
        }
    }

    #[test]
    fn offline_is_parsed_as_a_boolean() {
        for (value, offline) in [("1", true), ("True", true), ("ON", true), ("0", false), ("no", false)] {
            let reason = HubOptions::default().offline_reason_by(&environment(&[("HF_HUB_OFFLINE", value)]));
            assert_eq!(reason.is_some(), offline, "{value}");
        }
        assert_eq!(HubOptions::default().offline_reason_by(&environment(&[])), None);
    }

    #[test]
    fn the_offline_reason_names_the_setting() {
        let offline = environment(&[("HF_HUB_OFFLINE", "1")]);
        let reason = |offline_by_builder, environment: &dyn Fn(&str) -> Option<OsString>| {
            HubOptions { offline: offline_by_builder, ..HubOptions::default() }.offline_reason_by(&environment)
        };
        assert!(reason(None, &offline).is_some_and(|text| text == "unset `HF_HUB_OFFLINE`"));
        assert!(reason(Some(true), &offline).is_some_and(|text| text.starts_with("remove `LocalBuilder::offline`")));
        assert_eq!(reason(Some(false), &offline), None);
    }
}
