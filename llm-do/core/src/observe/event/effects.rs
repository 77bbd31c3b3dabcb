//! The calls of a run that may have changed something, from its events, for the operator of a run that ends in an
//! error.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Event, EventKind, EventValue, Outcome};
use crate::base::clip::clip;
use crate::base::mutex::IgnorePoison;
use crate::base::printable::printable_line;

/// The maximum number of calls in a list; further ones are counted.
const MAX_EFFECTS: usize = 200;
/// The maximum size of the arguments, the result and the error of one call, in bytes each.
const MAX_VALUE: usize = 300;
/// The maximum number of calls that are listed with an error at the terminal.
const MAX_LINES: usize = 20;

/// A call that may have changed something: it has a result, an error, or neither if it was not finished.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(crate = "::schemars")]
#[doc(hidden)]
pub struct MadeEffect {
    /// The registered name of the tool.
    tool: String,
    /// The arguments; the beginning of their JSON text if they are long.
    arguments: Value,
    /// The result; the beginning of its JSON text if it is long.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schemars(with = "Option<Value>")]
    result: Option<Value>,
    /// The error of a call that failed, which may have changed something before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The calls of the latest run that may have changed something.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct EffectLog {
    run: Option<Arc<str>>,
    effects: Vec<MadeEffect>,
    /// The number of further calls that the full list does not contain.
    left_out: u64,
    /// The index of each call in the list, by its id.
    places: HashMap<u64, usize>,
}

/// Deserializes a field that is present: `null` is a value too.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

impl EffectLog {
    /// Adds an event; the first event of another run clears the list.
    #[doc(hidden)]
    pub fn push(&mut self, event: &Event) {
        if self.run.as_ref() != Some(&event.run) {
            *self = Self { run: Some(Arc::clone(&event.run)), ..Self::default() };
        }
        match &event.kind {
            // The root call is the run itself, whose error is reported separately.
            EventKind::CallStarted { arguments, effect: Some(_), .. } if event.parent.is_some() => {
                self.start(event, arguments);
            }
            EventKind::CallFinished { outcome, .. } => self.finish(event.call, outcome),
            _ => {}
        }
    }

    fn start(&mut self, event: &Event, arguments: &EventValue) {
        // A call that is retried in a resumed run is already in the list.
        if self.places.contains_key(&event.call) {
            return;
        }
        if self.effects.len() == MAX_EFFECTS {
            self.left_out += 1;
            return;
        }
        self.places.insert(event.call, self.effects.len());
        let (tool, arguments) = (event.name.to_string(), short(arguments));
        self.effects.push(MadeEffect { tool, arguments, result: None, error: None });
    }

    fn finish(&mut self, call: u64, outcome: &Outcome) {
        let Some(effect) = self.places.get(&call).and_then(|place| self.effects.get_mut(*place)) else { return };
        (effect.result, effect.error) = match outcome {
            Outcome::Result(value) => (Some(short(value)), None),
            Outcome::Error(error) => (None, Some(clipped(error))),
        };
    }

    /// Returns the calls in order, and the number of further calls.
    #[must_use]
    pub fn into_parts(self) -> (Vec<MadeEffect>, u64) {
        (self.effects, self.left_out)
    }
}

fn short(value: &EventValue) -> Value {
    let text = value.text();
    if text.len() <= MAX_VALUE { value.value().into_owned() } else { Value::String(clipped(&text)) }
}

fn clipped(text: &str) -> String {
    match clip(text, MAX_VALUE) {
        whole if whole.len() == text.len() => text.to_owned(),
        start => format!("{start}… [{} more bytes]", text.len() - start.len()),
    }
}

/// Formats the call as one line for a terminal.
impl fmt::Display for MadeEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tool, arguments, result, error } = self;
        write!(f, "{} {}", printable_line(tool), printable_line(&arguments.to_string()))?;
        match (result, error) {
            (Some(result), _) => write!(f, " → {}", printable_line(&result.to_string())),
            (None, Some(error)) => write!(f, " failed, and may have had its effect: {}", printable_line(error)),
            (None, None) => f.write_str(" was not finished, and may have had its effect"),
        }
    }
}

