//! Toolsets that are known only at run time, such as the tools of a server.

use std::sync::Arc;

use super::Origin;

/// A toolset that the program adds: the tools that its name stands for.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: Arc<str>,
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "the command line shows it"))]
    pub(crate) description: String,
    /// The registered names of its tools.
    pub(crate) tools: Vec<Arc<str>>,
    /// The names of it and of its tools in the files of other programs, with the registered names.
    pub(crate) foreign: Vec<(String, Arc<str>)>,
    pub(crate) origin: Origin,
}
