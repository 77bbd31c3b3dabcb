//! Every type that serializes can be returned, and so can `ToolReturn`.

#![deny(warnings)]

use std::borrow::Cow;
use std::rc::Rc;

use llm_do::{CallContext, CallError, ToolReturn, Value, data, entry, json, tool};

/// A review.
#[data]
#[derive(PartialEq)]
struct Review {
    score: u8,
}

/// Nothing.
#[tool]
fn nothing() {}

/// A unit.
#[tool]
fn unit() -> () {}

/// An opaque value.
#[tool]
fn opaque() -> impl serde::Serialize {
    [1, 2]
}

/// An opaque value, or a fault.
#[tool]
async fn opaque_or_fault() -> Result<impl serde::Serialize + use<>, CallError> {
    Ok(Review { score: 1 })
}

/// Files.
#[tool]
fn files() -> ToolReturn {
    ToolReturn::text("none")
}

/// Files, or a fault.
#[tool]
fn files_or_fault() -> Result<ToolReturn, CallError> {
    Ok(ToolReturn::text("none"))
}

/// JSON.
#[tool]
fn value() -> Value {
    json!(3)
}

/// What borrows for ever.
#[tool]
fn borrowed() -> Cow<'static, str> {
    "text".into()
}

/// What stays in its thread is written there.
#[tool]
fn local() -> Option<Rc<str>> {
    None
}

/// An option of a review.
#[tool]
async fn review() -> Option<Vec<Review>> {
    None
}

#[entry(toolsets = [nothing, unit, opaque, opaque_or_fault, files, files_or_fault, value, borrowed, review])]
async fn start(ctx: &CallContext<start>) -> Result<u8, CallError> {
    let () = ctx.call(nothing {}).await?;
    let () = ctx.call(unit {}).await?;
    let _: Value = ctx.call(opaque {}).await?;
    let _: Value = ctx.call(opaque_or_fault {}).await?;
    let _: ToolReturn = ctx.call(files {}).await?;
    let _: ToolReturn = ctx.call(files_or_fault {}).await?;
    let _: Value = ctx.call(value {}).await?;
    let _: Cow<'static, str> = ctx.call(borrowed {}).await?;
    let _: Option<Vec<Review>> = ctx.call(review {}).await?;
    Ok(0)
}

fn main() {}
