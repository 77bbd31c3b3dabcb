//! Workers in code mode, whose model sends the code that the arguments give.
//!
//! `code_mode run CODE..` prints what the model sees after each piece of code, one JSON value a line; `code_mode compare`
//! prints requests and tokens of twelve tasks by code and by plain tool calls. `runs` has the other commands.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may fail by a panic, and reads what is printed")]

#[path = "code_mode/runs.rs"]
mod runs;

use std::sync::{Arc, Mutex};

use llm_do::approval::ApprovalMode;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use llm_do::{data, json};

/// A ticket.
#[data]
struct Ticket {
    id: u32,
    title: String,
    votes: u32,
}

/// List the ids of all tickets.
#[tool(effect = read_only)]
fn list_tickets() -> Vec<u32> {
    (1..=8).collect()
}

/// Read a ticket.
#[tool(effect = read_only)]
fn read_ticket(id: u32) -> Result<Ticket> {
    if id > 8 {
        return Err("KeyError: no such ticket".into());
    }
    Ok(Ticket { id, title: format!("ticket {id}"), votes: id * 7 % 10 })
}

/// The tickets that were closed.
static CLOSED: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Close a ticket.
#[tool(effect = destructive)]
fn close_ticket(id: u32, reason: String) -> bool {
    CLOSED.lock().unwrap().push(id);
    id > 0 && !reason.is_empty()
}

/// Work by code.
#[worker(toolsets = [list_tickets, read_ticket, close_ticket], code = true, retries = 9)]
async fn by_code(input: String) -> String;

/// Work by plain calls.
#[worker(toolsets = [list_tickets, read_ticket, close_ticket], max_turns = 100)]
async fn by_calls(input: String) -> String;

/// The tool calls of a model's turn: names and arguments.
type Turn = Vec<(&'static str, serde_json::Value)>;

/// A model that makes these calls, one turn after the other, and then answers; what it reads counts as tokens, 4 bytes each.
fn model(turns: Vec<Turn>, seen: Arc<Mutex<Vec<Message>>>) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| {
        let number = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        seen.lock().unwrap().extend(request.messages.last().cloned());
        let parts = match turns.get(number) {
            Some(turn) => turn
                .iter()
                .enumerate()
                .map(|(index, (tool, arguments))| {
                    ResponsePart::ToolCall(ToolCall::new(format!("{number}-{index}"), *tool, arguments.to_string()))
                })
                .collect(),
            None => vec![ResponsePart::Text { text: results(request.messages).join("\n") }],
        };
        let history = serde_json::to_string(request.messages).unwrap();
        let tools = serde_json::to_string(request.tools).unwrap();
        let read = history.len() + tools.len() + request.instructions.unwrap_or_default().len();
        let written = serde_json::to_string(&parts).unwrap().len();
        let mut usage = Usage::default();
        usage.input_tokens = read as u64 / 4;
        usage.output_tokens = written as u64 / 4;
        Ok(Response::new("m", parts, usage))
    })
}

/// Returns the results of tools in a conversation.
fn results(messages: &[Message]) -> Vec<&str> {
    let results = messages.iter().flat_map(|message| match message {
        Message::Tool { results } => results.as_slice(),
        _ => &[],
    });
    results.map(|result| &*result.content).collect()
}

/// Returns the turns of a model that sends these pieces of code.
fn turns(code: impl Iterator<Item = String>) -> Vec<Turn> {
    code.map(|code| vec![("run_code", json!({ "code": code }))]).collect()
}

/// Runs a worker; returns what its model saw, and the requests and tokens.
async fn run(worker: &str, turns: Vec<Turn>) -> (Vec<Message>, [u64; 2]) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let model = model(turns, Arc::clone(&seen));
    let builder = Runtime::builder().force_model(model).approval_mode(ApprovalMode::ApproveAll);
    let runtime = builder.build().unwrap();
    let start = runtime.start_named(worker, json!({ "input": "go" }));
    let handle = start.handle();
    start.await.unwrap();
    let (seen, used) = (std::mem::take(&mut *seen.lock().unwrap()), handle.usage());
    (seen, [used.model.requests, used.model.input_tokens + used.model.output_tokens])
}

