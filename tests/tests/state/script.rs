//! Scripts: tools that are functions in files of Python.

mod any_input;
mod attacks;
mod code_flow;
mod code_mode;
mod code_runs;
mod dry_run;
mod effects;
mod faults;
mod hundred;
mod journal;
mod parity;
mod projects;
mod propose;
mod signature;
mod typed_errors;
mod unsure;
mod values;

use std::sync::{Arc, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::script::ScriptTool;
use llm_do::{Effect, Value, data};

pub(crate) use self::propose::{Parcel, size_of};

/// A note in a list.
#[data]
struct Hit {
    id: u32,
    title: String,
    votes: u32,
}

/// How a note stands.
#[data]
enum Status {
    Open,
    Closed,
}

/// A note.
#[data]
struct Note {
    title: String,
    status: Status,
    parent: Option<u32>,
}

/// What tools did. Clones share it.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn add(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

const TITLES: [&str; 3] = ["one more", "two", "four"];

/// Find the notes with a word in the title.
#[tool(effect = read_only)]
fn search(word: &str, #[arg(default = 5)] limit: usize) -> Vec<Hit> {
    let hits = (1_u32..).zip(TITLES).filter(|(_, title)| title.contains(word));
    hits.map(|(id, title)| Hit { id, title: title.to_owned(), votes: 4 * id }).take(limit).collect()
}

/// Return a note.
#[tool(effect = read_only)]
fn read_note(id: u32) -> Result<Note> {
    let title = TITLES.get(id as usize - 1).ok_or("KeyError: no such note")?;
    let status = if id == 1 { Status::Open } else { Status::Closed };
    Ok(Note { title: (*title).to_owned(), status, parent: (id > 1).then_some(id - 1) })
}

/// Change the title of a note.
#[tool(effect = idempotent)]
fn save(id: u32, text: String, log: State<Log>) -> bool {
    log.add(format!("saved {id}: {text}"));
    true
}

/// Delete a note.
#[tool(effect = destructive)]
fn erase(id: u32, log: State<Log>) -> bool {
    log.add(format!("erased {id}"));
    true
}

/// Return the price of an item, in cents.
#[tool(effect = read_only)]
async fn price(item: String, log: State<Log>) -> u64 {
    log.add(format!("price of {item}"));
    tokio::task::yield_now().await;
    log.add(format!("priced {item}"));
    item.len() as u64
}

/// Fail with these words.
#[tool(effect = read_only)]
fn fail(words: String) -> Result<()> {
    Err(words.into())
}

/// Return what was given.
#[tool(effect = read_only)]
fn echo(value: Value) -> Value {
    value
}

/// The front of the scripts of tests: every tool.
const ALL: &str = "---\n    toolsets: [search, read_note, save, erase, price, fail, echo]\n    ---\n    Do it.";

/// Returns a script `main` with this body, which may call every tool.
fn with_body(signature: &str, body: &str) -> String {
    format!("from typing import Any\n{signature}\n    \"\"\"\n    {ALL}\n    \"\"\"\n{body}\n")
}

/// A builder with the tools of this program.
fn builder() -> (RuntimeBuilder, Log) {
    let log = Log::default();
    (crate::own_builder().state(log.clone()), log)
}

/// Runs the script `main`, in which all calls are approved.
async fn run(text: &str, arguments: Value) -> Result<Value> {
    let (builder, _) = builder();
    let runtime = builder.approval_mode(ApprovalMode::ApproveAll).tool(ScriptTool::parse("main", text)?).build()?;
    Ok(runtime.run_named("main", arguments).await?)
}

/// Runs a body of `def main() -> Any:`.
async fn run_body(body: &str) -> Result<Value> {
    run(&with_body("def main() -> Any:", body), Value::Null).await
}

/// Returns the text of an error with its causes.
fn text_of(error: &llm_do::error::BoxError) -> String {
    llm_do::error::chain(error.as_ref())
}

/// Returns the effect of a script in a runtime.
fn effect_of(runtime: &Runtime, name: &str) -> Effect {
    runtime.registry().get(name).unwrap().effect()
}
