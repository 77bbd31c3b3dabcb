//! One task on every rung: a worker, a script that a model proposes from the worker's runs, a hybrid of both, and a Rust function.
#![allow(clippy::print_stdout, reason = "the report and the table are what it is for")]

mod demo;
mod messages;

use std::time::{Duration, Instant};

use llm_do::harden::{Cases, Gate, Proposer};
use llm_do::journal::MemoryJournal;
use llm_do::json;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::script::ScriptTool;
use llm_do::usage::{Cost, Money, Price, PriceTable};

use self::messages::{Message, messages};

/// The messages whose runs are recorded; those after them measure the rungs.
const RECORDED: usize = 120;
/// The messages that measure the rungs.
const MEASURED: usize = 60;

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

/// Name the queue of a message: what a person wrote after the script was read.
#[tool(effect = read_only)]
fn queue_of_rule(message: &str) -> &'static str {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| message.contains(word));
    match () {
        () if has(&["crash", "page"]) => "technical",
        () if has(&["invoice", "charged", "payment"]) => "billing",
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
    let all = messages(RECORDED + MEASURED);
    let (recorded, measured) = all.split_at(RECORDED);

    let journal = MemoryJournal::new();
    let messages = recorded.iter().map(|message| message.text.clone()).collect();
    let recording = builder()?.journal(journal.clone()).build()?;
    recording.run(sort_messages { messages }).await?;
    let mut cases = Cases::of("queue_of");
    cases.add(journal.records());

    let proposer = Proposer::new("queue_of").model("demo:author").budget(Money::from_cents(50)).attempts(4);
    // So few messages show no more than that; the default gate needs at least 59 held-back answers that agree.
    let proposer = proposer.gate(Gate::new().agreement(0.7));
    let proposal = proposer.propose(builder()?, &cases).await?;
    println!("{}", proposal.report);
    let script = proposal.script.ok_or("no script was good enough")?;

    let tool = ScriptTool::parse("queue_of_script", &script)?;
    let runtime = builder()?.tool(tool.clone()).build()?;
    let hybrid = builder()?.tool(tool).hybrid("queue_of", "queue_of_script").build()?;
    println!("# {MEASURED} new messages on each rung\n");
    println!("| rung | right | wrong | unsure | cost | time of a call |\n|---|---|---|---|---|---|");
    print("worker", &rung(&runtime, "queue_of", measured).await?);
    print("script", &rung(&runtime, "queue_of_script", measured).await?);
    print("hybrid", &rung(&hybrid, "queue_of", measured).await?);
    print("Rust", &rung(&runtime, "queue_of_rule", measured).await?);
    Ok(())
}

fn builder() -> Result<RuntimeBuilder> {
    let price = Price::per_million(Money::from_dollars(1), Money::from_dollars(5));
    let prices = PriceTable::builtin().with("function:clerk", price.clone())?.with("function:author", price)?;
    Ok(Runtime::builder().default_model("demo:clerk").prices(prices))
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

fn print(name: &str, measured: &Measured) {
    let Measured { right, wrong, unsure, cost, time } = measured;
    let microseconds = time.as_micros() / MEASURED as u128;
    println!("| {name} | {right} | {wrong} | {unsure} | {cost} | {microseconds} µs |");
}
