//! The facts about a call that the function of a policy receives.

use std::sync::LazyLock;

use serde_json::Value;

use crate::declare::tool::Effect;
use crate::observe::event::{Caller, ItemKind};
use crate::plane::origin::Origins;

/// A call that the function of [`Policy::decide_with`](super::Policy::decide_with) decides about.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ProposedCall<'a> {
    /// The registered name of the callee.
    pub tool: &'a str,
    /// Whether the callee is a tool, a worker or an entry.
    pub kind: ItemKind,
    /// The possible effect of the call.
    pub effect: Effect,
    /// The decoded arguments: valid for the schema, defaults filled in.
    pub arguments: &'a Value,
    /// The arguments as the caller gave them, if they contain more than `arguments`: see
    /// [`ApprovalRequest::given`](crate::plane::approval::ApprovalRequest::given). A rule about values must check both.
    pub given: Option<&'a Value>,
    /// The name of the calling tool, worker or entry.
    pub caller: &'a str,
    /// Whether code or a model calls.
    pub by: Caller,
    /// Whether the callee is a server-side tool, which the model's provider runs: `arguments` are then its options, and
    /// `caller` is the worker that lists it.
    pub is_server_side: bool,
    /// What the call was made from: the user's request, what the caller has read, and where each value of the arguments came from.
    pub origins: &'a Origins,
}

/// The origins of a call for tests.
static UNKNOWN: LazyLock<Origins> = LazyLock::new(Origins::default);

impl<'a> ProposedCall<'a> {
    /// Creates a call for tests of a function: made by a model, of a tool that declares no effect.
    #[must_use]
    pub fn new(tool: &'a str, arguments: &'a Value) -> Self {
        let effect = Effect::Undeclared;
        let by = Caller::Model;
        let (kind, origins) = (ItemKind::Tool, &*UNKNOWN);
        Self { tool, kind, effect, arguments, given: None, caller: "", by, is_server_side: false, origins }
    }
}
