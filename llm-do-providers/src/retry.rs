//! Which failures are tried again, how often, and after what wait; no clock and no chance of its own.

use std::time::{Duration, SystemTime};

use crate::error::{ErrorKind, ProviderError};

/// The longest wait that a provider may ask for with `Retry-After`; more is reported at once.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The wait after the first failure, before jitter; it doubles with each further one.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// Where the doubling ends.
const LONGEST_BACKOFF: Duration = Duration::from_secs(8);

/// The tries of one request.
#[derive(Clone, Debug)]
pub(crate) struct RetryState {
    allowed: u32,
    failed: u32,
}

/// A wait before the next try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RetryDelay {
    /// How long to wait.
    pub(crate) wait: Duration,
    /// What is being waited for, in a few words.
    pub(crate) on: String,
}

impl RetryState {
    /// Allows one try and up to `retries` more.
    pub(crate) fn new(retries: u32) -> Self {
        Self { allowed: retries.saturating_add(1), failed: 0 }
    }

    /// Decides what follows the failure `error`; `chance`, from 0 to 1, spreads the waits of many clients.
    ///
    /// # Errors
    ///
    /// Returns `error`, with a note on the tries, if there is to be no further try.
    pub(crate) fn after(&mut self, error: ProviderError, chance: f64) -> Result<RetryDelay, ProviderError> {
        self.failed = self.failed.saturating_add(1);
        if !may_pass(&error) {
            return Err(error);
        }
        if self.failed >= self.allowed {
            return Err(self.exhausted(error));
        }
        match error.retry_after() {
            Some(asked) if asked > LONGEST_WAIT => Err(too_long(error, asked)),
            Some(asked) => Ok(self.pause(asked.mul_f64(1.0 + 0.1 * chance), &error)),
            None => Ok(self.pause(backoff(self.failed, chance), &error)),
        }
    }

    fn pause(&self, wait: Duration, error: &ProviderError) -> RetryDelay {
        let cause = match error.status() {
            _ if error.is_timeout() => "silence".to_owned(),
            _ if error.kind() == ErrorKind::Transport => "a lost connection".to_owned(),
            Some(status) if status >= 400 => format!("status {status}"),
            _ => "an answer that failed".to_owned(),
        };
        let on = format!(
            "retry {} of {} in {} s after {cause}",
            self.failed,
            self.allowed - 1,
            wait.as_millis().div_ceil(1000)
        );
        RetryDelay { wait, on }
    }

    fn exhausted(&self, error: ProviderError) -> ProviderError {
        if self.failed == 1 {
            return error;
        }
        error.with_note(&format!("tried {} times", self.failed))
    }
}

/// Whether the same request may succeed a little later: as the provider says, or else by the kind of failure.
fn may_pass(error: &ProviderError) -> bool {
    let by_kind = match error.kind() {
        ErrorKind::RateLimited | ErrorKind::Overloaded | ErrorKind::Unavailable | ErrorKind::Transport => true,
        ErrorKind::Configuration
        | ErrorKind::Auth
        | ErrorKind::InvalidRequest
        | ErrorKind::ContextTooLong
        | ErrorKind::ContentFilter
        | ErrorKind::Timeout
        | ErrorKind::Protocol
        | ErrorKind::Cancelled => false,
    };
    error.should_retry().unwrap_or(by_kind)
}

/// The wait after the `failed`-th failure: between half of it and all of it, so that clients do not return together.
fn backoff(failed: u32, chance: f64) -> Duration {
    let doublings = failed.saturating_sub(1).min(16);
    let whole = (FIRST_WAIT * 2_u32.pow(doublings)).min(LONGEST_BACKOFF);
    whole.mul_f64(0.5 + 0.5 * chance)
}

fn too_long(error: ProviderError, asked: Duration) -> ProviderError {
    error.with_note(&format!(
        "the provider asks to wait {} s and at most {} s are waited for, so try again after that time",
        asked.as_secs(),
        LONGEST_WAIT.as_secs()
    ))
}

