//! Functions that compute the instructions of workers: sync or async, with what can be injected, in any order.

#![deny(warnings)]

use llm_do::context::FromContext;
use llm_do::{CallContext, CallError, State, ToolContext, worker};

fn fixed() -> String {
    "Judge.".into()
}

async fn fallible() -> Result<String, std::num::ParseIntError> {
    let number: u8 = "3".parse()?;
    Ok(format!("Judge {number}."))
}

fn with_text_as_error(level: State<u8>) -> Result<String, String> {
    if *level == 0 { Err("no level".into()) } else { Ok(format!("Judge at level {}.", *level)) }
}

async fn with_context(level: State<u8>, ctx: &CallContext) -> llm_do::Result<String> {
    Ok(format!("Judge {} {}", *level, ctx.call_tool("read", llm_do::json!({})).await?))
}

fn with_stub(ctx: &dyn ToolContext, words: State<Vec<String>>) -> String {
    format!("{} {words:?}", ctx.name())
}

async fn with_owned(ctx: CallContext, name: Name) -> String {
    ctx.progress("computing");
    name.0
}

/// The name of the call.
struct Name(String);

impl FromContext for Name {
    fn from_context(ctx: &CallContext) -> Result<Self, CallError> {
        Ok(Self(ctx.name().to_owned()))
    }
}

fn with_many(
    a: State<u8>,
    b: State<u16>,
    c: State<u32>,
    d: State<u64>,
    e: State<i8>,
    f: State<i16>,
    g: State<i32>,
    ctx: &CallContext,
) -> String {
    format!("{a:?} {b:?} {c:?} {d:?} {e:?} {f:?} {g:?} {ctx:?}")
}

fn boxed() -> std::pin::Pin<Box<dyn Future<Output = String> + Send>> {
    Box::pin(async { fixed() })
}

struct Judge;

impl Judge {
    fn words<T: Default + ToString>() -> String {
        T::default().to_string()
    }
}

/// Judge.
#[worker(instructions_with = fixed)]
async fn one(text: String) -> u8;

/// Judge.
#[worker(instructions_with = fallible)]
async fn two(text: String) -> u8;

/// Judge.
#[worker(instructions_with = with_text_as_error)]
async fn three(text: String) -> u8;

/// Judge.
#[worker(instructions_with = with_context)]
async fn four(text: String) -> u8 {
    text
}

/// Judge.
#[worker(instructions_with = with_stub)]
async fn five(text: String) -> u8;

/// Judge.
#[worker(instructions_with = with_owned)]
async fn six(text: String) -> u8;

/// Judge.
#[worker(instructions_with = with_many)]
async fn seven(text: String) -> u8;

/// Judge.
#[worker(instructions_with = boxed)]
async fn eight(text: String) -> u8;

/// Judge.
#[worker(instructions_with = Judge::words::<u8>)]
async fn nine(text: String) -> u8;

#[worker(file = "plain.worker", instructions_with = fixed)]
async fn ten(text: String) -> u8;

fn main() {
    assert_eq!(fixed(), "Judge.");
}
