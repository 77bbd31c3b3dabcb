//! An entry calls a tool that it does not declare.

use llm_do::prelude::*;

/// Read a note.
#[tool(effect = read_only)]
fn read_note() -> String {
    String::new()
}

/// Write a note.
#[tool(effect = idempotent)]
fn write_note(text: String) {
    drop(text);
}

/// Copies a note.
#[entry(toolsets = [read_note])]
async fn copy(ctx: &CallContext<copy>) -> Result<()> {
    let text = ctx.call(read_note {}).await?;
    Ok(ctx.call(write_note { text }).await?)
}

fn main() {}
