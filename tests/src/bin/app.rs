//! An application for the tests of the command line.

use llm_do::Attachment;
use llm_do::prelude::*;

/// Greet a person.
#[worker(instructions = "Greet.", hints = ["politeness"])]
async fn greet(input: String) -> String;

/// Greet a person; Bob formally.
#[tool(effect = read_only)]
fn greet_by_rule(input: &str) -> Result<&'static str> {
    match input {
        "Bob" => Ok("Good day, Bob, who likes it formal."),
        "Eve" => Err("who is that?".into()),
        _ => Ok("Hello!"),
    }
}

/// Greet a person, and write it down.
#[tool(effect = destructive)]
async fn greet_in_writing(ctx: &CallContext, input: String) -> Result<String> {
    ctx.call(write { text: input }).await?;
    Ok("Hello!".to_owned())
}

/// Answer a question about files.
#[worker]
async fn look_at(prompt: Prompt) -> String;

/// Draw a picture, and return it in files with and without names.
#[tool(effect = read_only)]
fn draw() -> ToolReturn {
    let picture = Attachment::new("image/png", vec![1, 2, 3]);
    ToolReturn::text("a dot").attach(picture.clone()).attach(picture.clone()).attach(picture.named("../../dot.png"))
}

/// Write something down.
#[tool(effect = destructive)]
fn write(text: String) -> String {
    format!("wrote {text}")
}

/// Add two numbers.
#[tool(effect = read_only, inline)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Fail with this text.
#[tool(effect = read_only)]
fn fail(with: String) -> Result<()> {
    Err(with.into())
}

/// Call a worker that calls a worker that calls a worker.
#[tool(effect = read_only)]
async fn deeper(ctx: &CallContext, times: u32) -> Result<String> {
    if ctx.depth() == 3 {
        return Ok("done".to_owned());
    }
    // The arguments differ in each call, since equal arguments are refused as infinite recursion.
    Ok(ctx.call(dig { times: times + 10 * ctx.depth() }).await?)
}

/// Go deeper.
#[worker(toolsets = [deeper])]
async fn dig(times: u32) -> String;

/// Wait until the run is cancelled.
#[tool(effect = read_only)]
async fn wait(ctx: &CallContext) {
    ctx.progress("waiting");
    ctx.cancelled().await;
}

/// Ask the user for a name.
#[tool(effect = read_only)]
async fn ask_name(ctx: &CallContext) -> Result<String> {
    Ok(ctx.request_user_input("Which name?").await?)
}

toolset! {
    /// Plain sums, by their own names.
    arithmetic = [prefixed("math_", add)];
}

/// Greets and writes it down.
#[entry(toolsets = [greet, write, arithmetic])]
async fn main_entry(ctx: &CallContext<main_entry>, name: String) -> Result<String> {
    let greeting = ctx.call(greet { input: name }).await?;
    Ok(ctx.call(write { text: greeting }).await?)
}

fn main() -> ExitCode {
    let model = llm_do::testing::TestModel::new().text("Hello!");
    llm_do::cli::Cli::new().configure(|builder| builder.force_model(model).max_depth(2)).main()
}
