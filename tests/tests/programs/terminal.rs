//! The command line in a terminal: questions, answers and progress.

mod approve;
mod chat;
mod coding;
mod color;
mod dialogues;
mod input;
mod pipes;
mod progress;
pub(crate) mod session;
mod streaming;

/// The prompt of an approval, at the start of a row.
const PROMPT: &str = "\r\nApprove? [y]es, [s]ession, [a]lways, [n]o and why, s[t]op, [e]dit, [d]etails: ";

/// The arguments that run a tool with this input.
fn tool<'a>(name: &'a str, input: &'a str) -> [&'a str; 5] {
    ["run", "--tool", name, "--input-json", input]
}

/// Returns the rows as one text.
fn text(rows: &[String]) -> String {
    rows.join("\n")
}
