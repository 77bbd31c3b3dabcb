//! What an item declares about where data comes from and goes.

use syn::visit::{self, Visit};
use syn::{PathSegment, Type};

use crate::args::tool::{Reach, Tool};
use crate::args::worker::Worker;
use crate::errors::Errors;

/// What a callee declares about where data comes from and goes, besides its types.
#[derive(Default)]
pub(crate) struct Flow {
    /// Whether its results are private.
    pub(crate) is_private: bool,
    /// Where what it gets may arrive.
    pub(crate) reach: Option<Reach>,
}

impl Flow {
    pub(super) fn of_tool(tool: &Tool) -> Self {
        Self { is_private: tool.private.as_ref().is_some_and(|private| private.value), reach: tool.reach }
    }
}

/// Returns whether a type is written with `Untrusted`.
pub(crate) fn is_untrusted(ty: &Type) -> bool {
    struct Found(bool);
    impl<'ast> Visit<'ast> for Found {
        fn visit_path_segment(&mut self, segment: &'ast PathSegment) {
            self.0 |= segment.ident == "Untrusted";
            visit::visit_path_segment(self, segment);
        }
    }
    let mut found = Found(false);
    found.visit_type(ty);
    found.0
}

/// Adds errors for a blank reason, and for what lets the model of a quarantined worker act.
pub(super) fn check_worker(args: &Worker, errors: &mut Errors) {
    if let Some(reason) = args.flow_reason.as_ref().filter(|reason| reason.value().trim().is_empty()) {
        errors.push(
            reason,
            "`flow_reason` is blank; state why this worker may read untrusted text and private data, and send",
        );
    }
    let Some(quarantined) = args.quarantined.as_ref().filter(|quarantined| quarantined.value) else { return };
    let has_toolsets = args.shared_keys.toolsets.as_ref().is_some_and(|listed| !listed.is_empty());
    let has_code = args.code.as_ref().is_some_and(|code| code.value);
    if has_toolsets || has_code || args.server_side_tools.is_some() {
        errors.push(
            quarantined,
            "a worker with `quarantined = true` has no tools, since it reads untrusted text; remove `toolsets`, `code` \
             and `server_side_tools`",
        );
    }
}
