//! Runs that start at scheduled times.

use std::sync::Arc;

use croner::Cron;
use croner::parser::{CronParser, Seconds};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::ServiceError;

/// A schedule of a service: starts a run at each time of a cron expression.
///
/// Each time starts one run, even if several processes serve the same file. If no process was running at that time, the
/// latest missed time starts a run as soon as a process is running; earlier missed times do not.
///
/// # Examples
///
/// ```
/// use llm_do::json;
/// use llm_do::serve::Schedule;
///
/// let schedule = Schedule::new("digest", "0 7 * * MON-FRI", "write_digest")?.time_zone("Europe/Vienna")?;
/// let schedule = schedule.arguments(json!({ "topic": "weather" }));
/// # let _ = schedule;
/// assert!(Schedule::new("digest", "0 25 * * *", "write_digest").is_err());
/// # Ok::<_, llm_do::serve::ServiceError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Schedule {
    pub(super) name: Arc<str>,
    pub(super) entry: String,
    pub(super) arguments: Value,
    pub(super) tenant: Arc<str>,
    cron: Cron,
    zone: TimeZone,
}

impl Schedule {
    /// Creates a schedule with this name, which starts `entry` at the times of a cron expression.
    ///
    /// The expression has five fields: minute, hour, day of the month, month, day of the week.
    ///
    /// # Errors
    ///
    /// Returns an error for an invalid expression, and for an expression without any time, such as the 30th of
    /// February.
    pub fn new(name: impl Into<Arc<str>>, cron: &str, entry: impl Into<String>) -> Result<Self, ServiceError> {
        let name = name.into();
        let parsed = CronParser::builder().seconds(Seconds::Disallowed).build().parse(cron);
        let invalid = |fault: &str| {
            ServiceError::new(format!(
                "schedule `{name}`: invalid cron expression `{cron}`: {fault}; expected five fields, such as `0 7 * * MON-FRI`"
            ))
        };
        let cron = parsed.map_err(|error| invalid(&error.to_string()))?;
        let epoch = Timestamp::UNIX_EPOCH.to_zoned(TimeZone::UTC);
        cron.find_next_occurrence(&epoch, false).map_err(|_| invalid("it names no time"))?;
        let (arguments, zone) = (Value::Object(serde_json::Map::new()), TimeZone::UTC);
        Ok(Self { tenant: Arc::clone(&name), name, entry: entry.into(), arguments, cron, zone })
    }

    /// Sets the arguments of the runs. Default: none.
    pub fn arguments(mut self, arguments: Value) -> Self {
        self.arguments = arguments;
        self
    }

    /// Sets the time zone of the expression, such as `Europe/Vienna`. Default: UTC.
    ///
    /// # Errors
    ///
    /// Returns an error for an unknown time zone.
    pub fn time_zone(mut self, zone: &str) -> Result<Self, ServiceError> {
        self.zone = TimeZone::get(zone).map_err(|_| {
            let name = &self.name;
            ServiceError::new(format!(
                "schedule `{name}`: unknown time zone `{zone}`; expected a name such as `Europe/Vienna`"
            ))
        })?;
        Ok(self)
    }

    /// Sets the tenant that the runs belong to. Default: the name of the schedule.
    pub fn tenant(mut self, tenant: impl Into<Arc<str>>) -> Self {
        self.tenant = tenant.into();
        self
    }

    /// Returns the rule of the times; after a change of the rule, earlier times do not count as missed.
    pub(super) fn rule(&self) -> String {
        format!("{} {}", self.cron.pattern, self.zone.iana_name().unwrap_or("UTC"))
    }

    /// Returns the latest time after `last` and up to `now`, if any.
    pub(super) fn due(&self, last: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let last = last.to_zoned(self.zone.clone());
        let first = self.cron.find_next_occurrence(&last, false).ok()?;
        if first.timestamp() > now {
            return None;
        }
        let now = now.to_zoned(self.zone.clone());
        let latest = self.cron.find_previous_occurrence(&now, true).ok()?;
        Some(latest.timestamp().max(first.timestamp()))
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZoneDatabase;

    #[test]
    fn time_zones_are_known_without_those_of_the_system() {
        let bundled = TimeZoneDatabase::bundled();
        for zone in ["Europe/Berlin", "America/New_York", "Asia/Kolkata"] {
            assert!(bundled.get(zone).is_ok(), "{zone}");
        }
    }
}
