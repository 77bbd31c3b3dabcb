//! The setting for calls with an unknown outcome.

use serde::{Deserialize, Serialize};

/// What happens to a call that began before and has an unknown outcome, such as after its process died in it.
///
/// It is set for a tool by [`#[tool(on_unknown = ..)]`](macro@llm_do_macros::tool) or
/// [`FunctionTool::on_unknown`](crate::plane::function_tool::FunctionTool::on_unknown), for the members of a toolset by
/// [`toolset!`](macro@llm_do_macros::toolset), for a tool or a toolset by a [policy](crate::plane::approval::Policy::on_unknown), and for all other tools by
/// [`RuntimeBuilder::on_unknown`](crate::session::runtime::RuntimeBuilder::on_unknown). Calls that are `read_only` or `idempotent` run again in
/// any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnUnknown {
    /// The approver is asked what happened. Without an approver, the call is reported, as by [`Report`](Self::Report).
    #[default]
    Ask,
    /// The call fails with [`OutcomeUnknown`](crate::base::error::CallError::OutcomeUnknown), which code and models may handle.
    Report,
    /// The call is repeated, once the rules approve it like a first call. For tools that pass their [idempotency
    /// key](crate::plane::context::CallContext::idempotency_key) to a service.
    Rerun,
}

impl OnUnknown {
    /// Returns its name in JSON.
    #[doc(hidden)]
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Report => "report",
            Self::Rerun => "rerun",
        }
    }

    /// Returns the rank by caution: of several settings, the highest applies.
    pub(crate) fn caution(self) -> u8 {
        match self {
            Self::Rerun => 0,
            Self::Report => 1,
            Self::Ask => 2,
        }
    }
}
