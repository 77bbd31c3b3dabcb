//! An `Option` is optional under any name; under an alias it has no default in the struct.

#![deny(warnings)]

use llm_do::{CallContext, CallError, entry, tool};

type Maybe<T> = Option<T>;

/// Counts.
#[tool]
fn count(
    a: Option<u8>,
    b: std::option::Option<String>,
    c: ::core::option::Option<Vec<Option<u8>>>,
    d: Option<Option<u8>>,
    #[arg(default = Some(3))] e: Option<u8>,
) -> usize {
    [a.is_some(), b.is_some(), c.is_some(), d.is_some(), e.is_some()].into_iter().filter(|is| *is).count()
}

/// Counts one.
#[tool]
fn count_one(a: Maybe<u8>) -> usize {
    usize::from(a.is_some())
}

#[entry(toolsets = [count, count_one])]
async fn start(ctx: &CallContext<start>) -> Result<usize, CallError> {
    let one = ctx.call(count_one { a: None }).await?;
    Ok(one + ctx.call(count { b: Some("b".to_owned()), ..Default::default() }).await?)
}

fn main() {
    assert_eq!(count::default().e, Some(3));
}
