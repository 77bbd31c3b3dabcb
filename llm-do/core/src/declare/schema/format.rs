//! The formats of texts in the schemas of Rust types, each no stricter than its type.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jiff::{SignedDuration, Span, Zoned};

/// A format of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Date,
    DateTime,
    Duration,
    Ip,
    Ipv4,
    Ipv6,
    PartialDateTime,
    PartialTime,
    Time,
    Uri,
    Uuid,
    ZonedDateTime,
}

/// Why a format cannot be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FormatError {
    /// The format is unknown, so every text is valid.
    Unknown,
    Unsupported,
}

impl Format {
    pub(super) fn of(name: &str) -> Result<Self, FormatError> {
        Ok(match name {
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            "duration" => Self::Duration,
            "ip" => Self::Ip,
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "partial-date-time" => Self::PartialDateTime,
            "partial-time" => Self::PartialTime,
            "time" => Self::Time,
            "uri" => Self::Uri,
            "uuid" => Self::Uuid,
            "zoned-date-time" => Self::ZonedDateTime,
            "email"
            | "hostname"
            | "iri"
            | "iri-reference"
            | "json-pointer"
            | "regex"
            | "relative-json-pointer"
            | "uri-reference"
            | "uri-template" => return Err(FormatError::Unsupported),
            _ => return Err(FormatError::Unknown),
        })
    }

    pub(super) fn holds(self, text: &str) -> bool {
        match self {
            Self::Date => is_date(text),
            Self::DateTime => is_date_time(text),
            Self::Duration => text.parse::<Span>().is_ok() || text.parse::<SignedDuration>().is_ok(),
            Self::Ip => text.parse::<IpAddr>().is_ok(),
            Self::Ipv4 => text.parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.parse::<Ipv6Addr>().is_ok(),
            Self::PartialDateTime => is_date_time(&format!("{text}Z")),
            Self::PartialTime => is_date_time(&format!("2000-01-01T{text}Z")),
            Self::Time => is_time(text),
            Self::Uri => has_scheme(text),
            Self::Uuid => is_uuid(text),
            Self::ZonedDateTime => text.parse::<Zoned>().is_ok(),
        }
    }
}

/// Returns whether a text is a date and time of RFC 3339.
fn is_date_time(text: &str) -> bool {
    text.split_once(['T', 't']).is_some_and(|(date, time)| is_date(date) && is_time(time))
}

fn is_date(text: &str) -> bool {
    let [year, month, day] = match text.split('-').collect::<Vec<_>>()[..] {
        [year, month, day] if year.len() == 4 => [year, month, day].map(number),
        _ => return false,
    };
    let (Some(year), Some(month), Some(day)) = (year, month, day) else { return false };
    let is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    text.len() == "2000-01-01".len() && (1..=days).contains(&day)
}

/// Returns whether a text is a time of RFC 3339 with its offset, with a leap second only at the end of a day in UTC.
fn is_time(text: &str) -> bool {
    let Some((clock, rest)) = text.split_at_checked("00:00:00".len()) else { return false };
    let Some([hour, minute, second]) = two_digits::<3>(clock) else { return false };
    let fraction = rest.strip_prefix('.').map_or(0, |rest| 1 + rest.bytes().take_while(u8::is_ascii_digit).count());
    let Some(minutes_east) = rest.get(fraction..).and_then(offset) else { return false };
    let is_leap = || (hour * 60 + minute - minutes_east).rem_euclid(24 * 60) == 24 * 60 - 1;
    fraction != 1 && hour <= 23 && minute <= 59 && (second <= 59 || (second == 60 && is_leap()))
}

/// Returns the offset of a time from UTC, in minutes.
fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text {
        "Z" | "z" => return Some(0),
        _ => text.split_at_checked(1)?,
    };
    let [hours, minutes] = two_digits::<2>(rest).filter(|[hours, minutes]| *hours <= 23 && *minutes <= 59)?;
    match sign {
        "+" => Some(hours * 60 + minutes),
        "-" => Some(-(hours * 60 + minutes)),
        _ => None,
    }
}

/// Parses `N` numbers of two digits, with colons between them.
fn two_digits<const N: usize>(text: &str) -> Option<[i32; N]> {
    let parts: Vec<_> = text.split(':').map(|part| number(part).filter(|_| part.len() == 2)).collect::<Option<_>>()?;
    parts.try_into().ok()
}

fn number(digits: &str) -> Option<i32> {
    digits.parse().ok().filter(|_| digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns whether a text begins with a URL scheme; the rest is not checked, since the URL standard allows more than RFC 3986.
fn has_scheme(text: &str) -> bool {
    let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(is_inner)
}

fn is_uuid(text: &str) -> bool {
    let is_group =
        |(part, length): (&str, usize)| part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.len() == 36 && text.split('-').zip([8, 4, 4, 4, 12]).all(is_group) && text.split('-').count() == 5
}
