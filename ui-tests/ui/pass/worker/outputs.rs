//! Every type with a schema can be the output of a worker.

#![deny(warnings)]

use std::collections::BTreeMap;

use llm_do::{CallContext, CallError, ToolReturn, Value, data, entry, worker};

/// A review.
#[data]
struct Review {
    score: u8,
}

type Judged<T> = Result<T, CallError>;

/// A text.
#[worker]
async fn text(input: String) -> String;

/// Nothing.
#[worker]
async fn nothing(input: String);

/// A number.
#[worker]
async fn number(input: &str) -> Option<f64>;

/// A review.
#[worker]
async fn review(input: String) -> Judged<Review>;

/// Reviews.
#[worker]
async fn reviews(input: String) -> std::io::Result<BTreeMap<String, Vec<Review>>>;

/// Anything.
#[worker]
async fn anything(input: String) -> Value;

/// A pair.
#[worker]
async fn pair(input: String) -> (u8, bool);

/// A text with files.
#[worker(server_side_tools = [image_generation])]
async fn picture(input: String) -> ToolReturn;

/// A text with files, behind an alias.
#[worker]
async fn sketch(input: String) -> Judged<ToolReturn>;

#[entry(toolsets = [text, nothing, number, review, reviews, anything, pair, picture, sketch])]
async fn start(ctx: &CallContext<start>, input: String) -> Judged<f64> {
    let _: String = ctx.call(text { input: input.clone() }).await?;
    let () = ctx.call(nothing { input: input.clone() }).await?;
    let _: Review = ctx.call(review { input: input.clone() }).await?;
    let _: BTreeMap<String, Vec<Review>> = ctx.call(reviews { input: input.clone() }).await?;
    let _: Value = ctx.call(anything { input: input.clone() }).await?;
    let _: (u8, bool) = ctx.call(pair { input: input.clone() }).await?;
    let _: ToolReturn = ctx.call(picture { input: input.clone() }).await?;
    let _: ToolReturn = ctx.call(sketch { input: input.clone() }).await?;
    Ok(ctx.call(number { input }).await?.unwrap_or_default())
}

fn main() {}
