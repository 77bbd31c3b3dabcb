//! The tool, and the nested tool for URLs that need approval.

#![expect(clippy::missing_errors_doc, reason = "the docs of a tool are what models read")]

use llm_do_core::base::error::Result;
use llm_do_core::declare::tool::ToolReturn;
use llm_do_core::plane::context::CallContext;
use llm_do_macros::tool;

use super::super::short_names::short_names;
use super::page::CharRange;
use super::request::PreparedFetch;

short_names! {
    /// Fetch pages and files of the web.
    http("http") = fetch, "http_"
}

/// Fetch a page or a file from the web. HTML is returned as text, with the targets of links at the end; images and PDFs as files.
#[tool(name = "http_fetch", approval = pre_approved, summary = "fetch {url}", toolsets = [fetch_asked])]
pub async fn fetch(
    ctx: &CallContext<fetch>,
    /// The URL: `https://..` or `http://..`.
    url: String,
    /// The first character of the text to return, 1-based.
    #[arg(default = 1)]
    #[schemars(range(min = 1))]
    offset: u32,
    /// The maximum number of characters.
    #[arg(default = 20_000)]
    #[schemars(range(min = 1, max = 200_000))]
    max_chars: u32,
) -> Result<ToolReturn> {
    let prepared = PreparedFetch::new(ctx, &url)?;
    if prepared.is_approved()? {
        return Ok(prepared.fetch(CharRange { offset, max_chars }).await?);
    }
    // The requested URL, so that the approver sees the true host.
    let url = prepared.url().to_string();
    Ok(ctx.call(fetch_asked { url, offset, max_chars }).await?)
}

/// Fetch a page or a file from a host that no rule of the application approves.
#[tool(name = "http_fetch_asked", approval = ask, summary = "fetch {url}")]
pub async fn fetch_asked(
    ctx: &CallContext,
    /// The URL: `https://..` or `http://..`.
    url: String,
    /// The first character of the text to return, 1-based.
    #[arg(default = 1)]
    #[schemars(range(min = 1))]
    offset: u32,
    /// The maximum number of characters.
    #[arg(default = 20_000)]
    #[schemars(range(min = 1, max = 200_000))]
    max_chars: u32,
) -> Result<ToolReturn> {
    Ok(PreparedFetch::new(ctx, &url)?.fetch(CharRange { offset, max_chars }).await?)
}
