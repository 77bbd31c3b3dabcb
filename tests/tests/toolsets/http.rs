//! The tool `fetch`: its answers, which URLs need approval, and attacks on its limits.

mod answers;
mod approval;
mod bounds;
mod escapes;
mod server;

use llm_do::approval::ApprovalMode;
use llm_do::error::chain;
use llm_do::prelude::*;
use llm_do::runtime::RuntimeBuilder;
use llm_do::toolsets::http::{Http, fetch, http};

use self::server::Server;

/// Fetches a URL.
#[entry(toolsets = [http])]
async fn load(ctx: &CallContext<load>, url: String, offset: u32, max_chars: u32) -> Result<ToolReturn> {
    Ok(ctx.call(fetch { url, offset, max_chars }).await?)
}

fn builder(settings: Http) -> RuntimeBuilder {
    Runtime::builder().only(["load"]).state(settings)
}

/// Settings that let tests reach a server of this machine, by its address.
fn local(server: &Server) -> Http {
    Http::new().allow_private(server.host())
}

/// Fetches a URL that is approved; returns the answer, or the error with its causes.
async fn fetched(settings: Http, url: impl Into<String>) -> Result<ToolReturn, String> {
    page(settings, url, 1, 20_000).await
}

async fn page(settings: Http, url: impl Into<String>, offset: u32, max_chars: u32) -> Result<ToolReturn, String> {
    let runtime = builder(settings).approval_mode(ApprovalMode::ApproveAll).build().unwrap();
    runtime.run(load { url: url.into(), offset, max_chars }).await.map_err(|error| chain(&error))
}

async fn text(settings: Http, url: impl Into<String>) -> String {
    fetched(settings, url).await.unwrap().value().as_str().unwrap().to_owned()
}

/// Returns the text after the status, the URL and the type.
fn body(text: &str) -> &str {
    text.split_once("\n\n").unwrap().1
}
