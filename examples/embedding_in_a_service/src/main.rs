//! Serves the user `ann`, whose token is in `SERVER_TOKEN` and whose files are in the current folder, on port 3000.

use embedding_in_a_service::{User, router};
use llm_do::context::CancellationToken;
use llm_do::prelude::*;

#[tokio::main]
async fn main() -> Result<()> {
    let stop = CancellationToken::new();
    let runtime = Runtime::builder().default_model("openai:gpt-5-mini").cancellation(stop.clone()).build()?;
    let token = std::env::var("SERVER_TOKEN").map_err(|_| "set SERVER_TOKEN, the token of the user")?;
    let ann = User { name: "ann".to_owned(), folder: ".".into() };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    let stopped = async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            // Cancels all runs, which ends their event streams, so that the server can shut down.
            stop.cancel();
        }
    };
    axum::serve(listener, router(runtime, [(token, ann)])).with_graceful_shutdown(stopped).await?;
    Ok(())
}