/// Reads the value of a `Retry-After` header, seconds or a date, at the time `now`; a past date is no wait.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{RetryDelay, RetryState, retry_after};
    use crate::error::{ErrorKind, ProviderError};

    fn status(status: u16) -> ProviderError {
        ProviderError::new("p", ErrorKind::Unavailable, "it fails").with_status(status)
    }

    fn of(kind: ErrorKind) -> ProviderError {
        ProviderError::new("p", kind, "it fails").with_status(200)
    }

    fn wait(pause: &RetryDelay) -> u128 {
        pause.wait.as_millis()
    }

    #[test]
    fn passing_failures_are_tried_again() {
        let passing = [ErrorKind::RateLimited, ErrorKind::Overloaded, ErrorKind::Unavailable, ErrorKind::Transport];
        for kind in passing {
            assert!(RetryState::new(1).after(of(kind), 0.0).is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn lasting_failures_are_reported_at_once() {
        let lasting = [
            ErrorKind::Configuration,
            ErrorKind::Auth,
            ErrorKind::InvalidRequest,
            ErrorKind::ContextTooLong,
            ErrorKind::ContentFilter,
            ErrorKind::Timeout,
            ErrorKind::Protocol,
            ErrorKind::Cancelled,
        ];
        for kind in lasting {
            assert!(RetryState::new(9).after(of(kind), 0.0).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn a_wait_says_what_it_follows() {
        let on = |error| RetryState::new(1).after(error, 0.0).unwrap().on;
        assert!(on(status(503)).ends_with("after status 503"));
        assert!(on(of(ErrorKind::Overloaded)).ends_with("after an answer that failed"));
        assert!(on(of(ErrorKind::Transport)).ends_with("after a lost connection"));
        assert!(on(of(ErrorKind::Timeout).with_should_retry(true)).ends_with("after silence"));
    }

    #[test]
    fn what_the_provider_says_of_retries_holds() {
        assert!(RetryState::new(9).after(status(500).with_should_retry(false), 0.0).is_err());
        assert!(RetryState::new(9).after(of(ErrorKind::Protocol).with_should_retry(true), 0.0).is_ok());
    }

    #[test]
    fn waits_double_up_to_a_bound() {
        let mut tries = RetryState::new(7);
        let waits: Vec<_> = (0..7).map(|_| wait(&tries.after(status(500), 1.0).unwrap())).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }

    #[test]
    fn chance_shortens_a_wait_by_half_at_most() {
        assert_eq!(wait(&RetryState::new(1).after(status(500), 0.0).unwrap()), 250);
        assert_eq!(wait(&RetryState::new(1).after(status(500), 0.5).unwrap()), 375);
    }

    #[test]
    fn a_wait_that_the_provider_asks_for_is_never_shortened() {
        let asked = status(429).with_retry_after(Duration::from_secs(3));
        let pause = RetryState::new(2).after(asked, 0.0).unwrap();
        assert_eq!(
            pause,
            RetryDelay { wait: Duration::from_secs(3), on: "retry 1 of 2 in 3 s after status 429".into() }
        );
    }

    #[test]
    fn a_long_wait_is_reported_instead_of_waited_for() {
        let asked = status(429).with_retry_after(Duration::from_secs(3600));
        let error = RetryState::new(2).after(asked, 0.0).unwrap_err();
        assert!(error.to_string().contains("asks to wait 3600 s"), "{error}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn the_last_error_tells_how_often_it_was_tried() {
        let mut tries = RetryState::new(1);
        tries.after(status(500), 0.0).unwrap();
        let error = tries.after(status(500), 0.0).unwrap_err();
        assert_eq!(error.to_string(), "p: status 500: it fails; tried 2 times");
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after(" 7 ", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now), Some(Duration::from_secs(10)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
        assert_eq!(retry_after("-1", now), None);
    }
}
