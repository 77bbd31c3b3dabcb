//! All errors of a function are reported, and its callers still compile.

#![allow(unused)]

use llm_do::{CallContext, CallError, entry, tool};

#[tool(effects = read_only)]
fn first_word<T>((text, _): (String, T)) -> String {
    text
}

#[tool(effect = readonly)]
fn second_word(text: &mut String, nth: u8) -> String {
    format!("{text}{nth}")
}

#[entry(toolsets = [first_word, second_word])]
async fn start(ctx: &CallContext<start>) -> Result<(), CallError> {
    ctx.call(first_word {}).await?;
    let word: String = ctx.call(second_word { nth: 2 }).await?;
    drop(word);
    Ok(())
}

fn main() {
    let _: String = first_word((String::new(), 0));
    let _: String = second_word(&mut String::new(), 0);
}
