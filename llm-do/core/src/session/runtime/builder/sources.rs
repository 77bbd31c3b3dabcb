//! Sources of tools, which are queried when the runtime is built.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::RuntimeBuilder;
use super::items::caller;
use crate::plane::registry::{Contents, Group, LeftOut, Origin, foreign_tool_name, is_of};
use crate::plane::tool_source::Listing;
use crate::plane::tool_source::{LoadedTools, ToolSource};
use crate::session::runtime::BuildError;

/// Runs an operation that takes long, and shows the reason of the wait.
pub(crate) type WaitNotice = fn(&str, &mut dyn FnMut());

impl RuntimeBuilder {
    /// Adds a source of tools, which is queried when the runtime is built.
    #[doc(hidden)]
    #[track_caller]
    pub fn tool_source(self, source: impl ToolSource + 'static) -> Self {
        self.tool_source_from(source, caller())
    }

    /// Adds a source of tools with an origin.
    #[doc(hidden)]
    pub fn tool_source_from(mut self, source: impl ToolSource + 'static, origin: Origin) -> Self {
        self.sources.push((Arc::new(source), origin));
        self
    }

    /// Returns the warnings of the sources, and the rules of the policy that approve nothing, once the items are
    /// collected.
    #[doc(hidden)]
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Queries the full listings of the sources, instead of adding their tools; unusable sources from other programs'
    /// files are left out.
    #[doc(hidden)]
    pub fn load_listings(&mut self) -> Result<(Vec<Listing>, Vec<LeftOut>), BuildError> {
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

    /// Limits the sources of files to those that runs of these items can need; other tools are missing. Default: all.
    #[doc(hidden)]
    pub fn for_runs_of(&mut self, roots: impl IntoIterator<Item: Into<String>>) {
        self.roots = Some(roots.into_iter().map(Into::into).collect());
    }

    /// Sets the function that shows the wait for a source. Default: none.
    #[doc(hidden)]
    pub fn wait_notice(&mut self, notice: WaitNotice) {
        self.wait_notice = Some(notice);
    }

    /// Adds the tools of the sources; returns the faults of those that cannot be used.
    ///
    /// An unusable source from another program's file is left out with a warning; it is an error only where an item
    /// names it.
    pub(super) fn load_sources(&mut self, contents: &mut Contents) -> Vec<String> {
        let reached = self.roots.as_deref().and_then(|roots| contents.reached_from(roots));
        let (needed, others): (Vec<_>, Vec<_>) =
            self.sources.iter().partition(|(source, origin)| is_needed(source.as_ref(), origin, reached.as_ref()));
        // All queries begin before the first is awaited, so that they run concurrently.
        for (source, _) in &needed {
            source.begin(&self.config.project_root);
        }
        let mut faults = Vec::new();
        let (foreign, own): (Vec<_>, Vec<_>) = needed.into_iter().partition(|(_, origin)| origin.is_external());
        for (source, origin) in own.into_iter().chain(foreign) {
            let is_taken = || contents.groups.iter().any(|group| *group.name == *source.toolset());
            let loaded = match load(source.as_ref(), self.wait_notice) {
                Ok(_) if origin.is_external() && is_taken() => Err("another MCP server has its name".to_owned()),
                loaded => loaded,
            };
            match loaded {
                Ok(loaded) => add(loaded, origin, contents, &mut self.warnings),
                Err(fault) if source.is_optional() => {
                    self.warnings.push(format!("{fault} ({origin}); it is optional, so its tools are missing"));
                    contents.groups.push(absent(source.as_ref(), origin));
                }
                Err(fault) if origin.is_external() => {
                    let left_out = unusable(&**source, origin, &fault);
                    self.warnings.push(left_out.reason.clone());
                    contents.left_out.push(left_out);
                }
                Err(fault) => faults.push(format!("{fault} ({origin})")),
            }
        }
        contents.groups.extend(others.into_iter().map(|(source, origin)| absent(source.as_ref(), origin)));
        faults
    }
}

/// Returns whether a source is queried. A source from a file is queried only if a run can need it.
fn is_needed(source: &dyn ToolSource, origin: &Origin, reached: Option<&BTreeSet<String>>) -> bool {
    let (Origin::File(_), Some(reached)) = (origin, reached) else { return true };
    let (own, foreign) = (source.toolset(), foreign_tool_name(&[source.name()]));
    reached.iter().any(|name| is_of(name, &own) || is_of(name, &foreign))
}

/// Waits for the tools of a source.
fn load(source: &dyn ToolSource, notice: Option<WaitNotice>) -> Result<LoadedTools, String> {
    let (Some(notice), Some(what)) = (notice, source.waits_for()) else { return source.load() };
    let mut loaded = None;
    notice(&what, &mut || loaded = Some(source.load()));
    loaded.unwrap_or_else(|| source.load())
}

/// Returns the toolset of a source whose tools are unknown.
fn absent(source: &dyn ToolSource, origin: &Origin) -> Group {
    let name: Arc<str> = source.toolset().into();
    let description = "Its tools are not known: its server was not needed, or could not be used.".to_owned();
    let foreign = vec![(foreign_tool_name(&[source.name()]), Arc::clone(&name))];
    Group { name, description, tools: Vec::new(), foreign, origin: origin.clone(), is_absent: true }
}

/// Returns the left-out item for a source that cannot be used.
fn unusable(source: &dyn ToolSource, origin: &Origin, fault: &str) -> LeftOut {
    LeftOut { names: vec![source.toolset()], reason: format!("{origin}: left out: {fault}"), is_fault: true }
}

fn add(loaded: LoadedTools, origin: &Origin, contents: &mut Contents, warnings: &mut Vec<String>) {
    let LoadedTools { toolset, description, tools, own, warnings: left_out, mut foreign, .. } = loaded;
    warnings.extend(left_out);
    let names: Vec<Arc<str>> = tools.iter().map(|tool| tool.name().into()).collect();
    foreign.retain(|(_, name)| **name == *toolset || names.contains(name));
    let group =
        Group { name: toolset.into(), description, tools: names, foreign, origin: origin.clone(), is_absent: false };
    contents.groups.push(group);
    contents.tools.extend(tools.into_iter().chain(own).map(|tool| (tool, origin.clone())));
}
