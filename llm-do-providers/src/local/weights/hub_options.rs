//! What a builder says of the hub, and where its files are kept: all that a file in the cache needs.
//!
//! The variables are those of the hub's own tools:
//! <https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables>.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use etcetera::BaseStrategy;

use super::super::fault;
use super::hub_cache::HubCache;
use crate::error::ProviderError;
use crate::secret::ApiKey;

/// What a builder says of the hub; the environment says the rest.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "local-download"), allow(dead_code, reason = "only the cache is of use without downloads"))]
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

impl HubOptions {
    /// Returns where the hub's files are kept, as the options and the environment say.
    pub(super) fn cache(&self) -> Result<HubCache, ProviderError> {
        self.cache_by(&variable)
    }

    fn cache_by(&self, variable: &impl Fn(&str) -> Option<OsString>) -> Result<HubCache, ProviderError> {
        let root = match self.cache.clone().or_else(|| variable("HF_HUB_CACHE").map(PathBuf::from)) {
            Some(root) => root,
            None => home(variable)?.join("hub"),
        };
        Ok(HubCache::new(root))
    }

    /// Returns who forbids to fetch anything, and what to do about it, if anybody does.
    pub(super) fn ban(&self) -> Option<&'static str> {
        self.ban_by(&variable)
    }

    fn ban_by(&self, variable: &impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
        match self.offline {
            Some(true) => Some("`LocalBuilder::offline` forbids fetching it: leave it out, or say `false`"),
            Some(false) => None,
            None => variable("HF_HUB_OFFLINE")
                .is_some_and(|value| is_true(&value))
                .then_some("`HF_HUB_OFFLINE` forbids fetching it: unset it"),
        }
    }
}

/// Returns a variable of the environment, if it is set and not empty.
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the folder of the hub's tools.
pub(super) fn home(variable: &impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, ProviderError> {
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

/// Whether the hub's tools take a variable's value for a yes.
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
    fn the_cache_is_where_the_hubs_tools_have_it() {
        let cases: [(&[(&str, &str)], &str); 3] = [
            (&[("HF_HUB_CACHE", "/a"), ("HF_HOME", "/b")], "/a"),
            (&[("HF_HOME", "/b"), ("XDG_CACHE_HOME", "/c")], "/b/hub"),
            (&[("XDG_CACHE_HOME", "/c")], "/c/huggingface/hub"),
        ];
        for (variables, wanted) in cases {
            let cache = HubOptions::default().cache_by(&environment(variables)).expect("it is sound");
            assert_eq!(cache.root(), std::path::Path::new(wanted));
        }
    }

    #[test]
    fn a_yes_to_being_offline_is_told_from_a_no() {
        for (value, offline) in [("1", true), ("True", true), ("ON", true), ("0", false), ("no", false)] {
            let ban = HubOptions::default().ban_by(&environment(&[("HF_HUB_OFFLINE", value)]));
            assert_eq!(ban.is_some(), offline, "{value}");
        }
        assert_eq!(HubOptions::default().ban_by(&environment(&[])), None);
    }

    #[test]
    fn a_ban_names_who_said_so() {
        let offline = environment(&[("HF_HUB_OFFLINE", "1")]);
        let ban = |offline_by_builder, environment: &dyn Fn(&str) -> Option<OsString>| {
            HubOptions { offline: offline_by_builder, ..HubOptions::default() }.ban_by(&environment)
        };
        assert!(ban(None, &offline).is_some_and(|text| text.starts_with("`HF_HUB_OFFLINE` forbids")));
        assert!(ban(Some(true), &offline).is_some_and(|text| text.starts_with("`LocalBuilder::offline` forbids")));
        assert_eq!(ban(Some(false), &offline), None);
    }
}
