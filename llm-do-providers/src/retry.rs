//! The retry policy: which failures are retried, how often, and after what delay. It uses no clock and no randomness
//! itself.

use std::time::{Duration, SystemTime};

use crate::error::{ErrorKind, ProviderError};

/// The maximum delay that a provider may request with `Retry-After`; a longer one is reported immediately.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// The delay after the first failure, before jitter; it doubles with each further failure.
const INITIAL_BACKOFF: Duration = Duration::from_millis(500);
/// The maximum delay of the exponential backoff.
const MAX_BACKOFF: Duration = Duration::from_secs(8);

/// The attempts of one request.
#[derive(Clone, Debug)]
pub(crate) struct RetryState {
    allowed: u32,
    failed: u32,
}

/// A delay before the next attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RetryDelay {
    /// The delay.
    pub(crate) wait: Duration,
    /// The reason, in a few words.
    pub(crate) on: String,
}

impl RetryState {
    /// Allows one attempt and up to `retries` retries.
    pub(crate) fn new(retries: u32) -> Self {
        Self { allowed: retries.saturating_add(1), failed: 0 }
    }

    /// Records the failure `error` and returns the delay before the next attempt; `chance`, from 0 to 1, is the
    /// jitter.
    ///
    /// # Errors
    ///
    /// Returns `error`, with the number of attempts, if there is no further attempt.
    pub(crate) fn after(&mut self, error: ProviderError, chance: f64) -> Result<RetryDelay, ProviderError> {
        self.failed = self.failed.saturating_add(1);
        if !error.is_transient() {
            return Err(error);
        }
        if self.failed >= self.allowed {
            return Err(self.exhausted(error));
        }
        match error.retry_after() {
            Some(requested) if requested > LONGEST_WAIT => Err(too_long(error, requested)),
            Some(requested) => Ok(self.pause(requested.mul_f64(1.0 + 0.1 * chance), &error)),
            None => Ok(self.pause(backoff(self.failed, chance), &error)),
        }
    }

