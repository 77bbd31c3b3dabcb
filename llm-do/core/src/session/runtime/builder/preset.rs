//! The settings that a user may change for one run.

use super::RuntimeBuilder;
use crate::base::usage::Limits;
use crate::plane::approval::ApprovalMode;

/// Settings of a builder.
#[derive(Clone, Debug)]
pub(crate) struct Preset {
    /// The model of workers that declare none.
    pub(crate) model: Option<String>,
    pub(crate) approval_mode: ApprovalMode,
    pub(crate) end_on_denial: bool,
    pub(crate) max_depth: u32,
    pub(crate) limits: Limits,
    pub(crate) content: bool,
}

impl RuntimeBuilder {
    /// Returns the settings that were set so far.
    pub(crate) fn preset(&self) -> Preset {
        let model = self.model.as_ref().map(|model| model.name.clone());
        Preset {
            model: model.or_else(|| self.default_model.clone()),
            approval_mode: self.mode.unwrap_or_default(),
            end_on_denial: self.config.end_on_denial,
            max_depth: self.config.max_depth,
            limits: self.config.limits.as_deref().cloned().unwrap_or_default(),
            content: self.config.content,
        }
    }
}
