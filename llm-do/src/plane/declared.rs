//! What a caller may call, as it is known by name at run time.

use std::sync::Arc;

use llm_do_providers::ToolSpec;

use crate::declare::worker_spec::WorkerSpec;

/// The tools that an item declares, in order; none at all for a worker without toolsets.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    tools: Vec<DeclaredTool>,
    specs: Arc<[ToolSpec]>,
}

/// One of them.
#[derive(Debug)]
pub(crate) struct DeclaredTool {
    /// The name that a model sees, and that calls by name use.
    pub(crate) shown: Arc<str>,
    /// The registered name.
    pub(crate) tool: Arc<str>,
}

impl Declared {
    /// Lists `tools`; `spec` finds what a model is told of each by its registered name.
    pub(crate) fn new(tools: Vec<DeclaredTool>, spec: impl Fn(&str) -> Option<ToolSpec>) -> Self {
        let shown = |tool: &DeclaredTool| Some(ToolSpec { name: Arc::clone(&tool.shown), ..spec(&tool.tool)? });
        let specs = tools.iter().filter_map(shown).collect();
        Self { tools, specs }
    }

    /// Returns the tools as a model sees them.
    pub(crate) fn specs(&self) -> &Arc<[ToolSpec]> {
        &self.specs
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &DeclaredTool> {
        self.tools.iter()
    }

    /// Returns the registered name of the tool that is shown by this one.
    pub(crate) fn tool(&self, shown: &str) -> Option<&str> {
        self.tools.iter().find(|tool| *tool.shown == *shown).map(|tool| &*tool.tool)
    }

    /// Returns the first name by which the tool of this registered name is shown.
    pub(crate) fn shown(&self, tool: &str) -> Option<&str> {
        self.tools.iter().find(|declared| *declared.tool == *tool).map(|declared| &*declared.shown)
    }
}

/// Whom a call is to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Callee<'a> {
    /// The item of this registered name: a typed call.
    Item(&'a str),
    /// What the caller sees by this name; the registered one, if it declares nothing.
    Shown(&'a str),
    /// A worker that is put together on the spot.
    Inline(&'a WorkerSpec),
    /// A worker that was made in this session.
    Made(&'a str),
}

impl<'a> Callee<'a> {
    /// Returns the name as given.
    pub(crate) fn name(self) -> &'a str {
        match self {
            Self::Item(name) | Self::Shown(name) | Self::Made(name) => name,
            Self::Inline(spec) => spec.name(),
        }
    }

    /// Returns the registered name, unless a caller of these declared tools may not call it.
    pub(crate) fn resolve(self, declared: Option<&'a Declared>) -> Option<&'a str> {
        match (self, declared) {
            (Self::Inline(_) | Self::Made(_), _) => None,
            (_, None) => Some(self.name()),
            (Self::Item(name), Some(declared)) => declared.shown(name).map(|_| name),
            (Self::Shown(name), Some(declared)) => declared.tool(name),
        }
    }
}
