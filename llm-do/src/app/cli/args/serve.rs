//! The options of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::SessionOptions;

#[derive(Args, Debug)]
pub(in crate::app::cli) struct ServiceOptions {
    /// The file of the runs, which is created if it is missing.
    #[arg(long, value_name = "FILE", default_value = "runs.db")]
    pub(in crate::app::cli) store: PathBuf,
    /// The address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080")]
    pub(in crate::app::cli) listen: SocketAddr,
    /// Read clients with their tokens, schedules and webhooks from this file, in JSON.
    #[arg(long, value_name = "FILE")]
    pub(in crate::app::cli) service: Option<PathBuf>,
    /// Offer only the entries, tools and workers with these names, separated by commas; may be given several times. Default: all
    /// entries.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(in crate::app::cli) entries: Vec<String>,
    /// Accept requests to this host, `name` or `name:port`; may be given several times. Default: this machine only.
    #[arg(long, value_name = "HOST")]
    pub(in crate::app::cli) host: Vec<String>,
    /// Accept requests without a token, although the address is reachable from other machines.
    #[arg(long)]
    pub(in crate::app::cli) unauthenticated: bool,
    /// The maximum number of runs that this process drives concurrently.
    #[arg(long, value_name = "RUNS", default_value_t = 64)]
    pub(in crate::app::cli) max_active_runs: usize,
    /// Delete finished runs after this number of days.
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(in crate::app::cli) keep_days: u32,
    #[command(flatten)]
    pub(in crate::app::cli) session: SessionOptions,
}
