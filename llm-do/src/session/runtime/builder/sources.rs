//! Tools of sources that are asked when the runtime is built.

#[cfg(feature = "mcp")]
use std::collections::HashSet;
#[cfg(feature = "mcp")]
use std::sync::Arc;

#[cfg(feature = "mcp")]
use llm_do_worker_file::mcp_tool_name;

use super::RuntimeBuilder;
#[cfg(feature = "mcp")]
use super::items::caller;
#[cfg(feature = "mcp")]
use crate::plane::function_tool::FunctionTool;
#[cfg(feature = "mcp")]
use crate::plane::registry::foreign_tool_name;
use crate::plane::registry::{Contents, Group, LeftOut, Origin};
#[cfg(all(feature = "cli", feature = "mcp"))]
use crate::plane::tool_source::Listing;
use crate::plane::tool_source::{LoadedTools, ToolSource};
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

    /// Asks the sources for all that they list, instead of adding their tools; sources of other programs' files that cannot be used are
    /// left out.
    #[cfg(all(feature = "cli", feature = "mcp"))]
    pub(crate) fn load_listings(&mut self) -> Result<(Vec<Listing>, Vec<LeftOut>), BuildError> {
        self.sources.iter().for_each(|(source, _)| source.begin(&self.config.project_root));
        let (mut listings, mut left_out, mut faults) = (Vec::new(), Vec::new(), Vec::new());
        for (source, origin) in std::mem::take(&mut self.sources) {
            match source.load() {
                Ok(loaded) => listings.push(loaded.listing),
                Err(fault) if origin.is_external() => left_out.push(unusable(&*source, &origin, &fault)),
                Err(fault) => faults.push(format!("{fault} ({origin})")),
            }
        }
        if faults.is_empty() { Ok((listings, left_out)) } else { Err(BuildError::Sources(faults)) }
    }

    /// Adds the tools of the sources; returns the faults of those that cannot be used.
    ///
    /// A source of another program's file is left out with a warning, and an error only where something names it.
    pub(super) fn load_sources(&mut self, contents: &mut Contents) -> Vec<String> {
        // Concurrently: all begin before the first is waited for.
        self.sources.iter().for_each(|(source, _)| source.begin(&self.config.project_root));
        let mut faults = Vec::new();
        let (foreign, own): (Vec<_>, Vec<_>) = self.sources.iter().partition(|(_, origin)| origin.is_external());
        for (source, origin) in own.into_iter().chain(foreign) {
            let is_taken = || contents.groups.iter().any(|group| *group.name == *source.toolset());
            let loaded = match source.load() {
                Ok(_) if origin.is_external() && is_taken() => Err("another MCP server has its name".to_owned()),
                loaded => loaded,
            };
            match loaded {
                Ok(loaded) => add(loaded, origin, contents, &mut self.warnings),
                Err(fault) if origin.is_external() => {
                    let left_out = unusable(&**source, origin, &fault);
                    self.warnings.push(left_out.reason.clone());
                    contents.left_out.push(left_out);
                }
                Err(fault) => faults.push(format!("{fault} ({origin})")),
            }
        }
        faults
    }
}

/// Returns what is left out with a source that cannot be used.
fn unusable(source: &dyn ToolSource, origin: &Origin, fault: &str) -> LeftOut {
    LeftOut { names: vec![source.toolset()], reason: format!("{origin}: left out: {fault}"), is_fault: true }
}

fn add(loaded: LoadedTools, origin: &Origin, contents: &mut Contents, warnings: &mut Vec<String>) {
    #[cfg(feature = "mcp")]
    let foreign = foreign(&loaded);
    #[cfg(not(feature = "mcp"))]
    let foreign = Vec::new();
    let LoadedTools { toolset, description, tools, own, warnings: left_out, .. } = loaded;
    warnings.extend(left_out);
    let names = tools.iter().map(|tool| tool.name().into()).collect();
    contents.groups.push(Group { name: toolset.into(), description, tools: names, foreign, origin: origin.clone() });
    contents.tools.extend(tools.into_iter().chain(own).map(|tool| (tool, origin.clone())));
}

/// Returns the names of a server and of its tools in the files of other programs, with the registered names.
#[cfg(feature = "mcp")]
fn foreign(loaded: &LoadedTools) -> Vec<(String, Arc<str>)> {
    let server = loaded.listing.source.as_str();
    let tools = loaded.listing.tools.iter().filter_map(|tool| tool["name"].as_str());
    let tools = tools.map(|tool| (foreign_tool_name(&[server, tool]), mcp_tool_name(server, tool)));
    let used: HashSet<_> = loaded.tools.iter().map(FunctionTool::name).collect();
    let tools = tools.filter(|(_, own)| used.contains(own.as_str())).map(|(foreign, own)| (foreign, own.into()));
    [(foreign_tool_name(&[server]), loaded.toolset.as_str().into())].into_iter().chain(tools).collect()
}
