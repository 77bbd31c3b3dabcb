//! `approval` takes one of three rules, and `blocked` takes a reason.

#![allow(unused)]

use llm_do::tool;

/// Ping.
#[tool(approval = preapproved)]
fn ping() {}

/// Pong.
#[tool(approval = never)]
fn pong() {}

/// Peng.
#[tool(approval = "ask")]
fn peng() {}

/// Bang.
#[tool(approval = blocked)]
fn bang() {}

/// Bing.
#[tool(approval = blocked(REASON))]
fn bing() {}

/// Bong.
#[tool(approval = blocked(" "))]
fn bong() {}

/// Dang.
#[tool(approval = ask("me"), approval = ask)]
fn dang() {}

/// Ding.
#[tool(approval = ask, approval = pre_approved)]
fn ding() {}

struct Database;

/// A database.
#[tool(approvals = ask, effect = read_only)]
impl Database {
    fn open() -> Self {
        Self
    }

    /// Query.
    #[tool(approval = blocked())]
    fn query(&self) {}
}

fn main() {}
