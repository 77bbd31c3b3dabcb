//! What is said of an event.

use llm_do_providers::{ResponsePart, Usage};
use serde_json::Value;

use super::Verbosity;
use super::lines::{flat, told};
use crate::base::usage::RunUsage;
use crate::observe::event::{DecidedBy, Event, EventKind, EventPart, GuardAction, Outcome};

/// Says what happened, if it is worth a line.
pub(super) fn describe(event: &Event, kind: &EventKind, verbosity: Verbosity) -> Option<String> {
    let name = flat(&event.name);
    match kind {
        EventKind::CallStarted { what, arguments, .. } => {
            Some(told(&format!("→ {} {name}", what.as_str()), &arguments.to_string(), ""))
        }
        EventKind::CallFinished { outcome, elapsed_ms, note, replayed, .. } => {
            let note = note.as_deref().map(|note| format!("; {}", told("", note, "").trim_start())).unwrap_or_default();
            let how = if *replayed { "replayed".to_owned() } else { format!("{elapsed_ms} ms") };
            let after = format!(" ({how}{note})");
            Some(match outcome {
                Outcome::Result(value) => told(&format!("← {name}"), &text(value), &after),
                Outcome::Error(error) => told(&format!("✗ {name}"), error, &after),
            })
        }
        EventKind::CallRefused { error, .. } => Some(told(&format!("✗ {name}"), error, "")),
        EventKind::ApprovalDecided { approved, by, reason, .. } if *by != DecidedBy::Policy || !approved => {
            let decided = if *approved { "approved" } else { "denied" };
            Some(told(&format!("{decided} {name}"), reason.as_deref().unwrap_or_default(), ""))
        }
        EventKind::Shadowed { worker, agrees: true, .. } => Some(format!("= {name} agrees with {}", flat(worker))),
        EventKind::Shadowed { worker, answer, other, .. } => Some(differing(&name, answer, worker, other)),
        EventKind::Guarded { guard, hook, action, reason } => {
            let what = |did| format!("  {} {did} the {} of {name}", flat(guard), hook.as_str());
            Some(match action {
                GuardAction::Changed => what("changed"),
                GuardAction::Refused => told(&(what("refused") + ":"), reason.as_deref().unwrap_or_default(), ""),
            })
        }
        EventKind::ModelRequest { model, turn, .. } => Some(format!("  {name} asks {} (request {turn})", flat(model))),
        EventKind::SettingWarning { model, setting, message } => {
            Some(told(&format!("  warning: {}: `{}`", flat(model), flat(setting)), message, ""))
        }
        EventKind::ModelWaiting { on } => Some(told(&format!("  {name} waits:"), on, "")),
        EventKind::ServerSideToolStarted { tool, input } => {
            Some(told(&format!("  {name} has its provider run {}", flat(tool)), &input.to_string(), ""))
        }
        EventKind::ServerSideToolFinished { tool, error: None, .. } => Some(format!("  {name} had {} run", flat(tool))),
        EventKind::ServerSideToolFinished { tool, error: Some(error), .. } => {
            Some(told(&format!("  {name} had {} fail:", flat(tool)), error, ""))
        }
        EventKind::ModelResponse { parts, usage, .. } => Some(answer(&name, parts, usage, verbosity)),
        EventKind::ModelRetry { reason } => Some(told(&format!("  {name} asks again:"), reason, "")),
        EventKind::Usage { used } if event.parent.is_none() && event.call == 0 => Some(sum(used)),
        EventKind::Dropped { count } => Some(format!("… {count} events are not shown: they came too fast")),
        _ => None,
    }
}

/// A text of several lines is shown in lines; all else as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim_end().contains('\n') => text.trim_end().to_owned(),
        other => other.to_string(),
    }
}

fn differing(name: &str, answer: &Outcome, worker: &str, other: &Outcome) -> String {
    let came = |who: &str, outcome: &Outcome| match outcome {
        Outcome::Result(value) => told(&format!("\n    {who}:"), &value.to_string(), ""),
        Outcome::Error(error) => told(&format!("\n    {who} failed:"), &flat(error), ""),
    };
    let worker = flat(worker);
    format!("≠ {name} differs from {worker}{}{}", came(name, answer), came(&worker, other))
}

fn answer(name: &str, parts: &[EventPart], usage: &Usage, verbosity: Verbosity) -> String {
    let words: Vec<String> = parts.iter().filter_map(|part| word(part, verbosity)).collect();
    let after = format!(" ({} tokens in, {} out)", usage.input_tokens, usage.output_tokens);
    told(&format!("  {name} got"), &words.join(", "), &after)
}

fn word(part: &EventPart, verbosity: Verbosity) -> Option<String> {
    if let Some(file) = part.file() {
        return Some(format!("{} of {} bytes", file.media_type, file.bytes));
    }
    match part.whole()? {
        // It was shown as it came.
        ResponsePart::Text { .. } if verbosity >= Verbosity::Stream => None,
        ResponsePart::Text { text } => Some(format!("{text:?}")),
        ResponsePart::ToolCall(call) => Some(format!("{} {}", call.name, call.arguments)),
        _ => None,
    }
}

fn sum(used: &RunUsage) -> String {
    let (calls, model) = (used.tool_calls, used.model);
    let (requests, read, written) = (model.requests, model.input_tokens, model.output_tokens);
    format!("used: {calls} tool calls, {requests} requests, {read} tokens in, {written} out")
}
