//! A named instance is of a type with methods, and has their tools only.

#![allow(unused)]

use llm_do::prelude::*;

#[derive(Default)]
struct Database;

/// A database.
#[tool]
impl Database {
    /// Count the rows.
    #[tool(effect = read_only)]
    fn count(&self) -> u32 {
        0
    }
}

/// Look around.
#[tool(effect = read_only)]
fn look() -> u32 {
    0
}

toolset! {
    /// The orders.
    orders = instance(Database);

    /// Not a type with methods.
    other = instance(look);
}

/// Calls a tool of the type, which it does not declare, and a tool that the instance does not have.
#[entry(toolsets = [orders, look])]
async fn start(ctx: &CallContext<start>) -> Result<u32> {
    ctx.call(count {}).await?;
    Ok(ctx.call(orders::of(look {})).await?)
}

fn main() {}
