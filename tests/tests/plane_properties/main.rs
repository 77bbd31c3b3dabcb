//! What holds of every run, whatever calls whatever: random trees of calls, stopped anywhere, and resumed.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod claims;
mod journaled;
mod modes;
mod plan;
mod stopped;
mod tools;
mod trial;

use proptest::prelude::ProptestConfig;

/// Draws so many cases, or as many as the variable `PROPTEST_CASES` says.
fn cases(cases: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases, ..config } }
}
