//! The module of a server passes all lints of the compiler for source code, and all of clippy except `restriction` and
//! `cargo`. clippy checks this file as a program of this package.

#![deny(warnings, missing_docs, missing_debug_implementations, missing_copy_implementations)]
#![deny(unreachable_pub, unused_qualifications, unused_lifetimes, unused_results, let_underscore_drop)]
#![deny(
    trivial_casts,
    trivial_numeric_casts,
    single_use_lifetimes,
    elided_lifetimes_in_paths,
    absolute_paths_not_starting_with_crate
)]
#![deny(clippy::all, clippy::pedantic, clippy::nursery, dead_code, unused)]
#![forbid(unsafe_code)]

use llm_do::{CallContext, Result, entry, toolset};

toolset! {
    /// The tracker.
    pub tracker = mcp("../mcp/tracker.mcp.json");

    hidden = mcp("../mcp/tracker.mcp.json");
}

mod private {
    llm_do::toolset! {
        pub(crate) tracker = mcp("../mcp/tracker.mcp.json");
    }
}

/// Lists.
///
/// # Errors
///
/// Returns what a call fails with.
#[entry(toolsets = [tracker::list])]
pub async fn start(ctx: &CallContext<start>, text: String) -> Result<usize> {
    Ok(text.len() + ctx.call(private::tracker::list {}).await?.len() + ctx.call(hidden::list {}).await?.len())
}

fn main() {
    assert_eq!(std::env::args().count(), 1);
}
