//! What a script costs beside the calls that it makes, and beside the same source in the bare interpreter.

#![allow(
    missing_docs,
    clippy::print_stdout,
    reason = "criterion makes undocumented functions, and the cold figure is printed"
)]

use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group};
use llm_do::prelude::*;
use llm_do::script::ScriptTool;
use llm_do::{Value, json};
use monty::{MontyRun, RunProgress};
use monty_types::{CompileOptions, MontyObject, NameLookupResult, PrintWriter, ResourceLimits, ResourceTracker};

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add(left: i64, right: i64) -> i64 {
    left + right
}

/// Adds ten times.
#[entry(toolsets = [add])]
async fn ten_in_rust(ctx: &CallContext<ten_in_rust>) -> Result<i64> {
    let mut sum = 0;
    for _ in 0..10 {
        sum = ctx.call_tool("add", json!({ "left": sum, "right": 1 })).await?.as_i64().unwrap_or_default();
    }
    Ok(sum)
}

const TEN: &str = r#"
def ten() -> int:
    """
    ---
    toolsets: [add]
    ---
    Add ten times.
    """
    sum = 0
    for _ in range(10):
        sum = add(left=sum, right=1)
    return sum
"#;
const NONE: &str = "def none() -> int:\n    \"\"\"Return a number.\"\"\"\n    return 1\n";
const LOOP: &str = "def loop() -> int:\n    \"\"\"Count.\"\"\"\n    n = 0\n    for i in range(100000):\n        n += i % 3\n    return n\n";

/// A script of about 50 lines; `number` makes its text unique.
fn fifty_lines(number: usize) -> String {
    let mut text = TEN.replace("def ten", "def fifty");
    for line in 0..36 {
        text =
            text.replacen("    sum = 0\n", &format!("    sum = 0\n    x{line}: list[int] = [{number}, {line}]\n"), 1);
    }
    text
}

fn build(text: &str, function: &str) -> Runtime {
    let tool = ScriptTool::parse(function, text).expect("a script without faults");
    Runtime::builder().tool(tool).build().expect("a script without faults")
}

/// Compiles a source for the bare interpreter, which calls its function.
fn compile(text: &str, function: &str) -> MontyRun {
    let text = format!("{text}\n{function}()\n");
    MontyRun::new(text, "main.py", Vec::new(), CompileOptions::default()).expect("a script without faults")
}

/// Runs a source in the bare interpreter, with the limits that scripts have, and answers its calls of `add` in place.
fn bare(program: MontyRun) -> MontyObject {
    let limits = ResourceLimits::default().max_duration(Duration::from_secs(10)).max_memory(512 << 20);
    let out = || PrintWriter::Disabled;
    let mut progress = program.start(Vec::new(), ResourceTracker::new(limits), out());
    loop {
        progress = match progress.expect("no exception") {
            RunProgress::Complete(value) => return value,
            RunProgress::FunctionCall(call) => {
                let sum: i64 = call
                    .kwargs
                    .iter()
                    .map(|(_, value)| if let MontyObject::Int(part) = value { *part } else { 0 })
                    .sum();
                call.resume(MontyObject::Int(sum), out())
            }
            RunProgress::NameLookup(lookup) => {
                let function = MontyObject::Function { name: lookup.name.clone(), docstring: None };
                lookup.resume(NameLookupResult::Value(function), out())
            }
            other => panic!("unexpected: {other:?}"),
        }
    }
}

fn script(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Runtime::new().expect("a runtime of tokio");
    let (ten, none, count) = (build(TEN, "ten"), build(NONE, "none"), build(LOOP, "loop"));
    let mut run = |name: &str, runtime: &Runtime, item: &str| {
        criterion.bench_function(name, |bencher| {
            bencher.to_async(&tokio).iter(|| async { runtime.run_named(item, Value::Null).await.expect("a number") });
        });
    };
    run("10 calls from Rust", &ten, "ten_in_rust");
    run("10 calls from a script", &ten, "ten");
    run("a script without calls", &none, "none");
    run("a loop of 100,000 rounds", &count, "loop");
    for (name, text, function) in [
        ("10 calls, bare", TEN, "ten"),
        ("without calls, bare", NONE, "none"),
        ("a loop of 100,000 rounds, bare", LOOP, "loop"),
    ] {
        let program = compile(text, function);
        criterion.bench_function(name, |bencher| bencher.iter(|| bare(program.clone())));
    }
    let text = fifty_lines(0);
    criterion.bench_function("50 lines, checked before", |bencher| bencher.iter(|| build(&text, "fifty")));
    let mut number = 0;
    criterion.bench_function("50 lines, checked first", |bencher| {
        bencher.iter(|| {
            number += 1;
            build(&fifty_lines(number), "fifty")
        });
    });
}

criterion_group!(benches, script);
/// Prints how long the first check of a process takes, in which the checker reads its library.
fn cold() {
    let started = Instant::now();
    build(&fifty_lines(0), "fifty");
    println!("50 lines, checked first in the process: {} ms", started.elapsed().as_millis());
}

fn main() {
    cold();
    benches();
    Criterion::default().configure_from_args().final_summary();
}
