//! The options of commands that read recorded runs, and of those that record them.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Zoned, civil};

/// The states of runs.
pub(crate) const STATES: [&str; 6] = ["queued", "running", "waiting", "succeeded", "failed", "cancelled"];

/// Those of runs that have not ended.
pub(crate) const IN_FLIGHT: [&str; 3] = ["running", "waiting", "queued"];
/// How many distinct inputs of a worker are kept by default.
pub(crate) const MAX_CASES: usize = 100_000;

/// Which runs of a journal a command reads; default: all.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RunFilter {
    /// Read only the run with this id; may be given several times.
    #[arg(long, value_name = "ID", conflicts_with_all = ["state", "entry", "since", "until", "tenant", "app_version"])]
    pub(crate) run: Vec<String>,
    /// Read only runs in these states, separated by commas.
    #[arg(long, value_name = "STATES", value_delimiter = ',', value_parser = PossibleValuesParser::new(STATES))]
    pub(crate) state: Vec<String>,
    /// Read only runs of this entry.
    #[arg(long, value_name = "NAME")]
    pub(crate) entry: Option<String>,
    /// Read only runs that were started at this time or later: a date or a time, in UTC without an offset, or how long ago, such as `2h`
    /// or `7d`.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Timestamp>,
    /// Read only runs that were started before this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) until: Option<Timestamp>,
    /// Read only runs of this tenant of a service.
    #[arg(long, value_name = "NAME")]
    pub(crate) tenant: Option<String>,
    /// Read only runs that a service of this version of the program accepted.
    #[arg(long, value_name = "VERSION")]
    pub(crate) app_version: Option<String>,
    /// The bearer token in this file, for a journal that is a service; default: that in `LLM_DO_SERVE_TOKEN`.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

impl RunFilter {
    /// Returns whether all runs are read.
    pub(crate) fn is_empty(&self) -> bool {
        self.run.is_empty() && self.is_without_conditions()
    }

    /// Returns whether no condition is given: runs may still be named by their ids.
    pub(crate) fn is_without_conditions(&self) -> bool {
        let Self { state, entry, since, until, tenant, app_version, .. } = self;
        let is_any_name_given = entry.is_some() || tenant.is_some() || app_version.is_some();
        state.is_empty() && since.is_none() && until.is_none() && !is_any_name_given
    }
}

/// Where a chat or a server is recorded.
#[derive(Args, Debug, Default)]
pub(crate) struct RecordOptions {
    /// Write every event to this file, as JSON Lines.
    ///
    /// It contains arguments and answers in plain text; on Unix, only its owner may read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Record every effect in this file, which is created if it is missing: each message or call is added as a run of its own.
    ///
    /// Nothing is resumed from it: `harden`, `eval import`, `journal` and `check --replay` read it.
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
}

/// Parses a time, or how long ago it was.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
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
    use super::{Timestamp, time};

    #[test]
    fn a_time_is_a_date_a_time_or_how_long_ago() {
        let noon: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        assert_eq!(time("2026-01-31T12:00:00Z"), Ok(noon));
        assert_eq!(time("2026-01-31T14:00:00+02:00"), Ok(noon));
        assert_eq!(time("2026-01-31T12:00"), Ok(noon));
        assert_eq!(time("2026-01-31"), Ok("2026-01-31T00:00:00Z".parse().unwrap()));
        let week_ago = time("7d").unwrap();
        let ago = Timestamp::now().duration_since(week_ago).as_secs();
        assert!((604_800..604_860).contains(&ago), "{ago}");
        assert!(time("yesterday").unwrap_err().contains("`2h` or `7d`"));
    }

    #[cfg(feature = "serve")]
    #[test]
    fn the_states_are_those_of_a_service() {
        use llm_do_serve::RunState;
        assert_eq!(super::STATES, RunState::ALL.map(RunState::as_str));
    }
}
