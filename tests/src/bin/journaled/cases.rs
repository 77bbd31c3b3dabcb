//! The cases of `journaled`: one root call each.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;

use futures_util::future::try_join_all;
use llm_do::error::chain;
use llm_do::prelude::*;
use llm_do::toolsets::{worker_call, worker_create, workers};
use llm_do::{Value, json};

use super::Effects;

/// Add a line.
#[tool(effect = destructive)]
fn append(line: String, effects: State<Effects>) -> io::Result<usize> {
    effects.add(&line)?;
    Ok(line.len())
}

/// Add lines concurrently, and return the sum of their lengths.
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

/// Add a line of unordered words.
#[tool(effect = destructive)]
fn append_set(words: HashSet<String>, counts: HashMap<String, u8>, effects: State<Effects>) -> io::Result<usize> {
    let mut words: Vec<_> = words.into_iter().collect();
    words.sort();
    effects.add(&format!("set {}", words.join(" ")))?;
    Ok(words.len() + counts.len())
}

/// Add lines, one after the other.
#[worker(toolsets = [append, append_all])]
async fn clerk(of: String) -> String;

/// Add lines of unordered words.
#[worker(toolsets = [append_set])]
async fn sorter(of: HashSet<String>) -> String;

/// Add lines, some of which are denied.
#[worker(toolsets = [append])]
async fn daring(of: String) -> String;

/// Create a worker, and call it.
#[worker(toolsets = [workers])]
async fn lead(of: String) -> String;

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
    ctx.sleep(std::time::Duration::from_millis(2)).await?;
    // With a different time, the arguments would differ from the recorded call.
    let now = ctx.now().await?;
    ctx.call(append { line: format!("at {now}") }).await?;
    for n in 0..4 {
        results.push(ctx.call(append { line: format!("last {n}") }).await?.to_string());
    }
    Ok(results)
}

/// Adds lines that the approver changes or refuses, and ends with a refused one.
#[entry(toolsets = [append])]
async fn refused(ctx: &CallContext<refused>) -> Result<Vec<String>> {
    for line in ["one", "edit two", "three"] {
        ctx.call(append { line: line.into() }).await?;
    }
    let Err(error) = ctx.call(append { line: "refuse four".into() }).await else { return Ok(Vec::new()) };
    ctx.call(append { line: format!("after {}", chain(&error).len()) }).await?;
    ctx.call(append { line: "refuse five".into() }).await?;
    Ok(Vec::new())
}

/// Has a worker add lines that the approver changes or refuses.
#[entry(toolsets = [append, daring])]
async fn dared(ctx: &CallContext<dared>) -> Result<Vec<String>> {
    let answer = ctx.call(daring { of: "daring".into() }).await?;
    ctx.call(append { line: "after daring".into() }).await?;
    Ok(vec![answer])
}

/// Asks the user, and adds the answers.
#[entry(toolsets = [append])]
async fn answered(ctx: &CallContext<answered>) -> Result<Vec<String>> {
    let mut answers = Vec::new();
    for question in ["first", "second", "third"] {
        let answer = ctx.request_user_input(question).await?;
        ctx.call(append { line: format!("to {answer}") }).await?;
        answers.push(answer);
    }
    Ok(answers)
}

/// Creates workers by code and by a model, and calls them.
#[entry(toolsets = [append, workers, lead])]
async fn makes(ctx: &CallContext<makes>) -> Result<Vec<String>> {
    let mut results = Vec::new();
    for (n, name) in ["helper", "other", "helper"].into_iter().enumerate() {
        let created = ctx.call(create(name)).await.map_err(|error| chain(&error));
        results.push(created.map_or_else(|error| error, |created| created.to_string()));
        ctx.call(append { line: format!("made {n}") }).await?;
        let ask = worker_call { worker: name.into(), input: format!("{n}").into(), attachments: Vec::new() };
        results.push(ctx.call(ask).await?.value().to_string());
    }
    results.push(ctx.call(lead { of: "lead".into() }).await?);
    ctx.call(append { line: "made all".into() }).await?;
    Ok(results)
}

fn create(name: &str) -> worker_create {
    worker_create {
        name: name.into(),
        instructions: format!("You are {name}."),
        description: "Helps.".into(),
        model: None,
        toolsets: Vec::new(),
        output_schema: None,
        input_schema: None,
    }
}

/// Adds lines of unordered words: one by one, concurrently, and by a worker.
#[entry(toolsets = [append_set, sorter])]
async fn unordered(ctx: &CallContext<unordered>) -> Result<Vec<String>> {
    let words = |of: &str| (0..8).map(|n| format!("{of}{n}")).collect::<HashSet<_>>();
    let set = |of: &str| append_set { words: words(of), counts: words(of).into_iter().map(|word| (word, 1)).collect() };
    let mut results = vec![ctx.call(set("a")).await?.to_string()];
    let (b, c, sorted) =
        futures_util::try_join!(ctx.call(set("b")), ctx.call(set("c")), ctx.call(sorter { of: words("d") }))?;
    results.extend([b.to_string(), c.to_string(), sorted]);
    results.push(ctx.call(set("e")).await?.to_string());
    Ok(results)
}

/// Adds lines one by one and concurrently.
#[entry(toolsets = [append, append_all])]
async fn moded(ctx: &CallContext<moded>) -> Result<Vec<String>> {
    let mut results = Vec::new();
    for n in 0..4 {
        results.push(ctx.call(append { line: format!("moded {n}") }).await?.to_string());
    }
    results.push(ctx.call(append_all { of: "all".into(), count: 3 }).await?.to_string());
    for n in 4..6 {
        results.push(ctx.call(append { line: format!("moded {n}") }).await?.to_string());
    }
    Ok(results)
}

/// Returns the root call of a case: its name and arguments.
pub(crate) fn call(case: &str) -> (&'static str, Value) {
    let cases = BTreeMap::from([
        ("ledger", ("ledger", json!({}))),
        ("refused", ("refused", json!({}))),
        ("dared", ("dared", json!({}))),
        ("answered", ("answered", json!({}))),
        ("makes", ("makes", json!({}))),
        ("unordered", ("unordered", json!({}))),
        ("moded", ("moded", json!({}))),
        ("root_tool", ("append", json!({ "line": "root" }))),
    ]);
    cases[case].clone()
}
