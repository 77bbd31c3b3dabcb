//! The options for limits of a run.

use std::time::Duration;

use clap::Args;

use crate::base::usage::Limits;
use crate::usage::Money;

/// Limits of a run; an option that is not given keeps the application's limit.
#[derive(Args, Debug)]
pub(in super::super) struct LimitOptions {
    /// Maximum number of requests to models.
    #[arg(long, value_name = "N")]
    limit_requests: Option<u64>,
    /// Send no further request after this many tokens, input and output.
    #[arg(long, value_name = "N")]
    limit_tokens: Option<u64>,
    /// Send no further request after this cost in US dollars, such as 0.50; models without a known price are refused.
    #[arg(long, value_name = "DOLLARS")]
    limit_cost: Option<Money>,
    /// End the run after this many seconds, such as 90 or 0.5.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<Duration>,
}

impl LimitOptions {
    /// Returns the application's limits, replaced by the options that are given.
    pub(in super::super) fn override_limits(&self, limits: Limits) -> Limits {
        let mut overridden = limits;
        overridden.requests = self.limit_requests.or(overridden.requests);
        overridden.total_tokens = self.limit_tokens.or(overridden.total_tokens);
        overridden.cost = self.limit_cost.or(overridden.cost);
        overridden.wall_time = self.timeout.or(overridden.wall_time);
        overridden
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let invalid = || "expected a positive number of seconds, such as 90 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| invalid())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(invalid)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::{Duration, Limits, Money};
    use crate::app::cli::args::{Arguments, Command};

    fn overridden(options: &[&str], limits: Limits) -> Limits {
        let words = ["app", "run"].iter().chain(options);
        match Arguments::try_parse_from(words).expect("the arguments are valid").command {
            Command::Run(options) => options.call.session.limits.override_limits(limits),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_option_overrides_only_its_own_limit_of_the_application() {
        let of_application = Limits::new().requests(9).tool_calls(7).wall_time(Duration::from_secs(5));
        assert_eq!(overridden(&[], of_application.clone()), of_application);
        let options = ["--limit-requests", "3", "--limit-tokens", "1000", "--limit-cost", "0.5", "--timeout", "1.5"];
        let both = Limits::new().requests(3).tool_calls(7).total_tokens(1000).cost(Money::from_cents(50));
        assert_eq!(overridden(&options, of_application), both.wall_time(Duration::from_millis(1500)));
    }
}
