//! Events of a run, as log entries for its client.

use rmcp::model::LoggingLevel;
use serde_json::Value;

use llm_do_core::base::mend::words_of;
use llm_do_core::observe::event::{Event, EventKind, Outcome};

/// Returns the level and the text of an event if its severity is at least `least`.
pub(super) fn entry(event: &Event, least: LoggingLevel) -> Option<(LoggingLevel, Value)> {
    let (level, text) = described(event)?;
    (severity(level) >= severity(least)).then(|| (level, text.into()))
}

/// Describes an event without arguments, results or texts of models.
fn described(event: &Event) -> Option<(LoggingLevel, String)> {
    let name = &event.name;
    Some(match &event.kind {
        EventKind::Progress { text } => (LoggingLevel::Info, text.clone()),
        EventKind::CallStarted { .. } => (LoggingLevel::Debug, format!("`{name}` started")),
        EventKind::CallFinished { outcome: Outcome::Result(_), elapsed_ms, .. } => {
            (LoggingLevel::Debug, format!("`{name}` finished after {elapsed_ms} ms"))
        }
        EventKind::CallFinished { elapsed_ms, .. } => {
            (LoggingLevel::Warning, format!("`{name}` failed after {elapsed_ms} ms"))
        }
        EventKind::CallRefused { .. } => (LoggingLevel::Warning, format!("a call of `{name}` was refused")),
        EventKind::ModelRequest { model, turn, .. } => {
            (LoggingLevel::Debug, format!("`{name}` asks {model} (request {turn})"))
        }
        EventKind::UserMessage { .. } => (LoggingLevel::Debug, format!("`{name}` gets a message")),
        EventKind::ModelWaiting { on } => (LoggingLevel::Notice, format!("`{name}` waits: {on}")),
        EventKind::Mended { mends, .. } => {
            (LoggingLevel::Notice, format!("`{name}` mended JSON of its model: {}", words_of(mends)))
        }
        // The reason may quote the answer.
        EventKind::ModelRetry { .. } => (LoggingLevel::Notice, format!("`{name}` retries its model request")),
        EventKind::SettingWarning { model, setting, message } => {
            (LoggingLevel::Warning, format!("{model}: `{setting}`: {message}"))
        }
        _ => return None,
    })
}

/// Returns the rank of a level of the protocol, which are the levels of syslog (RFC 5424).
fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}
