//! Other names for models, for the struct and for arguments.

#![deny(warnings)]

use llm_do::{CallContext, CallError, Tool, entry, tool, worker};

/// A function of a type's name.
#[tool(args = MakeString, name = "make-String_1")]
fn string(#[arg(rename = "the-length.max_1")] length: usize) -> String {
    "a".repeat(length)
}

/// 64 characters.
#[tool(name = "a_name_of_64_characters_is_as_long_as_any_provider_takes_0123456", args = Long)]
fn a_name_of_more_than_64_characters_is_more_than_any_provider_will_take() {}

/// A struct in the module already.
#[tool(args = FindArguments)]
fn find(text: &str) -> usize {
    text.len()
}

#[allow(non_camel_case_types, dead_code)]
enum find {}

/// Judge.
#[worker(name = "judge", args = DecidedBy)]
async fn judge_it(input: String) -> u8;

#[entry(name = "main", args = Main, toolsets = [MakeString, FindArguments, DecidedBy])]
async fn main_entry(ctx: &CallContext<Main>) -> Result<usize, CallError> {
    ctx.call(DecidedBy { input: String::new() }).await?;
    let text = ctx.call(MakeString { length: 3 }).await?;
    ctx.call(FindArguments { text }).await
}

fn main() {
    assert_eq!(MakeString::NAME, "make-String_1");
    assert_eq!(Long::NAME.len(), 64);
    assert_eq!(Main::NAME, "main");
}
