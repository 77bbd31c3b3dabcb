//! Orders that wait: for a time, and for a person; the process that runs them may change meanwhile.

use std::time::Duration;

use llm_do::prelude::*;

/// Reserve the parts of an order.
#[tool(effect = idempotent, approval = pre_approved)]
fn reserve(order: &str) -> String {
    format!("parts of {order} reserved by process {}", std::process::id())
}

/// Pay for an order.
#[tool(effect = destructive)]
fn pay(order: &str) -> String {
    format!("{order} paid by process {}", std::process::id())
}

/// Reserves parts, waits for some seconds, and pays once a person agrees.
#[entry(toolsets = [reserve, pay])]
async fn buy(ctx: &CallContext<buy>, order: String, #[arg(default = 10)] seconds: u64) -> Result<Vec<String>> {
    let reserved = ctx.call(reserve { order: order.clone() }).await?;
    ctx.sleep(Duration::from_secs(seconds)).await?;
    let paid = ctx.call(pay { order }).await?;
    Ok(vec![reserved, paid])
}

fn main() -> ExitCode {
    llm_do::cli::main()
}
