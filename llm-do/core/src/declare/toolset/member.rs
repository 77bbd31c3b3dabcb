//! The members of a toolset, as lists that are built at compile time.

use std::fmt;

use super::text::{Text, hash, same};

/// The maximum length of a name that every provider accepts, in bytes.
pub(super) const MAX_NAME: usize = 64;

/// A tool in a toolset, and the name that models and calls by name use for it.
#[derive(Clone, Copy)]
pub struct Member {
    shown: Text<MAX_NAME>,
    tool: &'static str,
    tool_hash: u64,
}

impl Member {
    /// Returns a tool with its registered name.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(tool: &'static str) -> Self {
        let mut shown = Text::new();
        shown.push(tool);
        Self { shown, tool, tool_hash: hash(tool) }
    }

    /// Returns a tool that is shown by another name.
    #[doc(hidden)]
    #[must_use]
    pub const fn shown_as(self, name: &str) -> Self {
        let mut shown = Text::new();
        shown.push(name);
        Self { shown, ..self }
    }

    /// Returns the name that models and calls by name use: the registered name, perhaps with a prefix.
    #[must_use]
    pub const fn shown(&self) -> &str {
        self.shown.as_str()
    }

    /// Returns the registered name.
    #[must_use]
    pub const fn tool(&self) -> &'static str {
        self.tool
    }

    /// Returns whether both have the same shown name.
    pub(super) const fn has_same_name(&self, other: &Self) -> bool {
        self.shown.is(&other.shown)
    }

    /// Returns whether both are the same tool, under any name.
    const fn is_same_tool(&self, other: &Self) -> bool {
        self.tool_hash == other.tool_hash && same(self.tool, other.tool)
    }

    /// Returns the member with a prefix. A name that would be too long, which [`super::assert_prefixed`] reports, is
    /// unchanged.
    const fn prefixed(self, prefix: &str) -> Self {
        let mut shown = Text::new();
        shown.push(prefix);
        if !shown.fits(self.shown()) {
            return self;
        }
        shown.push(self.shown());
        Self { shown, ..self }
    }

    /// Returns the member without a prefix.
    const fn unprefixed(self, prefix: &str) -> Self {
        let Some((start, rest)) = self.shown().split_at_checked(prefix.len()) else { return self };
        if !same(start, prefix) {
            return self;
        }
        let mut shown = Text::new();
        shown.push(rest);
        Self { shown, ..self }
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("shown", &self.shown()).field("tool", &self.tool).finish_non_exhaustive()
    }
}

const NO_MEMBER: Member = Member::new("");

/// Returns the total number of members.
#[doc(hidden)]
#[must_use]
pub const fn count(lists: &[&[Member]]) -> usize {
    let (mut sum, mut list) = (0, 0);
    while list < lists.len() {
        sum += lists[list].len();
        list += 1;
    }
    sum
}

/// Returns all members in one list; `N` is their [`count`].
#[doc(hidden)]
#[must_use]
pub const fn concat<const N: usize>(lists: &[&[Member]]) -> [Member; N] {
    let mut members = [NO_MEMBER; N];
    let (mut list, mut index, mut next) = (0, 0, 0);
    while list < lists.len() {
        while index < lists[list].len() {
            members[next] = lists[list][index];
            next += 1;
            index += 1;
        }
        index = 0;
        list += 1;
    }
    members
}

/// Returns all members, each with the prefix; `N` is their number.
#[doc(hidden)]
#[must_use]
pub const fn prefixed<const N: usize>(prefix: &str, members: &[Member]) -> [Member; N] {
    let mut all = [NO_MEMBER; N];
    let mut next = 0;
    while next < N {
        all[next] = members[next].prefixed(prefix);
        next += 1;
    }
    all
}

/// Returns all members, each without the prefix if its name begins with that; `N` is their number.
#[doc(hidden)]
#[must_use]
pub const fn unprefixed<const N: usize>(prefix: &str, members: &[Member]) -> [Member; N] {
    let mut all = [NO_MEMBER; N];
    let mut next = 0;
    while next < N {
        all[next] = members[next].unprefixed(prefix);
        next += 1;
    }
    all
}

/// Returns the number of `members` that are in `picks` if `are_kept`, otherwise of those that are not.
#[doc(hidden)]
#[must_use]
pub const fn count_picked(members: &[Member], picks: &[&[Member]], are_kept: bool) -> usize {
    let (mut sum, mut next) = (0, 0);
    while next < members.len() {
        if holds(picks, &members[next]) == are_kept {
            sum += 1;
        }
        next += 1;
    }
    sum
}

/// Returns the `members` that are in `picks` if `are_kept`, otherwise those that are not; `N` is their
/// [`count_picked`].
#[doc(hidden)]
#[must_use]
pub const fn picked<const N: usize>(members: &[Member], picks: &[&[Member]], are_kept: bool) -> [Member; N] {
    let mut all = [NO_MEMBER; N];
    let (mut found, mut next) = (0, 0);
    while next < members.len() {
        if holds(picks, &members[next]) == are_kept {
            all[found] = members[next];
            found += 1;
        }
        next += 1;
    }
    all
}

/// Returns whether one of the lists contains the tool.
pub(super) const fn holds(lists: &[&[Member]], tool: &Member) -> bool {
    let (mut list, mut index) = (0, 0);
    while list < lists.len() {
        while index < lists[list].len() {
            if lists[list][index].is_same_tool(tool) {
                return true;
            }
            index += 1;
        }
        index = 0;
        list += 1;
    }
    false
}
