//! The members of a toolset, as lists built at compile time.

use std::fmt;

use super::text::{Text, hash, same};

/// The longest name that every provider accepts, in bytes.
pub(super) const MAX_NAME: usize = 64;

/// A tool in a toolset: its registered name, and the name shown to models and used in calls by name.
#[derive(Clone, Copy)]
pub struct Member {
    shown: Text<MAX_NAME>,
    tool: &'static str,
    tool_hash: u64,
}

impl Member {
    /// Returns a tool under its registered name.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(tool: &'static str) -> Self {
        let mut shown = Text::new();
        shown.push(tool);
        Self { shown, tool, tool_hash: hash(tool) }
    }

    /// Returns the name that a model sees, and that calls by name use: the registered one, or a prefix before it.
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
    pub(super) const fn has_same_shown_name(&self, other: &Self) -> bool {
        self.shown.is(&other.shown)
    }

    /// Returns whether both are the same tool, even if their shown names differ.
    const fn is_same_tool(&self, other: &Self) -> bool {
        self.tool_hash == other.tool_hash && same(self.tool, other.tool)
    }

    /// Adds a prefix to the shown name; a name that would be too long is unchanged, and rejected by `assert_prefixed`.
    const fn prefixed(self, prefix: &str) -> Self {
        let mut shown = Text::new();
        shown.push(prefix);
        if !shown.fits(self.shown()) {
            return self;
        }
        shown.push(self.shown());
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
    let (mut list, mut place, mut next) = (0, 0, 0);
    while list < lists.len() {
        while place < lists[list].len() {
            members[next] = lists[list][place];
            next += 1;
            place += 1;
        }
        place = 0;
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

/// Returns the number of `members` that are in `picks`, or, without `are_kept`, that are not.
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

/// Returns the `members` that are in `picks`, or, without `are_kept`, that are not; `N` is their [`count_picked`].
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

/// Returns whether the lists contain the tool.
pub(super) const fn holds(lists: &[&[Member]], tool: &Member) -> bool {
    let (mut list, mut place) = (0, 0);
    while list < lists.len() {
        while place < lists[list].len() {
            if lists[list][place].is_same_tool(tool) {
                return true;
            }
            place += 1;
        }
        place = 0;
        list += 1;
    }
    false
}