impl EffectLog {
    /// Returns the lines that follow an error at the terminal; empty if no call may have changed something.
    #[must_use]
    pub fn after_error(&self) -> String {
        if self.effects.is_empty() {
            return String::new();
        }
        let lines: Vec<_> = self.effects.iter().take(MAX_LINES).map(|effect| format!("\n  {effect}")).collect();
        let listed = lines.concat();
        let all = u64::try_from(self.effects.len()).unwrap_or(u64::MAX) + self.left_out;
        let more = match all.saturating_sub(u64::try_from(MAX_LINES).unwrap_or(u64::MAX)) {
            0 => String::new(),
            more => format!("\n  … and {more} more"),
        };
        format!("\neffects that the run made:{listed}{more}")
    }
}

/// A sink that collects the list of the latest run.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct EffectSink(std::sync::Mutex<EffectLog>);

impl EffectSink {
    /// Returns the list so far.
    pub fn log(&self) -> EffectLog {
        self.0.lock().ignore_poison().clone()
    }
}

impl super::EventSink for EffectSink {
    fn emit(&self, event: &Arc<Event>) {
        self.0.lock().ignore_poison().push(event);
    }

    /// Only starts and ends of calls are examined, so the sink is quick.
    fn delivery(&self) -> super::Delivery {
        super::Delivery::Inline
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::{EffectLog, Event, EventKind, EventValue, MAX_EFFECTS, Outcome, Value};
    use crate::declare::tool::Effect;
    use crate::observe::event::{Caller, ItemKind, Labels};

    fn event(run: &str, call: u64, kind: EventKind) -> Event {
        let (parent, name, time) = (Some(0), "send".into(), Timestamp::UNIX_EPOCH);
        Event { run: run.into(), call, parent, seq: 0, depth: 0, name, time, kind }
    }

    fn started(run: &str, call: u64, arguments: Value, effect: Option<Effect>) -> Event {
        let (what, by, arguments) = (ItemKind::Tool, Caller::Model, EventValue::from(arguments));
        event(run, call, EventKind::CallStarted { what, by, arguments, effect, background: false })
    }

    fn finished(run: &str, call: u64, outcome: Outcome) -> Event {
        let (attachments, note) = (Vec::new(), None);
        event(
            run,
            call,
            EventKind::CallFinished {
                outcome,
                labels: Labels::default(),
                attachments,
                note,
                elapsed_ms: 0,
                replayed: false,
            },
        )
    }

    #[test]
    fn a_list_has_each_call_with_its_outcome_and_no_call_that_only_reads() {
        let mut log = EffectLog::default();
        for call in 1..4 {
            log.push(&started("r", call, json!({ "to": call }), Some(Effect::Destructive)));
        }
        log.push(&started("r", 4, json!({}), None));
        log.push(&finished("r", 1, Outcome::Result(json!("sent").into())));
        log.push(&finished("r", 2, Outcome::Error("no\nline \u{1b}[2J".into())));
        log.push(&finished("r", 4, Outcome::Result(json!("read").into())));
        let expected = "\neffects that the run made:\n  send {\"to\":1} → \"sent\"\n  send {\"to\":2} failed, and may have had its \
                        effect: no";
        let text = log.after_error();
        assert!(text.starts_with(expected) && !text.contains('\u{1b}'), "{text}");
        assert!(text.ends_with("\n  send {\"to\":3} was not finished, and may have had its effect"), "{text}");
        assert_eq!(text.lines().count(), 5);
    }

    #[test]
    fn a_retried_call_is_listed_once_with_its_last_outcome() {
        let mut log = EffectLog::default();
        for outcome in [Outcome::Error("timed out".into()), Outcome::Result(json!(null).into())] {
            log.push(&started("r", 1, json!({}), Some(Effect::Undeclared)));
            log.push(&finished("r", 1, outcome));
        }
        let (effects, _) = log.into_parts();
        assert_eq!(json!(effects), json!([{ "tool": "send", "arguments": {}, "result": null }]));
    }

    #[test]
    fn a_list_is_bounded_and_another_run_begins_another_one() {
        let mut log = EffectLog::default();
        for call in 0..MAX_EFFECTS as u64 + 5 {
            log.push(&started("r", call, json!("x".repeat(10_000)), Some(Effect::Idempotent)));
        }
        assert!(log.after_error().ends_with("\n  … and 185 more"), "{}", log.after_error());
        let (effects, more) = log.clone().into_parts();
        assert_eq!((effects.len(), more), (MAX_EFFECTS, 5));
        assert!(json!(effects).to_string().len() < MAX_EFFECTS * 400);
        log.push(&started("other", 1, json!({}), None));
        assert_eq!(log.after_error(), "");
    }
}
