//! Reads events line by line.

use std::io::{self, BufRead};

use llm_do_core::observe::event::{Event, EventKind};
use serde_json::{Value, json};

use super::Trace;
use super::build::Builder;
use super::lines::{MAX_LINE, Next, next};

/// The maximum number of stored faults.
const MAX_FAULTS: usize = 5;

/// A line of a log that is not an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
#[non_exhaustive]
pub struct TraceFault {
    /// The 1-based number of the line.
    pub line: usize,
    /// The fault of the line.
    pub message: String,
}

pub(super) fn read(mut events: impl BufRead) -> io::Result<Trace> {
    let (mut builder, mut faults, mut skipped, mut is_torn) = (Builder::default(), Vec::new(), 0, false);
    let mut line = Vec::new();
    for number in 1.. {
        match next(&mut events, &mut line)? {
            Next::Line => {}
            Next::End => break,
            Next::TooLong => {
                let message =
                    format!("it has more than {} MiB, so neither it nor what follows is read", MAX_LINE >> 20);
                faults.push(TraceFault { line: number, message });
                break;
            }
        }
        match parse(&line) {
            Ok(Some(event)) => builder.push(&event),
            Ok(None) => skipped += usize::from(!line.trim_ascii().is_empty()),
            Err(_) if !line.ends_with(b"\n") => is_torn = true,
            Err(message) if faults.len() < MAX_FAULTS => faults.push(TraceFault { line: number, message }),
            Err(_) => {}
        }
    }
    Ok(Trace { skipped, is_torn, faults, ..builder.finish() })
}

/// Parses a line; returns `None` for a blank one and for an event that this version does not know.
pub(super) fn parse(line: &[u8]) -> Result<Option<Event>, String> {
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let error = match serde_json::from_slice::<Event>(line) {
        Ok(event) => return Ok(Some(event)),
        Err(error) => error,
    };
    match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(fields)) if is_unknown(fields.get("kind")) => Ok(None),
        Ok(Value::Object(_)) => Err(format!("invalid event: {error}")),
        Ok(_) => Err("expected an event, which is a JSON object".to_owned()),
        Err(error) => Err(format!("invalid JSON: {error}; expected events, as `run --events FILE` writes them")),
    }
}

/// Returns whether a kind is from a later version. The result of a run, the last line of `--output jsonl`, has no kind.
fn is_unknown(kind: Option<&Value>) -> bool {
    let Some(kind) = kind else { return true };
    let read = serde_json::from_value::<EventKind>(json!({ "kind": kind }));
    kind.is_string() && read.is_err_and(|error| error.to_string().starts_with("unknown variant"))
}
