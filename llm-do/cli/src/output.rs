//! Prints the result of a run: as text, as one JSON object, or after the events as JSON Lines.

use std::io::{self, Write};
use std::sync::Arc;

use clap::ValueEnum;
use llm_do_core::base::clip::{MAX_DIAGNOSTICS, diagnostic};
use llm_do_core::base::error::{CallError, chain};
use llm_do_core::base::printable::printable;
use llm_do_core::declare::tool::ToolReturn;
use llm_do_core::observe::event::{EffectLog, JsonLines};
use llm_do_core::plane::plan::Plan;
use llm_do_core::session::runtime::{RunHandle, RuntimeBuilder};
use serde_json::{Value, json};

use super::stdout::JsonOut;
use super::{CommandError, print, print_json};

/// A form of output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// The result: text as it is, other values as JSON.
    #[default]
    Text,
    /// A JSON object with `result` or `error`, `run` and `usage`; with an error, also `effects` and `more_effects`; of a dry run, also
    /// `plan`.
    Json,
    /// Each event as a line of JSON, and then that object on one line.
    Jsonl,
}

/// Events on standard output.
pub(super) type PrintedEvents = JsonLines<JsonOut>;

impl Format {
    /// Adds the sink for printed events.
    pub(super) fn add_to(self, builder: RuntimeBuilder) -> (RuntimeBuilder, Option<Arc<PrintedEvents>>) {
        if self != Self::Jsonl {
            return (builder, None);
        }
        let events = Arc::new(JsonLines::new(JsonOut::new()));
        (builder.shared_sink(Arc::clone(&events) as _), Some(events))
    }

    /// Prints the result of a run. The error of a failed run is printed only for programs, and a text only as far as it
    /// is not `shown` yet. Of a dry run, also prints the plan.
    pub(super) fn print(
        self,
        result: &Result<ToolReturn, CallError>,
        run: &RunHandle,
        effects: &EffectLog,
        shown: Option<&str>,
        plan: Option<&Plan>,
    ) -> Result<(), CommandError> {
        let object = || {
            let (id, usage) = (run.id(), run.usage_tree().total());
            let mut object = match result {
                Ok(returned) => json!({ "result": returned.value(), "run": id, "usage": usage }),
                Err(error) => {
                    let (effects, more) = effects.clone().into_parts();
                    json!({ "error": chain(error), "run": id, "usage": usage, "effects": effects, "more_effects": more })
                }
            };
            if let Some(plan) = plan {
                object["plan"] = json!(plan);
            }
            object
        };
        match self {
            Self::Text => {
                if let Ok(returned) = result {
                    print_unless_shown(returned.value(), shown)?;
                }
                plan.map_or(Ok(()), |plan| print(&plan.to_string()))
            }
            Self::Json => print_json(&format!("{:#}", object())),
            Self::Jsonl => print_json(&object().to_string()),
        }
    }
}

/// Prints the first warnings to standard error, and the number of further warnings.
///
/// A name in a warning may contain line breaks: its further lines are indented, so that they do not look like output of
/// the program itself.
pub(super) fn warn(warnings: &[String]) {
    let mut stderr = io::stderr();
    for warning in warnings.iter().take(MAX_DIAGNOSTICS) {
        // Ignored: standard error may be closed.
        let _ = writeln!(stderr, "warning: {}", printable(&diagnostic(warning)).replace('\n', "\n    "));
    }
    if let more @ 1.. = warnings.len().saturating_sub(MAX_DIAGNOSTICS) {
        let _ = writeln!(stderr, "warning: {more} more warnings are not shown");
    }
}

/// Prints a value like [`print_value`], unless it is the text that was shown while it streamed.
pub(super) fn print_unless_shown(result: &Value, shown: Option<&str>) -> Result<(), CommandError> {
    match (result, shown) {
        (Value::String(text), Some(shown)) if text.trim_end() == shown.trim_end() => Ok(()),
        _ => print_value(result),
    }
}

/// Prints text unchanged, nothing for `null`, and any other value as JSON.
pub(super) fn print_value(result: &Value) -> Result<(), CommandError> {
    match result {
        Value::Null => Ok(()),
        Value::String(text) => print(text),
        other => print_json(&format!("{other:#}")),
    }
}
