//! One task on every rung: a worker, a worker whose results are checked, a decision that is learned from the worker's runs, a script that a
//! model proposes from them, a hybrid, and a Rust function.
#![allow(clippy::print_stdout, reason = "the reports and the table are what it is for")]

mod demo;
mod messages;

use std::time::{Duration, Instant};

use llm_do::harden::{Cases, Gate, LearnedTool, Learner, Proposer, Summary};
use llm_do::journal::MemoryJournal;
use llm_do::json;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::script::ScriptTool;
use llm_do::usage::{Cost, Money, Price, PriceTable};
use llm_do::worker::{Assessment, WorkerSpec};

use self::messages::{MEASURED, Message, messages};

/// A worker whose file names the evaluator of its results.
const CHECKED: &str = include_str!("../queue_checked.worker");
const QUEUES: [&str; 3] = ["billing", "technical", "account"];

/// Name the queue of a message: billing, technical or account.
#[worker]
async fn queue_of(message: String) -> String;

/// Sorts messages into queues.
#[entry(toolsets = [queue_of])]
async fn sort_messages(ctx: &CallContext<sort_messages>, messages: Vec<String>) -> Result<Vec<String>> {
    let mut queues = Vec::new();
    for message in messages {
        queues.push(ctx.call(queue_of { message }).await?);
    }
    Ok(queues)
}

/// Score a queue: it must be one of those that there are.
#[tool(effect = read_only)]
fn is_queue(result: &str) -> Assessment {
    if QUEUES.contains(&result) {
        return Assessment::new(1.0);
    }
    Assessment::new(0.0).reason(format!("`{result}` is not a queue: name one of {}", QUEUES.join(", ")))
}

/// Name the queue of a message: what a person wrote after the script was read.
#[tool(effect = read_only)]
fn queue_of_rule(message: &str) -> &'static str {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match () {
        () if has(&["crash", "page", "sync", "search", "export"]) => "technical",
        () if has(&["invoice", "charged", "payment", "discount"]) => "billing",
        () if has(&["error"]) => "technical",
        () => "account",
    }
}

/// How a rung did.
#[derive(Default)]
struct Measured {
    right: usize,
    wrong: usize,
    unsure: usize,
    cost: Cost,
    time: Duration,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // What the model writes runs in a process of its own: this program, started again.
    llm_do::script::interpreter_process();
    let (recorded, measured) = messages();
    let cases = record(recorded).await?;
    let learned = learn(&cases).await?;
    let script = propose(&cases).await?;

    let runtime = builder()?.tool(learned).tool(script.clone()).build()?;
    let hybrid = builder()?.tool(script).hybrid("queue_of", "queue_of_script").build()?;
    println!("# {MEASURED} new messages on each rung\n");
    println!("| rung | answered | right | right at least | cost | time of a call |\n|---|---|---|---|---|---|");
    print("worker", &rung(&runtime, "queue_of", measured).await?);
    print("refined", &rung(&runtime, "queue_checked", measured).await?);
    print("learned", &rung(&runtime, "queue_of_learned", measured).await?);
    print("script", &rung(&runtime, "queue_of_script", measured).await?);
    print("hybrid", &rung(&hybrid, "queue_of", measured).await?);
    print("Rust", &rung(&runtime, "queue_of_rule", measured).await?);
    Ok(())
}

fn builder() -> Result<RuntimeBuilder> {
    let price = Price::per_million(Money::from_dollars(1), Money::from_dollars(5));
    let prices = PriceTable::builtin().with("function:clerk", price.clone())?.with("function:author", price)?;
    let checked: WorkerSpec = CHECKED.parse()?;
    Ok(Runtime::builder().default_model("demo:clerk").prices(prices).worker(checked))
}

/// What a candidate has to show. The worker is wrong about 1 of 23 messages, so its records show no more than 0.95.
fn gate() -> Gate {
    Gate::new().agreement(0.85)
}

/// Records what the worker answers.
async fn record(messages: &[Message]) -> Result<Cases> {
    let journal = MemoryJournal::new();
    let messages = messages.iter().map(|message| message.text.clone()).collect();
    let recording = builder()?.journal(journal.clone()).build()?;
    recording.run(sort_messages { messages }).await?;
    let mut cases = Cases::of("queue_of");
    cases.add(journal.records());
    Ok(cases)
}

/// Learns a decision from the records, without a model.
async fn learn(cases: &Cases) -> Result<LearnedTool> {
    let learned = Learner::new("queue_of").gate(gate()).learn(builder()?, cases).await?;
    println!("{}", learned.report);
    Ok(LearnedTool::parse(&learned.file)?)
}

/// Has a model write a script from the records.
async fn propose(cases: &Cases) -> Result<ScriptTool> {
    let proposer = Proposer::new("queue_of").model("demo:author").budget(Money::from_cents(50)).attempts(4);
    let proposal = proposer.gate(gate()).propose(builder()?, cases).await?;
    println!("{}", proposal.report);
    let script = proposal.script.ok_or("no script was good enough")?;
    Ok(ScriptTool::parse("queue_of_script", &script)?)
}

async fn rung(runtime: &Runtime, name: &str, messages: &[Message]) -> Result<Measured> {
    let mut measured = Measured::default();
    for message in messages {
        let start = runtime.start_named(name, json!({ "message": message.text }));
        let handle = start.handle();
        let began = Instant::now();
        let answer = start.await;
        measured.time += began.elapsed();
        measured.cost += handle.usage().cost;
        match answer {
            Ok(queue) if queue == message.queue => measured.right += 1,
            Ok(_) => measured.wrong += 1,
            Err(error) if error.is_unsure() => measured.unsure += 1,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(measured)
}

/// Prints the share that it answers, the exact lower bound of its right answers with 95 % confidence, its cost, and its time.
fn print(name: &str, measured: &Measured) {
    let Measured { right, wrong, unsure, cost, time } = measured;
    let mut summary = Summary::default();
    (summary.agree, summary.of, summary.unsure) = (*right, MEASURED, *unsure);
    let shown = Gate::new().judge(&summary);
    let (share, bound) = (100.0 * shown.coverage, 100.0 * shown.bound);
    let (answered, microseconds) = (right + wrong, time.as_micros() / MEASURED as u128);
    println!("| {name} | {answered} ({share:.0} %) | {right} | {bound:.1} % | {cost} | {microseconds} µs |");
}
