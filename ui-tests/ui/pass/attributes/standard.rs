//! Standard attributes work above and below ours, with their usual meaning.

#![deny(warnings)]

use llm_do::{data, tool, toolset};

#[deprecated(note = "old")]
/// Old.
#[tool]
fn old_above() {}

#[tool]
#[deprecated]
/// Old.
fn old_below() {}

#[must_use = "it is a number"]
#[inline]
/// Number.
#[tool]
#[cold]
#[track_caller]
fn number() -> u8 {
    3
}

#[cfg(all())]
#[tool]
#[cfg_attr(all(), doc = "By a condition.")]
fn by_condition() {}

#[cfg_attr(all(), tool)]
/// The attribute itself, by a condition.
fn registered_by_condition() {}

#[tool]
#[cfg(any())]
/// Gone.
fn gone(a: Missing) {}

#[llm_do::worker]
#[cfg(any())]
/// Gone.
async fn gone_as_well(a: Missing) -> Missing;

#[llm_do::entry(toolsets = [gone])]
#[cfg(any())]
fn gone_too() {}

/// With lints.
#[tool]
#[allow(clippy::all, unused_variables)]
#[expect(unused_mut)]
#[doc(hidden)]
fn linted(mut a: u8, #[allow(unused)] b: u8) {}

#[data]
#[must_use]
#[non_exhaustive]
/// A range.
pub struct Range {
    from: u32,
}

toolset! {
    #[cfg(all())]
    #[allow(dead_code)]
    /// All.
    all = [number, by_condition, registered_by_condition, linted];

    #[cfg(any())]
    gone_group = [gone];
}

fn main() {
    assert_eq!(number(), 3);
    let _ = <registered_by_condition as llm_do::Tool>::NAME;
}
