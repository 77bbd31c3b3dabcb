//! Toolsets that are known only at run time, such as the tools of a server.

use std::sync::Arc;

use super::{Origin, Registry};

/// A toolset that the program adds: the tools that its name stands for.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct Group {
    pub name: Arc<str>,
    pub description: String,
    /// The registered names of its tools.
    pub tools: Vec<Arc<str>>,
    /// The names of it and of its tools in the files of other programs, with the registered names.
    pub(crate) foreign: Vec<(String, Arc<str>)>,
    pub(crate) origin: Origin,
    /// Whether its tools are not known, since they are not needed or cannot be had: who names them does without.
    pub(crate) is_absent: bool,
}

impl Group {
    /// Returns whether a name is that of a tool which is not known.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        let is_foreign = || self.foreign.iter().any(|(foreign, _)| is_of(name, foreign));
        self.is_absent && (is_of(name, &self.name) || is_foreign())
    }
}

impl Registry {
    /// Returns whether a name is that of a tool which is not known, since its server is not needed or cannot be used.
    pub(crate) fn lacks(&self, name: &str) -> bool {
        self.groups.values().any(|group| group.lacks(name))
    }
}

/// Returns whether a name is that of a toolset, or of a tool in it.
pub(crate) fn is_of(name: &str, toolset: &str) -> bool {
    name.strip_prefix(toolset).is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}
