//! Injected parameters can have any position and number, by reference or by value.

#![deny(warnings)]

use llm_do::context::FromContext;
use llm_do::{CallContext, CallError, State, ToolContext, entry, tool};

struct Clock;

impl FromContext for Clock {
    fn from_context(_: &CallContext) -> Result<Self, CallError> {
        Ok(Self)
    }
}

/// First.
#[tool]
fn first(ctx: &CallContext, state: State<u8>, text: &str) -> usize {
    text.len() + usize::from(*state) + ctx.name().len()
}

/// Last.
#[tool]
fn last(text: &str, state: &State<u8>, ctx: &dyn ToolContext) -> usize {
    text.len() + usize::from(**state) + usize::from(ctx.is_cancelled())
}

/// Between.
#[tool]
async fn between(
    a: u8,
    ctx: CallContext,
    b: u8,
    one: State<u8>,
    c: u8,
    two: State<Vec<String>>,
    #[ctx] clock: Clock,
) -> u8 {
    let _ = (ctx, two, clock);
    a + b + c + *one
}

/// By path.
#[tool]
async fn by_path(ctx: &llm_do::CallContext, state: ::llm_do::State<std::string::String>, #[ctx] same: &Clock) -> usize {
    let _ = (ctx, same);
    state.len()
}

/// With bounds.
#[tool]
async fn bounded(ctx: &(dyn ToolContext + Send + Sync)) -> u32 {
    ctx.depth()
}

/// Marked, though it need not be.
#[tool]
async fn marked(#[ctx] ctx: &CallContext, #[ctx] state: State<u8>) -> u8 {
    let _ = ctx;
    *state
}

/// Every registered item, written out.
#[tool]
async fn anything(ctx: &CallContext<llm_do::__private::Anything>) -> u32 {
    ctx.depth()
}

#[entry(toolsets = [first])]
async fn start(text: String, #[ctx] ctx: &CallContext<self::start>) -> Result<usize, CallError> {
    ctx.call(first { text }).await
}

fn main() {
    assert_eq!(last("a", &State::new(2), &Stub), 3);
}

struct Stub;

#[llm_do::async_trait]
impl ToolContext for Stub {
    async fn call_tool(&self, _: &str, arguments: llm_do::Value) -> Result<llm_do::Value, CallError> {
        Ok(arguments)
    }

    fn depth(&self) -> u32 {
        0
    }

    fn usage(&self) -> llm_do::usage::RunUsage {
        llm_do::usage::RunUsage::default()
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}
