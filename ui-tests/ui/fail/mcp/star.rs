//! Only the module of a server has `*`.

use llm_do::prelude::*;

mod other {}

#[entry(toolsets = [other::*])]
async fn of_another_module(_ctx: &CallContext<of_another_module>) -> Result<()> {
    Ok(())
}

fn main() {}
