//! Raw identifiers lose their `r#`, and attributes can have any order.

#![deny(warnings)]

use llm_do::{CallContext, CallError, State, ToolContext, entry, tool};

#[tool(description = "Match.")]
fn r#match(r#type: String, #[arg(default = 2)] r#in: u8) -> String {
    format!("{type}{in}", r#type = r#type, r#in = r#in)
}

#[tool]
#[deprecated]
#[doc = " Line."]
#[cfg(all())]
#[doc(alias = "older")]
/// Old.
fn old(
    #[allow(unused)]
    /** Which. */
    which: u8,
) {
}

/// Gone: what it needs is not there.
#[tool]
#[cfg(any())]
fn gone(which: Missing) {}

/// All that is injected, anywhere.
#[tool]
fn injected(
    state: State<u8>,
    first: u8,
    ctx: &(dyn ToolContext + Sync),
    #[ctx] other: State<String>,
    second: u8,
) -> u8 {
    let _ = (ctx, other);
    *state + first + second
}

/// A function hides no type: only a struct of its name would.
#[tool(args = Char)]
fn char(code: u32) -> Option<char> {
    char::from_u32(code)
}

/// Tools and modules share names as soon as the struct has another.
mod search {}

/// Search.
#[tool(args = Search)]
fn search(text: &str, by_char: bool) -> bool {
    text.is_empty() && by_char
}

#[entry(toolsets = [r#match])]
async fn r#loop(ctx: &CallContext<r#loop>) -> Result<String, CallError> {
    ctx.call(r#match { r#type: String::new(), r#in: 1 }).await
}

fn main() {
    let name = <r#match as llm_do::Tool>::NAME;
    assert_eq!(name, "match");
    assert_eq!(<r#loop as llm_do::Tool>::NAME, "loop");
}
