//! Tools of sources that are asked when the runtime is built.

#[cfg(feature = "mcp")]
use std::sync::Arc;

use super::RuntimeBuilder;
#[cfg(feature = "mcp")]
use super::items::caller;
use crate::plane::registry::{Contents, Group, Origin};
#[cfg(all(feature = "cli", feature = "mcp"))]
use crate::plane::tool_source::Listing;
use crate::plane::tool_source::LoadedTools;
#[cfg(feature = "mcp")]
use crate::plane::tool_source::ToolSource;
#[cfg(all(feature = "cli", feature = "mcp"))]
use crate::session::runtime::BuildError;

impl RuntimeBuilder {
    /// Adds a source of tools, which is asked when the runtime is built.
    #[cfg(feature = "mcp")]
    #[track_caller]
    pub(crate) fn tool_source(self, source: impl ToolSource + 'static) -> Self {
        self.tool_source_from(source, caller())
    }

    /// Adds a source of tools of this origin.
    #[cfg(feature = "mcp")]
    pub(crate) fn tool_source_from(mut self, source: impl ToolSource + 'static, origin: Origin) -> Self {
        self.sources.push((Arc::new(source), origin));
        self
    }

    /// Returns what the sources left out, and the rules of the policy that approve nothing, once the items are collected.
    #[cfg(feature = "cli")]
    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Asks the sources for all that they list, instead of adding their tools.
    #[cfg(all(feature = "cli", feature = "mcp"))]
    pub(crate) fn load_listings(&mut self) -> Result<Vec<Listing>, BuildError> {
        self.sources.iter().for_each(|(source, _)| source.begin(&self.config.project_root));
        let (mut listings, mut faults) = (Vec::new(), Vec::new());
        for (source, origin) in std::mem::take(&mut self.sources) {
            match source.load() {
                Ok(loaded) => listings.push(loaded.listing),
                Err(fault) => faults.push(format!("{fault} ({origin})")),
            }
        }
        if faults.is_empty() { Ok(listings) } else { Err(BuildError::Sources(faults)) }
    }

    /// Adds the tools of the sources; returns the faults of those that cannot be used.
    pub(super) fn load_sources(&mut self, contents: &mut Contents) -> Vec<String> {
        // Concurrently: all begin before the first is waited for.
        self.sources.iter().for_each(|(source, _)| source.begin(&self.config.project_root));
        let mut faults = Vec::new();
        for (source, origin) in &self.sources {
            match source.load() {
                Ok(loaded) => add(loaded, origin, contents, &mut self.warnings),
                Err(fault) => faults.push(format!("{fault} ({origin})")),
            }
        }
        faults
    }
}

fn add(loaded: LoadedTools, origin: &Origin, contents: &mut Contents, warnings: &mut Vec<String>) {
    let LoadedTools { toolset, description, tools, own, warnings: left_out, .. } = loaded;
    warnings.extend(left_out);
    let names = tools.iter().map(|tool| tool.name().into()).collect();
    contents.groups.push(Group { name: toolset.into(), description, tools: names, origin: origin.clone() });
    contents.tools.extend(tools.into_iter().chain(own).map(|tool| (tool, origin.clone())));
}