    fn pause(&self, wait: Duration, error: &ProviderError) -> RetryDelay {
        let cause = match error.status() {
            _ if error.is_timeout() => "a timeout".to_owned(),
            _ if error.kind() == ErrorKind::Transport => "a lost connection".to_owned(),
            Some(status) if status >= 400 => format!("status {status}"),
            _ => "an error in the response".to_owned(),
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

/// The delay after `failed` failures: between half of the backoff and all of it, so that clients do not retry
/// simultaneously.
fn backoff(failed: u32, chance: f64) -> Duration {
    let doublings = failed.saturating_sub(1).min(16);
    let whole = (INITIAL_BACKOFF * 2_u32.pow(doublings)).min(MAX_BACKOFF);
    whole.mul_f64(0.5 + 0.5 * chance)
}

fn too_long(error: ProviderError, requested: Duration) -> ProviderError {
    error.with_note(&format!(
        "the provider asks to wait {} s, more than the maximum of {} s; try again after that time",
        requested.as_secs(),
        LONGEST_WAIT.as_secs()
    ))
}

/// The longest delay that is reported: a longer one is a mistake of the server.
const MOST_REPORTED: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns a delay in seconds that a server asks for; `None` if the text is not a delay.
pub(crate) fn bounded(seconds: f64) -> Option<Duration> {
    let is_delay = seconds.is_finite() && seconds >= 0.0;
    is_delay.then(|| Duration::try_from_secs_f64(seconds).unwrap_or(MOST_REPORTED).min(MOST_REPORTED))
}

/// Parses the value of a `Retry-After` header, seconds or a date, at the time `now`; a past date is zero.
pub(crate) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if let Some(wait) = number(value) {
        return bounded(wait);
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default().min(MOST_REPORTED))
}

/// Parses the value of a `retry-after-ms` header.
pub(crate) fn retry_after_ms(value: &str) -> Option<Duration> {
    bounded(number(value.trim())? / 1000.0)
}

/// Parses the value of a header such as `x-ratelimit-reset-tokens`: a duration such as `6m0s`, `7.66s` or `120ms`.
pub(crate) fn until_reset(value: &str) -> Option<Duration> {
    let (mut seconds, mut rest) = (0.0, value.trim());
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
        let (amount, more) = (number(&rest[..end])?, &rest[end..]);
        let end = more.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(more.len());
        seconds += amount
            * match &more[..end] {
                "d" => 86_400.0,
                "h" => 3600.0,
                "m" => 60.0,
                "s" => 1.0,
                "ms" => 0.001,
                _ => return None,
            };
        rest = &more[end..];
    }
    bounded(seconds)
}

/// Parses a number that is written in digits, with a fraction or without.
fn number(text: &str) -> Option<f64> {
    let is_plain = text.starts_with(|letter: char| letter.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    if is_plain { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{RetryDelay, RetryState, retry_after, retry_after_ms, until_reset};
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
    fn transient_failures_are_retried() {
        let passing = [ErrorKind::RateLimited, ErrorKind::Overloaded, ErrorKind::Unavailable, ErrorKind::Transport];
        for kind in passing {
            assert!(RetryState::new(1).after(of(kind), 0.0).is_ok(), "{kind:?}");
        }
    }

    #[test]
    fn permanent_failures_are_reported_immediately() {
        let lasting = [
            ErrorKind::Configuration,
            ErrorKind::Auth,
            ErrorKind::InvalidRequest,
            ErrorKind::ContextTooLong,
            ErrorKind::ContentFilter,
            ErrorKind::NoCredit,
            ErrorKind::Timeout,
            ErrorKind::Protocol,
            ErrorKind::Cancelled,
        ];
        for kind in lasting {
            assert!(RetryState::new(9).after(of(kind), 0.0).is_err(), "{kind:?}");
        }
    }

    #[test]
    fn a_delay_names_the_failure() {
        let on = |error| RetryState::new(1).after(error, 0.0).unwrap().on;
        assert!(on(status(503)).ends_with("after status 503"));
        assert!(on(of(ErrorKind::Overloaded)).ends_with("after an error in the response"));
        assert!(on(of(ErrorKind::Transport)).ends_with("after a lost connection"));
        assert!(on(of(ErrorKind::Timeout).with_should_retry(true)).ends_with("after a timeout"));
    }

    #[test]
    fn the_provider_decides_about_retries() {
        assert!(RetryState::new(9).after(status(500).with_should_retry(false), 0.0).is_err());
        assert!(RetryState::new(9).after(of(ErrorKind::Protocol).with_should_retry(true), 0.0).is_ok());
    }

    #[test]
    fn delays_double_up_to_a_maximum() {
        let mut tries = RetryState::new(7);
        let waits: Vec<_> = (0..7).map(|_| wait(&tries.after(status(500), 1.0).unwrap())).collect();
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000, 8000, 8000]);
    }

    #[test]
    fn jitter_shortens_a_delay_by_at_most_half() {
        assert_eq!(wait(&RetryState::new(1).after(status(500), 0.0).unwrap()), 250);
        assert_eq!(wait(&RetryState::new(1).after(status(500), 0.5).unwrap()), 375);
    }

    #[test]
    fn a_delay_requested_by_the_provider_is_never_shortened() {
        let requested = status(429).with_retry_after(Duration::from_secs(3));
        let pause = RetryState::new(2).after(requested, 0.0).unwrap();
        assert_eq!(
            pause,
            RetryDelay { wait: Duration::from_secs(3), on: "retry 1 of 2 in 3 s after status 429".into() }
        );
    }

    #[test]
    fn a_long_requested_delay_is_an_error() {
        let requested = status(429).with_retry_after(Duration::from_secs(3600));
        let error = RetryState::new(2).after(requested, 0.0).unwrap_err();
        assert!(error.to_string().contains("asks to wait 3600 s"), "{error}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    }

    #[test]
    fn the_last_error_has_the_number_of_attempts() {
        let mut tries = RetryState::new(1);
        tries.after(status(500), 0.0).unwrap();
        let error = tries.after(status(500), 0.0).unwrap_err();
        assert_eq!(error.to_string(), "p: status 500: it fails; tried 2 times");
    }

    #[test]
    fn retry_after_is_parsed_as_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after(" 7 ", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now), Some(Duration::from_secs(10)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
        assert_eq!(retry_after("-1", now), None);
    }

    #[test]
    fn a_delay_may_have_a_fraction_and_has_a_bound() {
        let now = SystemTime::UNIX_EPOCH;
        assert_eq!(retry_after("1.5", now), Some(Duration::from_millis(1500)));
        assert_eq!(retry_after("0", now), Some(Duration::ZERO));
        for absurd in ["99999999999999999999999999", "18446744073709551615", "Fri, 31 Dec 9999 23:59:59 GMT"] {
            assert_eq!(retry_after(absurd, now), Some(Duration::from_secs(86_400)), "{absurd}");
        }
        for none in ["", "inf", "NaN", "-0.5", "1e3", "1.5s", ".5"] {
            assert_eq!(retry_after(none, now), None, "{none}");
        }
        assert_eq!(retry_after_ms("250"), Some(Duration::from_millis(250)));
        assert_eq!(retry_after_ms(" 1500.5 "), Some(Duration::from_micros(1_500_500)));
        assert_eq!((retry_after_ms("-1"), retry_after_ms("soon")), (None, None));
    }

    #[test]
    fn the_time_until_a_limit_is_reset_is_parsed() {
        let cases = [("6m0s", 360_000), ("7.66s", 7660), ("120ms", 120), ("2m59.56s", 179_560), ("1h", 3_600_000)];
        for (value, milliseconds) in cases {
            assert_eq!(until_reset(value), Some(Duration::from_millis(milliseconds)), "{value}");
        }
        for none in ["", "5", "s", "5x", "-1s", "1s2"] {
            assert_eq!(until_reset(none), None, "{none}");
        }
    }
}