fn list() -> Turn {
    vec![("list_tickets", json!({}))]
}

fn reads(ids: impl IntoIterator<Item = u32>) -> Turn {
    ids.into_iter().map(|id| ("read_ticket", json!({ "id": id }))).collect()
}

fn closes(ids: impl IntoIterator<Item = u32>) -> Turn {
    ids.into_iter().map(|id| ("close_ticket", json!({ "id": id, "reason": "old" }))).collect()
}

/// Twelve tasks, each as code and as the turns of a model that makes independent calls in one turn.
fn tasks() -> Vec<(&'static str, Vec<Turn>)> {
    let each = |ids: std::ops::RangeInclusive<u32>| ids.map(|id| reads([id])).collect::<Vec<_>>();
    vec![
        ("len(list_tickets())", vec![list()]),
        ("[read_ticket(i)['title'] for i in list_tickets()]", vec![list(), reads(1..=8)]),
        ("max([read_ticket(i) for i in list_tickets()], key=lambda t: t['votes'])['id']", vec![list(), reads(1..=8)]),
        (
            "least = min([read_ticket(i) for i in list_tickets()], key=lambda t: t['votes'])\nclose_ticket(least['id'], 'old')",
            vec![list(), reads(1..=8), closes([3])],
        ),
        ("read_ticket(read_ticket(1)['votes'])['votes']", vec![reads([1]), reads([7])]),
        (
            "for i in list_tickets():\n    if read_ticket(i)['votes'] < 3:\n        close_ticket(i, 'old')",
            vec![list(), reads(1..=8), closes([3, 6])],
        ),
        ("sum([read_ticket(i)['votes'] for i in list_tickets()]) / 8", vec![list(), reads(1..=8)]),
        (
            "try:\n    x = read_ticket(9)\nexcept KeyError:\n    x = read_ticket(8)\nx['title']",
            vec![reads([9]), reads([8])],
        ),
        ("sum([read_ticket(i)['votes'] for i in list_tickets() if i % 2 == 0])", vec![list(), reads([2, 4, 6, 8])]),
        ("i = 1\nwhile read_ticket(i)['votes'] != 9:\n    i += 1\ni", each(1..=7)),
        ("[close_ticket(i, 'old') for i in list_tickets()]", vec![list(), closes(1..=8)]),
        ("i = 1\nwhile read_ticket(i)['votes'] != 2:\n    i += 1\nclose_ticket(i, 'old')", {
            let mut turns = each(1..=6);
            turns.push(closes([6]));
            turns
        }),
    ]
}

async fn compare() {
    let mut sums = [[0; 2]; 2];
    for (code, calls) in tasks() {
        let by_code = run("by_code", vec![vec![("run_code", json!({ "code": code }))]]).await;
        let failed = serde_json::to_string(&by_code.0).unwrap().contains("\"is_error\":true");
        assert!(!failed, "{code}: {:?}", by_code.0);
        let by_calls = run("by_calls", calls).await;
        for (sum, used) in sums.iter_mut().zip([by_code.1, by_calls.1]) {
            sum[0] += used[0];
            sum[1] += used[1];
        }
    }
    println!("{}", json!({ "code": sums[0], "calls": sums[1] }));
}

fn main() {
    llm_do::script::interpreter_process();
    let tokio = tokio::runtime::Runtime::new().unwrap();
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some("compare") => tokio.block_on(compare()),
        Some("run") => {
            for message in tokio.block_on(run("by_code", turns(arguments))).0 {
                println!("{}", serde_json::to_string(&message).unwrap());
            }
        }
        Some(command) => tokio.block_on(runs::run(command, arguments)),
        None => {}
    }
}
