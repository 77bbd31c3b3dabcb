//! Durations as text.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use jiff::SignedDuration;

/// The accepted forms of a duration, for an error.
const FORMS: &str = "expected numbers with units from hours to nanoseconds, such as `90s`, `1h 30m` or `500ms`";

/// A text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidDuration {
    text: String,
    is_negative: bool,
}

impl fmt::Display for InvalidDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = if self.is_negative { "a duration cannot be negative" } else { FORMS };
        write!(f, "invalid duration `{}`: {reason}", self.text)
    }
}

impl Error for InvalidDuration {}

/// Parses a duration such as `90s`, `1h 30m`, `1.5 hours`, `1 minute, 30 seconds`, `1:30:00` or `PT1M30S`.
///
/// The units are hours, minutes, seconds, milliseconds, microseconds and nanoseconds, each at most once and the largest
/// first; the smallest may have a fraction.
///
/// # Errors
///
/// Returns the expected forms, if the text has another form or is negative.
pub fn parse_duration(text: &str) -> Result<Duration, InvalidDuration> {
    let invalid = |is_negative| InvalidDuration { text: text.to_owned(), is_negative };
    let duration: SignedDuration = text.trim().parse().map_err(|_| invalid(false))?;
    Duration::try_from(duration).map_err(|_| invalid(true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_parsed() {
        for (text, millis) in [
            ("30s", 30_000),
            ("1h 30m", 5_400_000),
            ("1h30m5s500ms", 5_405_500),
            (" 2 minutes 1 sec ", 121_000),
            ("1 minute, 30 seconds", 90_000),
            ("1.5h", 5_400_000),
            ("0.5 s", 500),
            ("1:30:00", 5_400_000),
            ("PT1M30S", 90_000),
            ("0s", 0),
            ("90m", 5_400_000),
            ("1ms 1000\u{b5}s", 2),
            ("999us 1000ns", 1),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_forms() {
        for text in ["", " ", "30", "s", "1s 1h", "1s 1s", "5 days", "P1D", "1h;30m", "9999999999999999h", "soon"] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert_eq!(error, format!("invalid duration `{text}`: {FORMS}"));
        }
    }

    #[test]
    fn negative_durations_are_refused() {
        for text in ["-3s", "-PT3S", "3s ago"] {
            let error = parse_duration(text).unwrap_err().to_string();
            assert_eq!(error, format!("invalid duration `{text}`: a duration cannot be negative"));
        }
    }
}
