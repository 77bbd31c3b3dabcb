//! What a macro registers of a toolset, and of what an item may call; and where either is written.

use super::DeclaredRule;
use crate::declare::toolset::Member;

/// Where an item is written.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Location {
    file: &'static str,
    line: u32,
}

#[doc(hidden)]
impl Location {
    /// Returns a place in a source file.
    #[must_use]
    pub const fn new(file: &'static str, line: u32) -> Self {
        Self { file, line }
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// What an item may call.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    pub(crate) members: &'static [&'static [Member]],
    pub(crate) by_name: &'static [&'static str],
}

#[doc(hidden)]
impl Declaration {
    /// Declares the members of toolsets that the compiler knows, and others that are looked up when the run begins.
    #[must_use]
    pub const fn new(members: &'static [&'static [Member]], by_name: &'static [&'static str]) -> Self {
        Self { members, by_name }
    }
}

/// A toolset as `toolset!` registers it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ToolsetDef {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) members: &'static [Member],
    pub(crate) location: Location,
    /// What it says of the approval of its members, if anything.
    pub(crate) approval: Option<DeclaredRule>,
}

#[doc(hidden)]
impl ToolsetDef {
    /// Describes a toolset of these members.
    #[must_use]
    pub const fn new(
        name: &'static str,
        description: &'static str,
        members: &'static [Member],
        location: Location,
    ) -> Self {
        Self { name, description, members, location, approval: None }
    }

    /// Sets whether calls of its members need approval. Default: each member says so.
    #[must_use]
    pub const fn approval(mut self, rule: DeclaredRule) -> Self {
        self.approval = Some(rule);
        self
    }
}
