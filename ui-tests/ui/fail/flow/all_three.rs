//! A worker whose tools read untrusted text, read private data and send needs code mode or a reason.

#![allow(unused)]

use llm_do::flow::Untrusted;
use llm_do::{tool, toolset, worker};

/// Read the mail.
#[tool(effect = read_only)]
fn read_mail() -> Result<Untrusted<String>, String> {
    Ok(Untrusted::new(String::new()))
}

/// Read the balance.
#[tool(effect = read_only, private = true)]
fn balance() -> u32 {
    0
}

/// Send a mail.
#[tool(effect = destructive)]
fn send(to: String) {}

/// Fetch a page.
#[tool(effect = read_only, reach = outside)]
fn fetch(url: String) -> u32 {
    0
}

/// Write a note.
#[tool(effect = idempotent, reach = own)]
fn note(text: String) {}

toolset! {
    /// The desk.
    pub desk = [read_mail, balance];
}

/// Has all three.
#[worker(toolsets = [desk, send])]
async fn clerk(input: String) -> String;

/// Sends by fetching.
#[worker(toolsets = [read_mail, balance, fetch])]
async fn surfer(input: String) -> String;

/// Has a blank reason.
#[worker(toolsets = [desk, send], flow_reason = " ")]
async fn blank(input: String) -> String;

/// Sends nothing.
#[worker(toolsets = [desk, note])]
async fn reader(input: String) -> String;

/// Leaves the reading to another worker.
#[worker(toolsets = [reader, send])]
async fn boss(input: String) -> String;

/// Does not read.
#[worker(toolsets = [desk, send], code = true)]
async fn coder(input: String) -> String;

/// Has a reason.
#[worker(toolsets = [desk, send], flow_reason = "each mail that it sends is approved")]
async fn trusted(input: String) -> String;

fn main() {}
