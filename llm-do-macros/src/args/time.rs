//! Durations as strings, in some of the forms that the runtime parses.

use std::time::Duration;

/// How a duration is written, for an error.
pub(crate) const EXPECTED: &str = "expected numbers with units, such as `30s`, `1h 30m` or `500ms`";

/// The names of the units and their lengths in nanoseconds, largest first.
const UNITS: [(&[&str], u64); 6] = [
    (&["h", "hr", "hrs", "hour", "hours"], 3_600_000_000_000),
    (&["m", "min", "mins", "minute", "minutes"], 60_000_000_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000_000_000),
    (&["ms", "msec", "msecs", "millisecond", "milliseconds"], 1_000_000),
    (&["us", "\u{b5}s", "usec", "usecs", "microsecond", "microseconds"], 1_000),
    (&["ns", "nsec", "nsecs", "nanosecond", "nanoseconds"], 1),
];

/// Parses numbers with units, each unit at most once, largest first.
///
/// # Errors
///
/// Returns a message that shows how a duration is written.
pub(crate) fn read(text: &str) -> Result<Duration, String> {
    sum(text).ok_or_else(|| format!("invalid duration `{text}`: {EXPECTED}"))
}

fn sum(text: &str) -> Option<Duration> {
    let (mut rest, mut units) = (text.trim(), UNITS.as_slice());
    let mut sum = None;
    while !rest.is_empty() {
        let (number, behind) = split(rest, |c| c.is_ascii_digit());
        let (word, behind) = split(behind.trim_start(), char::is_alphabetic);
        let place = units.iter().position(|(names, _)| names.contains(&word))?;
        let part = Duration::from_nanos(units[place].1).checked_mul(number.parse().ok()?)?;
        sum = Some(sum.unwrap_or(Duration::ZERO).checked_add(part)?);
        (rest, units) = (behind.trim_start(), &units[place + 1..]);
    }
    sum
}

fn split(text: &str, belongs: fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !belongs(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_are_added() {
        for (text, millis) in [
            ("30s", 30_000),
            ("1h 30m", 5_400_000),
            ("1h30m5s500ms", 5_405_500),
            (" 2 minutes 1 sec ", 121_000),
            ("0s", 0),
            ("90m", 5_400_000),
            ("1ms 1000\u{b5}s", 2),
            ("999us 1000ns", 1),
        ] {
            assert_eq!(read(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn other_texts_are_invalid_durations() {
        for text in ["", " ", "30", "s", "-3s", "1.5s", "1s 1h", "1s 1s", "5 days", "1h,30m", "99999999999h", "soon"] {
            assert_eq!(read(text), Err(format!("invalid duration `{text}`: {EXPECTED}")));
        }
    }
}
