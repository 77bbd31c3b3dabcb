//! Property tests of runs: random trees of calls, stopped anywhere, and resumed.

mod claims;
mod journaled;
mod modes;
mod plan;
mod stopped;
mod tools;
mod trial;

use proptest::prelude::ProptestConfig;

/// Configures the number of cases; the environment variable `PROPTEST_CASES` overrides it.
fn cases(cases: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { config } else { ProptestConfig { cases, ..config } }
}
