//! A type alias works like its type; an alias of an injected type needs `#[ctx]`.

#![deny(warnings)]

use std::path::PathBuf;

use llm_do::{CallContext, CallError, State, ToolContext, entry, tool};

type Outcome<T> = Result<T, CallError>;
type Done = std::io::Result<()>;
type Context = CallContext;
type Own = CallContext<start>;
type Counter = State<u8>;
type Object = dyn ToolContext;
type Files = Vec<PathBuf>;

/// Ping.
#[tool]
async fn ping(#[ctx] ctx: &Context, #[ctx] counter: Counter, files: Files) -> Outcome<u8> {
    let _ = (ctx, files);
    Ok(*counter)
}

/// Pong.
#[tool]
fn pong(#[ctx] counter: &Counter) -> Done {
    let _ = counter;
    Ok(())
}

#[entry(toolsets = [ping, pong])]
async fn start(ctx: &CallContext<start>) -> Outcome<u8> {
    let own: &Own = ctx;
    let _: &Object = own;
    own.call(pong {}).await?;
    own.call(ping { files: Files::new() }).await
}

fn main() {}
