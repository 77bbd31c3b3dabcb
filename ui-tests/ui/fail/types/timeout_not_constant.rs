//! A timeout that only the compiler can evaluate is reported at its expression.

#![allow(unused)]

use std::time::Duration;

use llm_do::{entry, tool, worker};

const NONE: Duration = Duration::ZERO;
const SECONDS: u64 = 30;

fn from_settings() -> Duration {
    Duration::from_secs(30)
}

/// Ping after the time in the settings.
#[tool(timeout = from_settings())]
fn ping_settings() {}

/// Ping in so many.
#[tool(timeout = SECONDS)]
fn ping_number() {}

#[entry(timeout = NONE)]
fn start() {}

/// Judge in so many.
#[worker(timeout = Some(Duration::from_secs(1)))]
async fn judge() -> String;

struct Desk;

/// A desk.
#[tool]
impl Desk {
    const LIMIT: Duration = Duration::from_secs(1);

    fn open() -> Self {
        Self
    }

    /// Work at a desk.
    #[tool(timeout = Self::LIMIT)]
    fn work(&self) {}
}

fn main() {}
