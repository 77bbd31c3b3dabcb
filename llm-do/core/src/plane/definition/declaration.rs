//! The definitions of toolsets, declarations and source locations.

use super::DeclaredRule;
use crate::declare::tool::OnUnknown;
use crate::declare::toolset::Member;

/// The source location of an item.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    file: &'static str,
    line: u32,
    /// The name and the version of the package, if it was built by cargo.
    package: Option<(&'static str, &'static str)>,
}

#[doc(hidden)]
impl Location {
    /// Returns a location in a source file.
    #[must_use]
    pub const fn new(file: &'static str, line: u32) -> Self {
        Self { file, line, package: None }
    }

    /// Sets the package of the item.
    #[must_use]
    pub const fn package(self, name: Option<&'static str>, version: Option<&'static str>) -> Self {
        match (name, version) {
            (Some(name), Some(version)) => Self { package: Some((name, version)), ..self },
            _ => self,
        }
    }

    /// Returns the name and the version of the package.
    pub(crate) fn package_of(&self) -> Option<(&'static str, &'static str)> {
        self.package
    }

    /// Returns whether the location is in this crate.
    pub(crate) fn is_of_this_crate(self) -> bool {
        // The folder of the sources, with its separator.
        let folder = file!().len() - "plane/definition/declaration.rs".len();
        self.file.starts_with(&file!()[..folder])
    }
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The callees of an item.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    pub(crate) members: &'static [&'static [Member]],
    pub(crate) by_name: &'static [&'static str],
}

#[doc(hidden)]
impl Declaration {
    /// Declares members that are known at compile time, and names that are resolved at run time.
    #[must_use]
    pub const fn new(members: &'static [&'static [Member]], by_name: &'static [&'static str]) -> Self {
        Self { members, by_name }
    }
}

/// A toolset as registered by `toolset!`.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ToolsetDef {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
    pub(crate) members: &'static [Member],
    pub(crate) location: Location,
    /// The approval rule of its members, if any.
    pub(crate) approval: Option<DeclaredRule>,
    /// What happens to a call of its members with an unknown outcome, if it has a setting.
    pub(crate) on_unknown: Option<OnUnknown>,
    /// The tools of the type, in the order of the members, if it is a named instance.
    pub(crate) instance_of: Option<&'static [Member]>,
}

#[doc(hidden)]
impl ToolsetDef {
    /// Defines a toolset with these members.
    #[must_use]
    pub const fn new(
        name: &'static str,
        description: &'static str,
        members: &'static [Member],
        location: Location,
    ) -> Self {
        Self { name, description, members, location, approval: None, on_unknown: None, instance_of: None }
    }

    /// Makes it a named instance of the type with these tools. Default: a list of members.
    #[must_use]
    pub const fn instance_of(mut self, tools: &'static [Member]) -> Self {
        self.instance_of = Some(tools);
        self
    }

    /// Sets whether calls of its members need approval. Default: each member's own rule.
    #[must_use]
    pub const fn approval(mut self, rule: DeclaredRule) -> Self {
        self.approval = Some(rule);
        self
    }

    /// Sets what happens to a call of its members with an unknown outcome. Default: each member's own setting.
    #[must_use]
    pub const fn on_unknown(mut self, setting: OnUnknown) -> Self {
        self.on_unknown = Some(setting);
        self
    }
}
