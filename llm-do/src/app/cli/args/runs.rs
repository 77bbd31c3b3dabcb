//! The options of `runs`.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned, civil};

use super::OutcomeOptions;
use crate::app::serve::{MAX_LIST, RunState};

#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(in crate::app::cli) struct RunsOptions {
    #[command(subcommand)]
    pub(in crate::app::cli) command: Option<RunsCommand>,
    #[command(flatten)]
    pub(in crate::app::cli) list: ListRunsOptions,
}

#[derive(Debug, Subcommand)]
pub(in crate::app::cli) enum RunsCommand {
    /// Show one run: its state, its result or error, what it used, and what it asked people.
    #[command(after_help = "Example: runs show 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01")]
    Show(ShowRunOptions),
    /// Settle what became of a call that may have had its effect, of a run that failed or was cancelled. Then resume the run.
    #[command(
        after_help = "Examples:\n  runs settle 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01 'bill:0f3a/pay:77c1' --result '{\"id\": 7}'\n  \
                      runs settle 0199d2c1-7b5e-7c3a-9d55-0f6f4d1c9a01 'bill:0f3a/pay:77c1' --not-done"
    )]
    Settle(SettleOptions),
}

/// Which runs are listed.
#[derive(Args, Debug)]
pub(in crate::app::cli) struct ListRunsOptions {
    /// Only runs in this state.
    #[arg(long, value_name = "STATE", value_parser = PossibleValuesParser::new(RunState::ALL.map(RunState::as_str)))]
    pub(in crate::app::cli) state: Option<String>,
    /// Only runs of this entry.
    #[arg(long, value_name = "NAME")]
    pub(in crate::app::cli) entry: Option<String>,
    /// Only runs that were started at this time or later: a date or a time, in UTC without an offset, or how long ago, such as `2h`
    /// or `7d`.
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(in crate::app::cli) since: Option<Timestamp>,
    /// Only runs that were started before this one, for the next page.
    #[arg(long, value_name = "ID")]
    pub(in crate::app::cli) before: Option<String>,
    /// List at most this number of runs, up to 500; fewer if they are long.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_LIST)))]
    pub(in crate::app::cli) limit: u32,
    #[command(flatten)]
    pub(in crate::app::cli) source: RunSource,
}

#[derive(Args, Debug)]
pub(in crate::app::cli) struct ShowRunOptions {
    /// The id of the run.
    pub(in crate::app::cli) id: String,
    #[command(flatten)]
    pub(in crate::app::cli) source: RunSource,
}

#[derive(Args, Debug)]
pub(in crate::app::cli) struct SettleOptions {
    /// The id of the run.
    pub(in crate::app::cli) id: String,
    /// The key of the call, which `runs show ID` prints.
    pub(in crate::app::cli) step: String,
    #[command(flatten)]
    pub(in crate::app::cli) outcome: OutcomeOptions,
    #[command(flatten)]
    pub(in crate::app::cli) source: RunSource,
}

/// Where the runs are, and how they are printed.
#[derive(Args, Debug)]
pub(in crate::app::cli) struct RunSource {
    /// The database of the service, `--store` of `serve`; the service may be running or not. Default: that of `serve` in this folder.
    #[arg(long, value_name = "FILE")]
    pub(in crate::app::cli) store: Option<PathBuf>,
    /// Ask a running service at this address instead, such as `https://runs.example.com`.
    #[arg(long, value_name = "URL", conflicts_with = "store")]
    pub(in crate::app::cli) url: Option<String>,
    /// The bearer token in this file, for `--url`; default: that in `LLM_DO_SERVE_TOKEN`.
    #[arg(long, value_name = "FILE", requires = "url")]
    pub(in crate::app::cli) token_file: Option<PathBuf>,
    /// Print JSON, as the service returns it.
    #[arg(long)]
    pub(in crate::app::cli) json: bool,
}

/// Parses a time, or how long ago it was.
fn since(text: &str) -> Result<Timestamp, String> {
    let ago = |span: Span| {
        let now = Zoned::now().with_time_zone(TimeZone::UTC);
        now.checked_sub(span.abs()).map(|time| time.timestamp()).ok()
    };
    let local = |time: civil::DateTime| time.to_zoned(TimeZone::UTC).map(|time| time.timestamp()).ok();
    let time = text.parse().ok().or_else(|| text.parse().ok().and_then(local));
    let time = time.or_else(|| text.parse().ok().and_then(ago));
    time.ok_or_else(|| {
        "expected a time such as `2026-01-31` or `2026-01-31T12:00:00Z`, or how long ago, such as `2h` or `7d`"
            .to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, since};

    #[test]
    fn a_time_is_a_date_a_time_or_how_long_ago() {
        let noon: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        assert_eq!(since("2026-01-31T12:00:00Z"), Ok(noon));
        assert_eq!(since("2026-01-31T14:00:00+02:00"), Ok(noon));
        assert_eq!(since("2026-01-31T12:00"), Ok(noon));
        assert_eq!(since("2026-01-31"), Ok("2026-01-31T00:00:00Z".parse().unwrap()));
        let time = since("7d").unwrap();
        let ago = Timestamp::now().duration_since(time).as_secs();
        assert!((604_800..604_860).contains(&ago), "{ago}");
        assert!(since("yesterday").unwrap_err().contains("`2h` or `7d`"));
    }
}
