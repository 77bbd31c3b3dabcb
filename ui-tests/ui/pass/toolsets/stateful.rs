//! A type whose methods are tools, with all lints of clippy and rustc denied.

#![deny(warnings, missing_docs, clippy::pedantic, unreachable_pub)]
#![forbid(unsafe_code)]

use std::sync::Mutex;

use llm_do::{CallContext, CallError, State, entry, tool, toolset, worker};

/// A connection.
#[derive(Debug)]
pub struct Database {
    rows: Mutex<Vec<String>>,
}

/// A database with a connection for each call.
#[tool(name = "database")]
impl Database {
    /// The most rows.
    pub const LIMIT: usize = 100;

    /// Connects.
    async fn open(ctx: &CallContext, url: State<String>) -> Result<Self, std::io::Error> {
        Ok(Self { rows: Mutex::new(vec![url.to_string(), ctx.name().to_owned()]) })
    }

    /// Add a row.
    ///
    /// # Errors
    ///
    /// Returns an error if it fails.
    #[tool(effect = idempotent, timeout = "10s")]
    pub async fn insert_row(&self, row: String, ctx: &CallContext) -> Result<(), String> {
        let _ = ctx;
        self.rows().push(row);
        Ok(())
    }

    /// Count the rows.
    #[llm_do::tool(effect = read_only, inline, name = "count-rows", args = CountRows)]
    #[must_use]
    fn count(&self, #[arg(default = "")] with: &str) -> usize {
        self.rows().iter().filter(|row| row.contains(with)).count().min(Self::LIMIT)
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.rows.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn close(self) {
        drop(self.rows);
    }
}

toolset! {
    /// Everything.
    pub everything = [prefixed("db_", Database)];

    /// The archive.
    pub archive(approval = ask) = instance(Database);
}

/// Report.
#[worker(toolsets = [Database.only([CountRows])])]
pub async fn report(input: String) -> String;

/// Works.
///
/// # Errors
///
/// Returns an error if it fails.
#[entry(toolsets = [everything, report, prefixed("old_", archive)])]
pub async fn work(ctx: &CallContext<work>) -> Result<usize, CallError> {
    ctx.call(insert_row { row: "a".into() }).await?;
    ctx.call(report { input: String::new() }).await?;
    ctx.call(archive::of(insert_row { row: "a".into() })).await?;
    ctx.call(CountRows::default()).await
}

fn main() {}
