//! Every form of `approval`, for tools, groups and types with methods, with conflicting names in scope.

#![deny(warnings, missing_docs, clippy::pedantic)]

use llm_do::{CallContext, Result, tool, toolset};

/// Ask.
#[tool(approval = ask, summary = "ask {type}, {{literally}}, for {number} of {words}")]
fn ask(r#type: &str, #[arg(rename = "no.")] number: u8, words: Vec<String>) {
    let _ = (r#type, number, words);
}

/// Run.
#[tool(approval = pre_approved, effect = destructive, summary = "just run")]
async fn pre_approved() {}

/// Pay.
#[tool(effect = destructive, on_unknown = report, reconcile = shown::was_paid)]
fn pay(r#type: &str, #[arg(rename = "no.")] number: u8, _ctx: &CallContext) -> u8 {
    let _ = r#type;
    number
}

/// Wait.
#[tool(on_unknown = ask)]
async fn wait() {}

/// Send.
#[tool(effect = destructive, on_unknown = rerun)]
fn send() {}

/// Stop.
#[tool(approval = blocked("not on this machine"), inline)]
fn blocked() {}

toolset! {
    /// With a rule.
    pub(crate) ruled(approval = ask, on_unknown = report) = [ask, blocked];

    /// With a rule for a form, and a comma.
    #[allow(dead_code)]
    formed(approval = blocked("it is night"),) = [prefixed("a_", ruled.only([ask]))];

    /// Without keys.
    silent() = [pre_approved];
}

struct Database;

/// A database.
#[tool(approval = pre_approved, on_unknown = rerun, name = "database")]
impl Database {
    fn open() -> Self {
        Self
    }

    /// Query.
    #[tool(approval = ask, summary = "query {table}", preview = shown::query)]
    fn query(&self, table: &str) -> usize {
        let Self = self;
        table.len()
    }
}

mod shown {
    use super::{CallContext, Result, query, tool};

    /// Return what was paid.
    #[tool(effect = read_only)]
    pub(crate) fn was_paid(#[arg(rename = "no.")] number: u8, r#type: &str) -> Option<u8> {
        r#type.is_empty().then_some(number)
    }

    /// Shows a query.
    #[allow(clippy::unnecessary_wraps, reason = "a preview may fail")]
    pub(super) fn query(_: &CallContext, call: &query) -> Result<String> {
        Ok(format!("all rows of {}", call.table))
    }
}

fn main() {
    let _ = Database::open().query("a");
}
