//! A call is made of the function instead of the struct.

use llm_do::prelude::*;

/// Read a note.
#[tool(effect = read_only)]
fn read_note(name: String) -> String {
    name
}

/// Reads a note.
#[entry(toolsets = [read_note])]
async fn show(ctx: &CallContext<show>) -> Result<String> {
    Ok(ctx.call(read_note("list".to_owned())).await?)
}

fn main() {}
