//! What holds of every run, whatever calls whatever: random trees of calls, stopped anywhere, and resumed.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod claims;
mod journaled;
mod plan;
mod stopped;
mod tools;
mod trial;
