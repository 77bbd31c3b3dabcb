//! A quarantined worker has no tools, and returns no text that may be what it has read.

#![allow(unused)]

use llm_do::flow::Untrusted;
use llm_do::{data, tool, worker};

/// Look up a word.
#[tool(effect = read_only)]
fn look_up(word: String) -> u32 {
    0
}

/// A kind of mail.
#[data]
enum Kind {
    Invoice,
    Other,
}

/// What a mail asks for.
#[data]
struct Asked {
    kind: Kind,
    by: String,
}

/// Sorts a mail.
#[worker(quarantined = true)]
async fn sort(text: String) -> Kind;

/// Shortens a mail.
#[worker(quarantined = true)]
async fn shorten(text: String) -> Untrusted<String>;

/// Sorts a mail, with a tool.
#[worker(quarantined = true, toolsets = [look_up])]
async fn sort_with_tools(text: String) -> Kind;

/// Sorts a mail by code.
#[worker(quarantined = true, code = true)]
async fn sort_by_code(text: String) -> Kind;

/// Shortens a mail to a text.
#[worker(quarantined = true)]
async fn shorten_to_text(text: String) -> String;

/// Reads what a mail asks for.
#[worker(quarantined = true)]
async fn read_asked(text: String) -> Vec<Asked>;

fn main() {}
