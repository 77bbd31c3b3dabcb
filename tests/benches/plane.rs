//! What the tool plane costs: a call of a tool from code, and a worker's turns without a model to wait for.

#![allow(missing_docs, reason = "criterion's macros make undocumented functions")]

use criterion::{Criterion, criterion_group, criterion_main};
use llm_do::model::{Request, Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add(left: i64, right: i64) -> i64 {
    left + right
}

/// Count to a number.
#[worker(toolsets = [add], max_turns = 1000)]
async fn count(input: String) -> String;

/// Adds a hundred times.
#[entry(toolsets = [add])]
async fn hundred(ctx: &CallContext<hundred>) -> Result<i64> {
    let mut sum = 0;
    for _ in 0..100 {
        sum = ctx.call(add { left: sum, right: 1 }).await?;
    }
    Ok(sum)
}

/// A model that asks for `turns` calls of `add`, one an answer, and then answers in text.
fn model(turns: usize) -> FunctionModel {
    FunctionModel::new(move |request: Request<'_>| {
        let part = if request.messages.len() < 2 * turns {
            ResponsePart::ToolCall(ToolCall::new("id", "add", r#"{"left":1,"right":2}"#))
        } else {
            ResponsePart::Text { text: "done".to_owned() }
        };
        Ok(Response::new("m", vec![part], Usage::default()))
    })
}

fn plane(criterion: &mut Criterion) {
    let tokio = tokio::runtime::Runtime::new().expect("a runtime of tokio");
    let runtime = Runtime::builder().build().expect("a registry without faults");
    criterion.bench_function("100 calls from code", |bencher| {
        bencher.to_async(&tokio).iter(|| async { runtime.run(hundred {}).await.expect("a sum") });
    });
    // Ten times the turns must cost about ten times the time: nothing is quadratic in turns.
    for turns in [10, 100] {
        let runtime = Runtime::builder().force_model(model(turns)).build().expect("a registry without faults");
        criterion.bench_function(&format!("{turns} turns of a worker"), |bencher| {
            let run = || async { runtime.run(count { input: "go".into() }).await.expect("an answer") };
            bencher.to_async(&tokio).iter(run);
        });
    }
}

criterion_group!(benches, plane);
criterion_main!(benches);
