//! Sample strings and numbers.

use serde_json::{Map, Value, json};

/// The maximum length of a sample string, in characters.
const MAX_LENGTH: u64 = 10_000;

/// Returns the shortest string, or one of the format in `schema`.
pub(super) fn string(schema: &Map<String, Value>) -> Value {
    let text = example(schema.get("format").and_then(Value::as_str).unwrap_or_default());
    let most = length(schema, "maxLength").unwrap_or(text.len());
    let least = length(schema, "minLength").unwrap_or_default();
    let kept: String = text.chars().take(most).collect();
    json!(format!("{kept}{}", "a".repeat(least.saturating_sub(kept.len()))))
}

fn example(format: &str) -> &'static str {
    match format {
        "date-time" => "2000-01-01T00:00:00Z",
        "date" => "2000-01-01",
        "time" => "00:00:00Z",
        "duration" => "PT0S",
        "email" | "idn-email" => "a@example.com",
        "hostname" | "idn-hostname" => "example.com",
        "uri" | "url" | "iri" | "uri-reference" | "iri-reference" => "http://example.com",
        "uuid" => "00000000-0000-0000-0000-000000000000",
        "ipv4" | "ip" => "127.0.0.1",
        "ipv6" => "::1",
        _ => "a",
    }
}

fn length(schema: &Map<String, Value>, key: &str) -> Option<usize> {
    let length = schema.get(key)?.as_u64()?.min(MAX_LENGTH);
    usize::try_from(length).ok()
}

/// Returns the allowed integer next to 0.
pub(super) fn integer(schema: &Map<String, Value>) -> Option<Value> {
    let bounds = NumberBounds::from_schema(schema, 1.0);
    let value = bounds.candidates().into_iter().flat_map(|value| [value.ceil(), value.floor()]);
    let value = value.into_iter().find(|value| bounds.allow(*value))?;
    // Converted through text, since no conversion from floats to integers reports losses.
    let text = format!("{value:.0}");
    text.parse::<i64>().map(Value::from).or_else(|_| text.parse::<u64>().map(Value::from)).ok()
}

/// Returns the allowed number next to 0.
pub(super) fn number(schema: &Map<String, Value>) -> Option<Value> {
    let bounds = NumberBounds::from_schema(schema, 0.5);
    bounds.candidates().into_iter().find(|value| bounds.allow(*value)).map(Value::from)
}

/// The numeric bounds of a schema.
struct NumberBounds {
    least: f64,
    above: f64,
    most: f64,
    below: f64,
    step: Option<f64>,
    /// The distance from an exclusive bound to try.
    nudge: f64,
}

impl NumberBounds {
    fn from_schema(schema: &Map<String, Value>, nudge: f64) -> Self {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        Self {
            least: bound("minimum").unwrap_or(f64::NEG_INFINITY),
            above: bound("exclusiveMinimum").unwrap_or(f64::NEG_INFINITY),
            most: bound("maximum").unwrap_or(f64::INFINITY),
            below: bound("exclusiveMaximum").unwrap_or(f64::INFINITY),
            step: bound("multipleOf").filter(|step| *step > 0.0),
            nudge,
        }
    }

    /// Returns the values to try, in order.
    fn candidates(&self) -> Vec<f64> {
        let floor = self.least.max(self.above);
        let ceiling = self.most.min(self.below);
        let plain = [
            0.0,
            self.least,
            self.above + self.nudge,
            self.most,
            self.below - self.nudge,
            f64::midpoint(floor, ceiling),
        ];
        let fitted = plain.into_iter().filter(|value| value.is_finite()).flat_map(|value| match self.step {
            Some(step) => [(value / step).ceil() * step, (value / step).floor() * step],
            None => [value, value],
        });
        fitted.collect()
    }

    fn allow(&self, value: f64) -> bool {
        let bounded = value >= self.least && value > self.above && value <= self.most && value < self.below;
        bounded && self.step.is_none_or(|step| (value / step).fract().abs() < f64::EPSILON)
    }
}
