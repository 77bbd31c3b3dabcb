//! Warnings about settings that were changed or not sent.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A warning about a setting that was changed or not sent, because the model or its server does not accept it.
///
/// # Examples
///
/// ```
/// # mod llm_do { pub use llm_do_providers as model; }
/// use llm_do::model::SettingWarning;
/// let warning = SettingWarning::new("seed", "not sent: the API has no field for it");
/// assert_eq!(warning.to_string(), "`seed` not sent: the API has no field for it");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SettingWarning {
    /// The setting: the name of its field in [`Settings`](crate::Settings), such as `temperature`.
    pub setting: String,
    /// What was sent instead, if anything, and why.
    pub message: String,
}

impl SettingWarning {
    /// Creates a warning about `setting`.
    #[must_use]
    pub fn new(setting: impl Into<String>, message: impl Into<String>) -> Self {
        Self { setting: setting.into(), message: message.into() }
    }
}

impl fmt::Display for SettingWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.setting, self.message)
    }
}
