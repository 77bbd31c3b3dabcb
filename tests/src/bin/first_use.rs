//! A small application of a new user; `tests/terminal/dialogues.rs` checks its output.

use llm_do::prelude::*;

/// The articles of the shop, with prices in cents.
struct Stock(Vec<(&'static str, u32)>);

/// Look up the price of an article, in cents.
#[tool(effect = read_only)]
fn price(stock: State<Stock>, article: String, count: u32) -> Option<u32> {
    let found = stock.0.iter().find(|(name, _)| *name == article);
    found.map(|(_, cents)| cents * count)
}

/// Order an article.
#[tool(effect = destructive)]
fn order(article: String) -> String {
    format!("ordered {article}")
}

/// Praise an article.
#[worker]
async fn praise(input: String) -> String;

/// Orders an article.
#[entry(toolsets = [price, order])]
async fn buy(ctx: &CallContext<buy>, article: String) -> Result<String> {
    Ok(ctx.call(order { article }).await?)
}

/// Advertises an article.
#[entry(toolsets = [praise])]
async fn advertise(ctx: &CallContext<advertise>, article: String) -> Result<String> {
    Ok(ctx.call(praise { input: article }).await?)
}

fn main() -> ExitCode {
    let forgets_state = std::env::var_os("FORGET_STATE").is_some();
    let stock = Stock(vec![("tea", 350)]);
    let cli = llm_do::cli::Cli::new();
    let cli = if forgets_state { cli } else { cli.configure(|builder| builder.state(stock)) };
    cli.main()
}
