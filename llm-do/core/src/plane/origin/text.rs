//! What people read about where a call came from.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{Origins, ReadResult, RootCall};
use crate::base::printable::{printable, printable_line};
use crate::observe::event::{ArgumentOrigin, Label, ValueOrigin};
use crate::plane::call_summary;

/// The most values that are named in one line.
const IN_LINE: usize = 6;
/// The most results that are listed.
const LISTED: usize = 50;

impl RootCall {
    /// Returns the call in one line, such as `main(input="Pay the bill.")`.
    #[must_use]
    pub fn summary(&self) -> String {
        call_summary::listed(&self.name, &self.arguments)
    }
}

impl Origins {
    /// Returns one line about the values that are neither the user's nor a client's, such as `to: from read_file(path="bill.txt"), not in your
    /// request`; `None` if there is no such value, or nothing is known.
    ///
    /// Line breaks and invisible characters are escaped as in Rust.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        let foreign = self.arguments().iter().filter(|found| !is_asked_for(found));
        let (unknown, known): (Vec<_>, Vec<_>) = foreign.partition(|found| found.origin == ValueOrigin::Unknown);
        let mut texts: Vec<_> = known.iter().take(IN_LINE).map(|found| line_of(found)).collect();
        if let Some(more) = known.len().checked_sub(IN_LINE).filter(|more| *more > 0) {
            texts.push(format!("… {more} more from what was read"));
        }
        if !unknown.is_empty() {
            let names: Vec<_> = unknown.iter().take(IN_LINE).map(|found| &*found.argument).collect();
            let more = if unknown.len() > IN_LINE { ", …" } else { "" };
            texts.push(format!("{}{more}: {}", names.join(", "), ValueOrigin::Unknown));
        }
        (!texts.is_empty()).then(|| printable_line(&texts.join("; ")))
    }

    /// Returns several lines about all values, the user's request, and what was read; empty if nothing is known.
    ///
    /// Invisible characters are escaped as in Rust.
    #[must_use]
    pub fn details(&self) -> String {
        let mut text = String::new();
        if let Some(root) = self.root_call() {
            let what = if root.is_of_client { "the client's call" } else { "your request" };
            let _ = writeln!(text, "{what}: {}", root.summary());
        }
        for answer in self.answers() {
            let _ = writeln!(text, "your answer: {}", printable_line(answer));
        }
        if !self.arguments().is_empty() {
            text.push_str("where the values come from:\n");
            for found in self.arguments() {
                let _ = writeln!(text, "    {}{}", printable_line(&text_of(found)), found.labels().remark());
            }
        }
        let read: Vec<_> = self.read().collect();
        if !read.is_empty() {
            text.push_str("read before this call:\n");
        }
        for result in read.iter().take(LISTED) {
            let through = if result.through.is_empty() {
                String::new()
            } else {
                format!(", which read {}", result.through.join(", "))
            };
            let _ = writeln!(text, "    {}{}{through}", result.summary, result.labels().remark());
        }
        if let Some(more) = read.len().checked_sub(LISTED).filter(|more| *more > 0) {
            let _ = writeln!(text, "    … {more} more");
        }
        printable(text.trim_end())
    }

    /// Returns it as JSON, without what changes from process to process; `None` if nothing is known.
    pub(crate) fn shown(&self) -> Option<Value> {
        let mut values: Vec<_> = self.arguments().to_vec();
        for found in &mut values {
            if let ValueOrigin::Result(result) = &mut found.origin {
                result.call = None;
            }
        }
        let read: Vec<_> = self.read().take(LISTED).map(shown_result).collect();
        if values.is_empty() && read.is_empty() && self.root_call().is_none() {
            return None;
        }
        let request = self
            .root_call()
            .map(|root| json!({ "entry": root.name, "arguments": root.arguments, "is_of_client": root.is_of_client }));
        Some(json!({
            "line": self.line(), "request": request, "answers": self.answers(), "origins": values, "read": read,
        }))
    }
}

/// Returns a value and where it came from.
fn text_of(found: &ArgumentOrigin) -> String {
    format!("{}: {}", found.argument, found.origin)
}

/// Returns the text about a value in a line; a value of the user's or the program's is there only for its labels.
fn line_of(found: &ArgumentOrigin) -> String {
    let labels = if is_of_user_or_program(found) { found.labels().remark() } else { String::new() };
    format!("{}{labels}", text_of(found))
}

fn is_of_user_or_program(found: &ArgumentOrigin) -> bool {
    found.origin.is_own() || found.origin == ValueOrigin::Client
}

/// Returns whether a value needs no remark: the user, a client or the program gave it, and nothing untrusted or private is in it.
fn is_asked_for(found: &ArgumentOrigin) -> bool {
    is_of_user_or_program(found) && found.label != Label::Untrusted && !found.is_private
}

/// Returns a result that was read as JSON.
fn shown_result(read: &ReadResult) -> Value {
    let mut shown = json!({ "call": read.summary, "through": read.through });
    if read.label != Label::Trusted {
        shown["label"] = json!(read.label);
    }
    if read.is_private {
        shown["is_private"] = true.into();
    }
    shown
}
