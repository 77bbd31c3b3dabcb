//! The settings that calls of some tools depend on besides their arguments.

use crate::plane::context::CallContext;

/// Describes the settings on which the calls of some tools act: an approval holds for these settings only.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentDef {
    /// The registered names.
    #[doc(hidden)]
    pub tools: &'static [&'static str],
    /// Returns the settings as text; called for calls that need approval.
    #[doc(hidden)]
    pub describe: fn(&CallContext) -> String,
}

inventory::collect!(EnvironmentDef);
