//! An application for the tests that drive the command line through a pseudo-terminal.
//!
//! Some tools wait for a file, so that a test controls what happens while a question is open.

use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::join;
use llm_do::json;
use llm_do::model::{Message, Request, Response, ResponsePart, ToolCall, UserPart};
use llm_do::prelude::*;
use llm_do::testing::FunctionModel;
use llm_do::usage::Usage;

/// Send a text.
#[tool(effect = destructive)]
fn send(text: String) -> String {
    format!("sent {text}")
}

/// Send several texts, one after the other.
#[tool(approval = pre_approved, toolsets = [send])]
async fn send_all(ctx: &CallContext<send_all>, texts: Vec<String>) -> Result<String> {
    let mut sent = Vec::new();
    for text in texts {
        sent.push(ctx.call(send { text }).await?);
    }
    Ok(sent.join(", "))
}

/// Ask the user several questions, and then send the answers.
#[tool(approval = pre_approved, toolsets = [send])]
async fn ask(ctx: &CallContext<ask>, questions: Vec<String>) -> Result<String> {
    let mut answers = Vec::new();
    for question in questions {
        answers.push(ctx.request_user_input(question).await?);
    }
    Ok(ctx.call(send { text: answers.join(", ") }).await?)
}

/// Wait until a file exists, report progress, and create the file `done` beside it.
#[tool(effect = read_only)]
async fn work(ctx: &CallContext, file: PathBuf) -> Result<()> {
    until_exists(&file).await;
    ctx.progress("PROGRESS");
    std::fs::write(file.with_file_name("done"), "")?;
    Ok(())
}

/// Send a text while other work is running.
#[tool(approval = pre_approved, toolsets = [send, work])]
async fn send_and_work(ctx: &CallContext<send_and_work>, text: String, file: PathBuf) -> Result<String> {
    let (sent, worked) = join!(ctx.call(send { text }), ctx.call(work { file }));
    worked?;
    Ok(sent?)
}

/// Send the first text, unless a file exists before it is approved; then send the second.
#[tool(approval = pre_approved, toolsets = [send])]
async fn send_one_of(ctx: &CallContext<send_one_of>, first: String, second: String, file: PathBuf) -> Result<String> {
    let first = Box::pin(ctx.call(send { text: first }));
    match select(first, Box::pin(until_exists(&file))).await {
        Either::Left((sent, _)) => Ok(sent?),
        Either::Right(((), first)) => {
            drop(first);
            Ok(ctx.call(send { text: second }).await?)
        }
    }
}

/// Report progress with this text, then send it.
#[tool(approval = pre_approved, toolsets = [send])]
async fn report(ctx: &CallContext<report>, text: String) -> Result<String> {
    ctx.progress(text);
    Ok(ctx.call(send { text: "it".to_owned() }).await?)
}

/// Report progress many times, with long texts.
#[tool(effect = read_only)]
async fn shout(ctx: &CallContext, times: u32) {
    for _ in 0..times {
        ctx.progress("x".repeat(1000));
    }
}

/// Return a text.
#[tool(effect = read_only)]
fn echo(text: String) -> String {
    text
}

/// Echo a text, then send something.
#[tool(approval = pre_approved, toolsets = [echo, send])]
async fn echo_and_send(ctx: &CallContext<echo_and_send>, text: String) -> Result<String> {
    ctx.call(echo { text }).await?;
    Ok(ctx.call(send { text: "it".to_owned() }).await?)
}

/// Panic with a text, then send something.
#[tool(effect = read_only)]
fn panic_with(text: String) {
    panic!("{text}")
}

/// Panic, and send something.
#[tool(approval = pre_approved, toolsets = [panic_with, send])]
async fn panic_and_send(ctx: &CallContext<panic_and_send>, text: String) -> Result<String> {
    let _ = ctx.call(panic_with { text }).await;
    Ok(ctx.call(send { text: "it".to_owned() }).await?)
}

/// Write the input, then send something.
#[worker(toolsets = [send])]
async fn chat(input: String) -> String;

/// Answer a question about files.
#[worker]
async fn look_at(prompt: Prompt) -> String;

async fn until_exists(file: &std::path::Path) {
    while !file.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Returns a model that repeats its input and calls `send`, and then answers `done`.
fn model() -> FunctionModel {
    FunctionModel::new(|request: Request<'_>| {
        let can_send = request.tools.iter().any(|tool| &*tool.name == "send");
        let parts = match request.messages.last() {
            Some(Message::User { parts }) if can_send => {
                let texts = parts.iter().filter_map(|part| match part {
                    UserPart::Text { text } => Some(text.clone()),
                    _ => None,
                });
                let call = ToolCall::new("1", "send", json!({ "text": "it" }).to_string());
                vec![ResponsePart::Text { text: texts.collect() }, ResponsePart::ToolCall(call)]
            }
            _ => vec![ResponsePart::Text { text: "done".to_owned() }],
        };
        Ok(Response::new("function", parts, Usage::of_request(1, 1)))
    })
}

fn main() -> ExitCode {
    llm_do::cli::Cli::new().configure(|builder| builder.force_model(model())).main()
}
