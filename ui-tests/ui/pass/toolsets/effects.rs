//! A tool that declares an effect can have toolsets with weaker and equal effects.

#![deny(warnings)]

use llm_do::{CallContext, CallError, tool, toolset, worker};

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

toolset! {
    /// Mail.
    mails = [mail::read, mail::mark, mail::send];

    /// Mails, and who reads them.
    office = [mails, reader, append];
}

#[derive(Default)]
struct Mailbox;

/// A mailbox.
#[tool]
impl Mailbox {
    /// Count the mails.
    #[tool(effect = read_only, toolsets = [mail::read])]
    fn count_mails(&self) {}

    /// Delete all mails.
    #[tool(effect = destructive)]
    fn clear_mails(&self) {}
}

/// Reads mails, and asks the other reader.
#[worker(toolsets = [other_reader, reader, mail::read], server_side_tools = [web_search])]
async fn reader(input: String) -> String;

/// Reads mails, and asks the first reader.
#[worker(toolsets = [reader, prefixed("m_", mails).only([mail::read]), Mailbox.except([clear_mails])])]
async fn other_reader(input: String) -> String;

/// Report.
#[tool(
    effect = read_only,
    toolsets = [mail::read, prefixed("m_", mails.only([mail::read])), Mailbox.except([clear_mails]), reader]
)]
async fn report(ctx: &CallContext<report>) -> Result<(), CallError> {
    ctx.call(mail::read {}).await
}

/// Report, and mark the mails.
#[tool(effect = idempotent, toolsets = [prefixed("o_", office.except([mail::send, append])), report])]
fn mark_all() {}

/// Send a report.
#[tool(effect = destructive, toolsets = [office, report, mark_all])]
fn send_all() {}

/// Calls itself, and what is found when the runtime is built.
#[tool(effect = read_only, toolsets = [again, "mail_server"])]
fn again() {}

/// Declares no effect.
#[tool(toolsets = [office])]
fn anything() {}

fn main() {}
