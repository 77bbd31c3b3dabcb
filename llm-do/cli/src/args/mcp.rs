//! The options of `mcp`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{RecordOptions, SessionOptions};
use crate::project::FileOptions;

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpOptions {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[command(flatten)]
    pub(crate) serve: ServeOptions,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Print a snapshot of the tools of an MCP server, for `toolset! { pub NAME = mcp("NAME.mcp.json"); }`.
    #[command(after_help = "Example: mcp snapshot github --project . > github.mcp.json")]
    Snapshot(SnapshotOptions),
    /// Compare the MCP servers with the snapshots that are linked; exits with 1 if a typed call would break.
    Check(CheckServersOptions),
    /// Log in at an MCP server of the project, which keeps tokens for later commands.
    Login(LoginOptions),
    /// Forget the tokens of an MCP server of the project.
    Logout(LogoutOptions),
}

#[derive(Args, Debug)]
pub(crate) struct LoginOptions {
    #[command(flatten)]
    pub(crate) server: LogoutOptions,
    /// Agree for this command to everything that the files of the project do beyond asking a model.
    #[arg(long)]
    pub(crate) trust_project: bool,
    /// Only print the address of the login page.
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// Keep the tokens in a file that only you can read, also where the system has a keyring.
    #[arg(long)]
    pub(crate) file: bool,
}

#[derive(Args, Debug)]
pub(crate) struct LogoutOptions {
    /// The server, as the project names it.
    pub(crate) server: String,
    /// The project that names the server. Default: the current folder.
    #[arg(long, value_name = "PATH", default_value = ".", hide_default_value = true)]
    pub(crate) project: PathBuf,
}

#[derive(Args, Debug)]
pub(crate) struct SnapshotOptions {
    /// The server, as the project or the program names it.
    pub(crate) server: String,
    #[command(flatten)]
    pub(crate) servers: CheckServersOptions,
}

/// Where the servers come from.
#[derive(Args, Debug)]
pub(crate) struct CheckServersOptions {
    #[command(flatten)]
    pub(crate) items: FileOptions,
}

#[derive(Args, Debug)]
pub(crate) struct ServeOptions {
    /// Serve clients over HTTP at this address and the path /mcp; default: one client on standard input and output.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) http: Option<SocketAddr>,
    /// Offer only the tools, workers, entries and toolsets with these names, separated by commas; may be given several times. Default:
    /// entries, and what the project and the program expose, or else workers; a program with neither offers its own tools.
    #[arg(long, alias = "tools", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) expose: Vec<String>,
    /// Offer only tools, workers and entries with the effect `read_only`.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Require the bearer token in this file; default: that in `LLM_DO_MCP_TOKEN`.
    #[arg(long, value_name = "FILE", requires = "http")]
    pub(crate) token_file: Option<PathBuf>,
    /// Accept requests without a token, although the address is reachable from other machines.
    #[arg(long, requires = "http", conflicts_with = "token_file")]
    pub(crate) unauthenticated: bool,
    /// Accept requests to this host, `name` or `name:port`; may be given several times. Default: this machine only.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) host: Vec<String>,
    /// Accept requests of web pages of this origin, `https://name:port`; may be given several times.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) origin: Vec<String>,
    /// The maximum number of connections of one address, unless it is of this machine; raise it behind a proxy on another machine.
    #[arg(long, value_name = "N", requires = "http", default_value_t = 256)]
    pub(crate) max_connections_per_address: usize,
    /// Ask the user at this terminal for approvals and answers, instead of the user of the client.
    #[arg(long, requires = "http")]
    pub(crate) ask_here: bool,
    #[command(flatten)]
    pub(crate) record: RecordOptions,
    #[command(flatten)]
    pub(crate) session: SessionOptions,
}
