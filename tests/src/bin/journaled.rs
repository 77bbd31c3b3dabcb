//! An application for the tests of journals: it is killed, and started again.
//!
//! `journaled JOURNAL EFFECTS`: each effect is a line of the file `EFFECTS`, on the disk before it ends, and then one of
//! the output; the last line of the output is the result.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::time::Duration;

use futures_util::future::try_join_all;
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::{Decision, FileJournal, Message, Request, Response, ResponsePart, ToolCall, Usage, json};

/// Where effects are written.
struct Effects(PathBuf);

impl Effects {
    fn add(&self, effect: &str) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).create(true).open(&self.0)?;
        file.write_all(format!("{effect}\n").as_bytes())?;
        file.sync_data()?;
        say(effect)
    }
}

fn say(line: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

/// Add a line.
#[tool(effect = destructive)]
fn append(line: String, effects: State<Effects>) -> io::Result<usize> {
    effects.add(&line)?;
    Ok(line.len())
}

/// Add lines at once, and say how many.
#[tool(effect = destructive, toolsets = [append])]
async fn append_all(ctx: &CallContext<append_all>, of: String, count: usize, effects: State<Effects>) -> Result<usize> {
    let lines = (0..count).map(|n| ctx.call(append { line: format!("{of} {n}") }));
    let lengths = try_join_all(lines).await?;
    let line = format!("{of} sum");
    let sum = async move {
        effects.add(&line)?;
        Ok(lengths.iter().sum())
    };
    Ok(ctx.effect("sum", &of, sum).await?)
}

/// Add lines, one after the other.
#[worker(toolsets = [append, append_all])]
async fn clerk(of: String) -> String;

/// Does 30 things and more.
#[entry(toolsets = [append, append_all, clerk])]
async fn ledger(ctx: &CallContext<ledger>) -> Result<Vec<String>> {
    let mut results = Vec::new();
    for n in 0..8 {
        results.push(ctx.call(append { line: format!("alone {n}") }).await?.to_string());
    }
    let (first, second, clerk) = futures_util::try_join!(
        ctx.call(append_all { of: "first".into(), count: 4 }),
        ctx.call(append_all { of: "second".into(), count: 4 }),
        ctx.call(clerk { of: "clerk".into() }),
    )?;
    results.extend([first.to_string(), second.to_string(), clerk]);
    ctx.sleep(Duration::from_millis(2)).await?;
    // Another time would be another call, which no journal takes for this one.
    let now = ctx.now().await?;
    ctx.call(append { line: format!("at {now}") }).await?;
    for n in 0..4 {
        results.push(ctx.call(append { line: format!("last {n}") }).await?.to_string());
    }
    Ok(results)
}

/// A model that adds three lines, one an answer, and several at once, and then says what it was told of each.
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let told: Vec<_> = request.messages.iter().flat_map(told).collect();
        let (name, arguments) = match told.len() {
            n @ 0..3 => ("append", json!({ "line": format!("clerk {n}") })),
            3 => ("append_all", json!({ "of": "clerk's", "count": 3 })),
            _ => {
                let parts = vec![ResponsePart::Text { text: told.join(",") }];
                return Ok(Response::new("clerk", parts, Usage::of_request(1, 1)));
            }
        };
        let call = ToolCall::new(told.len().to_string(), name, arguments.to_string());
        Ok(Response::new("clerk", vec![ResponsePart::ToolCall(call)], Usage::of_request(1, 1)))
    })
}

fn told(message: &Message) -> Vec<String> {
    match message {
        Message::Tool { results } => results.iter().map(|result| result.content.clone()).collect(),
        _ => Vec::new(),
    }
}

fn main() -> Result<()> {
    let mut paths = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(journal), Some(effects)) = (paths.next(), paths.next()) else {
        return Err("give two paths: the journal, and the file for effects".into());
    };
    let runtime = Runtime::builder()
        .journal(FileJournal::open(journal)?)
        .state(Effects(effects))
        .force_model(model())
        .approve_with(|request| async move {
            tokio::task::yield_now().await;
            if request.caller.is_empty() { Decision::deny("nobody calls it") } else { Decision::approve() }
        })
        .build()?;
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let results = tokio.block_on(runtime.run(ledger {}))?;
    Ok(say(&json!(results).to_string())?)
}
