//! Runs on the engine Restate: each test is skipped with a message where its server is not installed, see `tests/restate/install`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the figures of the kills, and what is skipped")]

mod browser;
mod cases;
mod engine;
mod killed;
mod page;
mod processes;
mod production;
mod runs;
mod same;
mod spread;
#[path = "../programs/page/tab.rs"]
mod tab;
mod unknown;
#[allow(dead_code, reason = "some keys and looks are for other pages")]
#[path = "../programs/page/webdriver.rs"]
mod webdriver;
