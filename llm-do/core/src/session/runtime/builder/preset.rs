//! The settings that a user may change for one run.

use std::num::NonZeroUsize;

use super::RuntimeBuilder;
use crate::base::usage::Limits;
use crate::plane::approval::{ApprovalMode, FlowMode};

/// Settings of a builder.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Preset {
    /// The model of workers that declare none.
    pub model: Option<String>,
    pub approval_mode: ApprovalMode,
    /// How strict the rule about where values came from is, if that was set.
    pub flow: Option<FlowMode>,
    pub end_on_denial: bool,
    pub max_depth: u32,
    pub max_concurrent_calls: NonZeroUsize,
    pub limits: Limits,
    pub content: bool,
}

impl RuntimeBuilder {
    /// Returns the settings that were set so far.
    #[doc(hidden)]
    #[must_use]
    pub fn preset(&self) -> Preset {
        let model = self.model.as_ref().map(|model| model.name.clone());
        Preset {
            model: model.or_else(|| self.default_model.clone()),
            approval_mode: self.mode.unwrap_or_default(),
            flow: self.flow,
            end_on_denial: self.config.end_on_denial,
            max_depth: self.config.max_depth,
            max_concurrent_calls: self.config.max_concurrent_calls,
            limits: self.config.limits.as_deref().cloned().unwrap_or_default(),
            content: self.config.content,
        }
    }
}
