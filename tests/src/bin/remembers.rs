//! A program that keeps a chat in a file: `remembers FILE TEXT`; `tests/programs/remembers.rs` runs it twice.

#![expect(clippy::print_stdout, reason = "a program prints")]

use std::error::Error;
use std::fs;
use std::path::Path;

use llm_do::model::Message;
use llm_do::prelude::*;
use llm_do::runtime::ChatState;
use llm_do::testing::TestModel;

/// Review a text.
#[worker]
async fn reviewer(input: String) -> String;

/// Has a text reviewed for its language and for its facts, each in a thread; returns how much each reviewer knows.
#[entry(toolsets = [reviewer])]
async fn review(ctx: &CallContext<review>, text: String) -> Result<Vec<String>> {
    let mut known = Vec::new();
    for topic in ["language", "facts"] {
        let thread = ctx.thread(topic);
        thread.call(reviewer { input: format!("{topic}: {text}") }).await?;
        let history = thread.history();
        let users = history.messages().iter().filter(|message| matches!(message, Message::User { .. }));
        known.extend(users.map(|message| serde_json::json!(message)["parts"][0]["text"].to_string()));
    }
    Ok(known)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (Some(file), Some(text)) = (std::env::args().nth(1), std::env::args().nth(2)) else {
        return Err("usage: remembers FILE TEXT".into());
    };
    let runtime = Runtime::builder().force_model(TestModel::new()).build()?;
    let state: ChatState = match fs::read(Path::new(&file)) {
        Ok(saved) => serde_json::from_slice(&saved)?,
        Err(_) => ChatState::new(),
    };
    let mut chat = runtime.chat().with_state(state);
    for line in chat.send(review { text }).await? {
        println!("{line}");
    }
    fs::write(file, serde_json::to_vec(&chat.state())?)?;
    println!("{} requests", chat.state().usage.total().model.requests);
    Ok(())
}
