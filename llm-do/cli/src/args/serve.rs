//! The options of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::SessionOptions;
use super::batch::BatchOption;

#[derive(Args, Debug)]
pub(crate) struct ServiceOptions {
    /// The SQLite database of the runs; created if it is missing. The approvals and runs in it are believed: name only a file that you
    /// made. It is the journal of the runs, so the option is also named `--journal`. Default: a file for this project, in your folder for
    /// state.
    #[arg(long, visible_alias = "journal", value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Write every event of all runs to this file, as JSON Lines; on Unix, only its owner may read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// The address to listen on. Default: 127.0.0.1:8080, with `--restate` 127.0.0.1:9080.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<SocketAddr>,
    /// Read clients with their tokens, schedules and webhooks from this file, in JSON.
    #[arg(long, value_name = "FILE")]
    pub(crate) service: Option<PathBuf>,
    /// Offer only the entries, tools and workers with these names, separated by commas; may be given several times. Default: all
    /// entries, and what the project and the program expose.
    #[arg(long, alias = "expose", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) entries: Vec<String>,
    /// Accept requests to this host, `name` or `name:port`; may be given several times. Default: this machine only.
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Vec<String>,
    /// Accept requests without a token, although the address is reachable from other machines.
    #[arg(long)]
    pub(crate) unauthenticated: bool,
    /// The maximum number of connections of one address, unless it is of this machine; raise it behind a proxy on another machine.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub(crate) max_connections_per_address: usize,
    /// The maximum number of requests of a client per second; twice as many in a burst.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) requests_per_second: u32,
    /// The maximum number of runs that this process drives concurrently; default: 64, with --batch 4096.
    #[arg(long, value_name = "RUNS")]
    pub(crate) max_active_runs: Option<usize>,
    #[command(flatten)]
    pub(crate) batch: BatchOption,
    /// Fail a run after this number of processes died in it without a finished effect in between; 0: never.
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) max_deaths: u32,
    /// Delete finished runs after this number of days.
    #[arg(long, value_name = "DAYS", default_value_t = 30)]
    pub(crate) keep_days: u32,
    #[cfg(feature = "restate")]
    #[command(flatten)]
    pub(crate) restate: RestateOptions,
    #[command(flatten)]
    pub(crate) session: SessionOptions,
}

/// Where the engine Restate is, and how it reaches this program.
#[cfg(feature = "restate")]
#[derive(Args, Debug)]
pub(crate) struct RestateOptions {
    /// Run on many machines: the engine Restate, whose administration is at this address, keeps all runs. `--store`, `--service` and
    /// what belongs to them are not used.
    #[arg(long, value_name = "URL")]
    pub(crate) restate: Option<String>,
    /// The name of the service in Restate, the same on all machines. Default: the name of this program.
    #[arg(long, value_name = "NAME", requires = "restate")]
    pub(crate) restate_service: Option<String>,
    /// The address under which Restate reaches this program, such as that of a balancer. Default: the one of `--listen`.
    #[arg(long, value_name = "URL", requires = "restate")]
    pub(crate) public_uri: Option<String>,
    /// Replace what Restate knows of that address, in development: runs that have begun with other code may diverge.
    #[arg(long, requires = "restate")]
    pub(crate) replace_deployment: bool,
    /// Serve the page and the HTTP interface of the service at this address too; `--store` contains what they show, and `--service`,
    /// `--host` and `--unauthenticated` are about them.
    #[arg(long, value_name = "ADDRESS", requires = "restate")]
    pub(crate) page: Option<SocketAddr>,
    /// Where Restate accepts requests, for `--page`.
    #[arg(long, value_name = "URL", requires = "page", default_value = "http://127.0.0.1:8080")]
    pub(crate) ingress: String,
    /// Accept only requests that are signed with this key of Restate, `publickeyv1_..`; may be given several times.
    #[arg(long, value_name = "KEY", requires = "restate")]
    pub(crate) identity_key: Vec<String>,
}
