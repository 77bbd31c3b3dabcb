//! The call on the plane of llm-do, with approvals, depth, limits and events in place.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

use llm_do::event::JsonLines;
use llm_do::model::{Response, ResponsePart, ToolCall};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;
use tokio::runtime::Builder;

use crate::{ARGUMENTS, TOOL};

/// The result of a tool.
#[data]
struct Sum {
    sum: i64,
}

fn sum(a: i64, b: i64, note: Option<String>) -> Sum {
    black_box(note);
    Sum { sum: a + b }
}

/// Registers tools in line.
macro_rules! tools {
    ($($name:ident)*) => {$(
        /// Add two numbers.
        #[tool(effect = read_only, inline)]
        fn $name(a: i64, b: i64, note: Option<String>) -> Sum {
            sum(a, b, note)
        }
    )*};
}

tools! {
    add00 add01 add02 add03 add04 add05 add06 add07 add08 add09 add10 add11 add12 add13 add14 add15 add16 add17 add18 add19
    add20 add21 add22 add23 add24 add25 add26 add27 add28 add29 add30 add31 add32 add33 add34 add35 add36 add37 add38 add39
    add40 add41 add42 add43 add44 add45 add46 add47 add48 add49 add50 add51 add52 add53 add54 add55 add56 add57 add58 add59
    add60 add61 add62 add63 add64 add65 add66 add67 add68 add69 add70 add71 add72 add73 add74 add75 add76 add77 add78 add79
    add80 add81 add82 add83 add84 add85 add86 add87 add88 add89 add90 add91 add92 add93 add94 add95 add96 add97 add98
}

/// Add two numbers.
#[tool(effect = read_only)]
async fn add_async(a: i64, b: i64, note: Option<String>) -> Sum {
    sum(a, b, note)
}

/// Calls one tool a number of times.
#[entry]
async fn repeat(ctx: &CallContext, tool: String, times: u32) -> Result<()> {
    for _ in 0..times {
        black_box(ctx.call_tool_json(black_box(&tool), black_box(ARGUMENTS)).await?);
    }
    Ok(())
}

/// Call a tool in each turn.
#[worker(toolsets = [add42], max_turns = 1_000_000)]
async fn turns(input: String) -> String;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_time().build().expect("a tokio runtime").block_on(future)
}

/// Makes the call a number of times, within one run.
pub(crate) fn run(tool: &str, lines: bool, times: u32) {
    let builder = Runtime::builder();
    let builder = if lines { builder.sink(JsonLines::new(std::io::sink())) } else { builder };
    let runtime = builder.build().expect("a valid registry");
    block_on(runtime.run(repeat { tool: tool.to_owned(), times })).expect("sums");
}

/// Makes the call a number of times by a model, each in a turn of its own.
pub(crate) fn run_turns(times: u32) {
    let asked = AtomicU32::new(0);
    let model = FunctionModel::new(move |_| {
        let turn = asked.fetch_add(1, Ordering::Relaxed);
        let part = if turn < times {
            ResponsePart::ToolCall(ToolCall::new(format!("call_{turn}"), TOOL, ARGUMENTS))
        } else {
            ResponsePart::Text { text: "done".to_owned() }
        };
        Ok(Response::new("calls", vec![part], Usage::of_request(1, 1)))
    });
    let runtime = Runtime::builder().force_model(model).build().expect("a valid registry");
    assert_eq!(block_on(runtime.run(turns { input: "Add.".into() })).expect("an answer"), "done");
}
