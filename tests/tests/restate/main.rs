//! Runs on the engine Restate: each test is skipped with a message where its server is not installed, see `tests/restate/install`.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the figures of the kills, and what is skipped")]

mod cases;
mod engine;
mod killed;
mod page;
mod processes;
mod runs;
mod same;
mod spread;
