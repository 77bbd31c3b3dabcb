//! Values of types from other crates, in the range that their schemas describe.

use std::time::{Duration, SystemTime};

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Utc};
use jiff::{SignedDuration, Timestamp, civil};
use proptest::prelude::*;
use serde_json::Value;
use url::Url;
use uuid::Uuid;

/// A range of Unix seconds in the years 0 to 9999, which RFC 3339 can write.
const SECONDS: std::ops::Range<i64> = -60_000_000_000..250_000_000_000;

pub(crate) fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

pub(crate) fn chrono_time() -> impl Strategy<Value = DateTime<Utc>> {
    let nanos = prop_oneof![Just(0), 0..1_000_000_000_u32];
    (SECONDS, nanos).prop_filter_map("a time", |(seconds, nanos)| DateTime::from_timestamp(seconds, nanos))
}

pub(crate) fn chrono_local() -> impl Strategy<Value = NaiveDateTime> {
    chrono_time().prop_map(|time| time.naive_utc())
}

pub(crate) fn chrono_date() -> impl Strategy<Value = NaiveDate> {
    chrono_time().prop_map(|time| time.date_naive())
}

pub(crate) fn chrono_clock() -> impl Strategy<Value = NaiveTime> {
    chrono_time().prop_map(|time| time.time())
}

pub(crate) fn chrono_delta() -> impl Strategy<Value = TimeDelta> {
    SECONDS.prop_map(TimeDelta::seconds)
}

pub(crate) fn jiff_time() -> impl Strategy<Value = Timestamp> {
    (SECONDS, 0..1_000_000_000).prop_filter_map("a time", |(seconds, nanos)| Timestamp::new(seconds, nanos).ok())
}

pub(crate) fn jiff_local() -> impl Strategy<Value = civil::DateTime> {
    jiff_time().prop_map(|time| jiff::tz::TimeZone::UTC.to_datetime(time))
}

pub(crate) fn jiff_date() -> impl Strategy<Value = civil::Date> {
    jiff_local().prop_map(civil::DateTime::date)
}

pub(crate) fn jiff_clock() -> impl Strategy<Value = civil::Time> {
    jiff_local().prop_map(civil::DateTime::time)
}

pub(crate) fn jiff_duration() -> impl Strategy<Value = SignedDuration> {
    (SECONDS, 0..1_000_000_000).prop_map(|(seconds, nanos)| SignedDuration::new(seconds, nanos))
}

/// A time since the epoch; the system clock may have a smaller range than its type.
pub(crate) fn system_time() -> impl Strategy<Value = SystemTime> {
    (0..4_000_000_000_u64, 0..1_000_000_000_u32)
        .prop_map(|(seconds, nanos)| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
}

/// A URL, with characters that the WHATWG URL standard allows and RFC 3986 does not.
pub(crate) fn url() -> impl Strategy<Value = Url> {
    "(https|ftp|data)://[a-z]{1,8}(\\.org)?(:[0-9]{1,4})?/[a-z|\\[\\]é]{0,8}(\\?[a-z{}]{0,4})?(#.{0,4})?"
        .prop_filter_map("an address", |text| Url::parse(&text).ok())
}

/// Any JSON.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |value| {
        prop_oneof![
            prop::collection::vec(value.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), value, 0..3)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}
