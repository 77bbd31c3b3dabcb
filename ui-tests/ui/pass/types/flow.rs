//! Types declare where text comes from: what is bounded, what is untrusted, and what is only passed on.

#![deny(warnings)]

use llm_do::flow::{Bounded, Untrusted};
use llm_do::{CallContext, Result, Runtime, data, entry, tool, worker};

/// A choice.
#[data]
#[derive(PartialEq)]
pub enum Kind {
    Invoice,
    Other { cents: Option<u32> },
}

/// A generic list.
#[data]
pub struct Page<T> {
    items: Vec<T>,
    more: bool,
}

/// A type that contains itself, and text.
#[data]
struct Thread {
    replies: Vec<Self>,
    text: String,
}

/// A type without fields.
#[data]
struct Nothing {}

/// A mail.
#[data]
struct Mail {
    id: u32,
    text: Untrusted<String>,
}

fn is_bounded<T: Bounded>() {}

/// Read a mail.
#[tool(effect = read_only)]
fn read_mail(id: u32) -> std::result::Result<Mail, String> {
    Ok(Mail { id, text: "invoice".to_owned().into() })
}

/// Sorts a mail.
#[worker(quarantined = true)]
async fn sort(text: Untrusted<String>) -> Page<Kind>;

/// Write a note.
#[tool(effect = idempotent, approval = pre_approved, reach = own)]
fn note(title: String, text: Untrusted<String>, more: Option<Untrusted<Vec<String>>>) -> usize {
    title.len() + text.as_data().len() + more.map_or(0, |more| more.into_data().len())
}

#[entry(toolsets = [read_mail, note])]
async fn notes(ctx: &CallContext<Self>) -> Result<usize> {
    let mail = ctx.call(read_mail { id: 7 }).await?;
    let is_invoice = mail.text.clone().map(|text| text == "invoice").into_bounded();
    let title = if is_invoice { "An invoice" } else { "A mail" };
    ctx.call(note { title: title.into(), text: mail.text, more: None }).await
}

fn main() {
    is_bounded::<Page<Kind>>();
    is_bounded::<Nothing>();
    let thread = Thread { replies: Vec::new(), text: String::new() };
    assert!(thread.replies.is_empty() && thread.text.is_empty());
    assert!(Runtime::builder().build().is_ok());
}
