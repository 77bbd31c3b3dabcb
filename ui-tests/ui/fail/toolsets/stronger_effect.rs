//! The toolsets of a tool that declares an effect contain nothing stronger.

#![allow(unused)]

use llm_do::{entry, tool, toolset, worker};

mod mail {
    /// Send a mail.
    #[llm_do::tool(effect = destructive)]
    pub fn send() {}

    /// Mark a mail as read.
    #[llm_do::tool(effect = idempotent)]
    pub fn mark() {}

    /// Read a mail.
    #[llm_do::tool(effect = read_only)]
    pub fn read() {}
}

/// Append a line.
#[tool]
fn append() {}

#[entry]
fn start() {}

toolset! {
    /// Mail.
    mails = [mail::read, mail::mark, mail::send];
}

/// A mailbox.
#[derive(Default)]
struct Mailbox;

/// A mailbox.
#[tool]
impl Mailbox {
    /// Count the mails.
    #[tool(effect = read_only)]
    fn count(&self) {}

    /// Delete all mails.
    #[tool(effect = destructive)]
    fn clear(&self) {}

    /// Report.
    #[tool(effect = read_only, toolsets = [append])]
    fn of_a_method(&self) {}
}

/// Answers mails, and asks the other clerk.
#[worker(toolsets = [other_clerk, mail::read])]
async fn clerk(input: String) -> String;

/// Answers mails, and asks the first clerk.
#[worker(toolsets = [clerk, prefixed("m_", mails).except([mail::send])])]
async fn other_clerk(input: String) -> String;

/// Runs code.
#[worker(server_side_tools = [web_search, code_execution])]
async fn coder(input: String) -> String;

/// Report.
#[tool(effect = read_only, toolsets = [mail::read, mail::send, append, start])]
fn each_by_itself() {}

/// Report.
#[tool(effect = idempotent, toolsets = [mails])]
fn of_a_group() {}

/// Report.
#[tool(effect = read_only, toolsets = [mails.except([mail::send]), Mailbox.only([clear])])]
fn of_a_part() {}

/// Report.
#[tool(effect = read_only, toolsets = [clerk, coder])]
fn of_workers() {}

fn main() {}
