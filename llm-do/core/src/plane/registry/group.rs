//! Toolsets that are known only at run time, such as the tools of a server.

use std::sync::Arc;

use super::{Origin, Registry};

/// A toolset that the program adds: its name, and its tools.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Group {
    pub name: Arc<str>,
    pub description: String,
    /// The registered names of its tools.
    pub tools: Vec<Arc<str>>,
    /// The names of the toolset and its tools in the files of other programs, with the registered names.
    pub(crate) foreign: Vec<(String, Arc<str>)>,
    pub(crate) origin: Origin,
    /// Whether its tools are unknown, because they are not needed or not available. Items that name them run without
    /// them.
    pub(crate) is_absent: bool,
}

impl Group {
    /// Returns whether the name is that of an unknown tool.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        let is_foreign = || self.foreign.iter().any(|(foreign, _)| is_of(name, foreign));
        self.is_absent && (is_of(name, &self.name) || is_foreign())
    }
}

impl Registry {
    /// Returns whether the name is that of a tool that is unknown because its server is not needed or not available.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        self.groups.values().any(|group| group.lacks(name))
    }
}

/// Returns whether the name is that of the toolset, or of a tool in it.
#[doc(hidden)]
#[must_use]
pub fn is_of(name: &str, toolset: &str) -> bool {
    name.strip_prefix(toolset).is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}
