//! Durations as data: written as a text such as `1h 30m`, read from such a text or from a number of seconds.

use std::time::Duration;

use jiff::SignedDuration;
use llm_do_worker_file::parse_duration;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

#[derive(Deserialize)]
#[serde(untagged, expecting = "a duration such as \"1h 30m\", or a number of seconds")]
enum DurationForm {
    Whole(u64),
    Seconds(f64),
    Text(String),
}

pub(super) fn text(duration: Duration) -> String {
    // `SignedDuration::MAX` is about 292 billion years.
    format!("{:#}", SignedDuration::try_from(duration).unwrap_or(SignedDuration::MAX))
}

#[expect(clippy::ref_option, reason = "the form that serde calls")]
pub(crate) fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.serialize_some(&text(*time)),
        None => serializer.serialize_none(),
    }
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let duration = match Option::<DurationForm>::deserialize(deserializer)? {
        None => return Ok(None),
        Some(DurationForm::Whole(seconds)) => Ok(Duration::from_secs(seconds)),
        Some(DurationForm::Seconds(seconds)) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Some(DurationForm::Text(text)) => parse_duration(&text).map_err(|error| error.to_string()),
    };
    duration.map(Some).map_err(D::Error::custom)
}
