//! The environment of a call: an approval for one folder, server or sandbox does not hold for a different one.

use std::path::{Path, absolute};

use serde_json::json;

use super::super::Run;
use crate::plane::approval::EnvironmentDigest;
use crate::plane::context::CallContext;
use crate::plane::definition::EnvironmentDef;
use crate::plane::registry::Registered;

impl Run {
    /// Returns the digest of the environment of a call: the project's root, the working directory, the MCP server with
    /// its definition of the tool, and settings such as those of a sandbox.
    ///
    /// `tool` is `None` for a server-side tool.
    pub(in crate::plane::dispatch) fn environment(
        &self,
        ctx: &CallContext,
        tool: Option<&Registered>,
    ) -> EnvironmentDigest {
        let folders = self.folders.get_or_init(|| [resolved(self.run_project_root()), self.working_directory()]);
        let settings = tool.and_then(|tool| settings_of(ctx, tool));
        let server = tool.and_then(Registered::server);
        EnvironmentDigest::new(&json!([folders, server, settings]).to_string())
    }

    #[cfg(feature = "filesystem")]
    fn working_directory(&self) -> String {
        resolved(self.run_working_folder())
    }

    #[cfg(not(feature = "filesystem"))]
    #[expect(clippy::unused_self, reason = "with the feature, it is a setting")]
    fn working_directory(&self) -> String {
        resolved(Path::new("."))
    }
}

/// Returns the settings that calls of a tool depend on, if any.
fn settings_of(ctx: &CallContext, tool: &Registered) -> Option<String> {
    let mut defs = inventory::iter::<EnvironmentDef>.into_iter();
    let def = defs.find(|def| tool.names().any(|name| def.tools.contains(&name)))?;
    Some((def.describe)(ctx))
}

/// Resolves the symbolic links of a folder, as far as it exists.
fn resolved(folder: &Path) -> String {
    let found = folder.canonicalize().or_else(|_| absolute(folder));
    found.as_deref().unwrap_or(folder).to_string_lossy().into_owned()
}
