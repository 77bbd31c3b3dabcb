//! The settings that calls of some tools depend on besides their arguments.

use crate::plane::context::CallContext;

/// Describes the settings on which the calls of some tools act: an approval holds for these settings only.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EnvironmentDef {
    /// The registered names.
    pub(crate) tools: &'static [&'static str],
    /// Returns the settings as text; called for calls that need approval.
    pub(crate) describe: fn(&CallContext) -> String,
}

inventory::collect!(EnvironmentDef);
