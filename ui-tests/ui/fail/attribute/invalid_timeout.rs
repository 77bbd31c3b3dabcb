//! `timeout` is greater than 0 and has a unit.

#![allow(unused)]

use std::time::Duration;

use llm_do::{entry, tool, worker};

const NONE: Duration = Duration::ZERO;

fn from_settings() -> Duration {
    Duration::from_secs(30)
}

/// Ping in so many.
#[tool(timeout = 30)]
fn ping_thirty() {}

/// Ping soon.
#[tool(timeout = "soon")]
fn ping_soon() {}

/// Ping in no time.
#[tool(timeout = "0s")]
fn ping_immediately() {}

/// Ping in a number.
#[tool(timeout = 1.5)]
fn ping_float() {}

/// Ping in nothing.
#[tool(timeout, inline)]
fn ping_nothing() {}

/// Ping in place.
#[tool(inline, timeout = "1s")]
fn ping_in_place() {}

#[entry(timeout = , name = "start")]
fn start() {}

/// Judge in days.
#[worker(timeout = "2 days")]
async fn judge() -> String;

fn main() {}
