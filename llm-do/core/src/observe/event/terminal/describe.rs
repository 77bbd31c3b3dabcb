//! The text that a terminal shows for an event.

use llm_do_providers::{ResponsePart, Usage};
use serde_json::Value;

use super::Verbosity;
use super::values::{one_line, with_value};
use crate::base::mend::{Mend, words_of};
use crate::base::usage::RunUsage;
use crate::observe::event::{CodeAnswer, DecidedBy, Event, EventKind, EventPart, GuardAction, Outcome};

/// Returns the text for an event, or `None` if it is not shown.
pub(super) fn describe(event: &Event, kind: &EventKind, verbosity: Verbosity) -> Option<String> {
    let name = one_line(&event.name);
    match kind {
        EventKind::CallStarted { what, arguments, background, .. } => {
            let after = if *background { " (in the background)" } else { "" };
            Some(with_value(&format!("→ {} {name}", what.as_str()), &arguments.to_string(), after))
        }
        EventKind::CallFinished { outcome, labels, elapsed_ms, note, replayed, .. } => {
            let note =
                note.as_deref().map(|note| format!("; {}", with_value("", note, "").trim_start())).unwrap_or_default();
            let how = if *replayed { "replayed".to_owned() } else { format!("{elapsed_ms} ms") };
            let after = format!(" ({how}{note}){}", labels.remark());
            Some(match outcome {
                Outcome::Result(value) => with_value(&format!("← {name}"), &text(&value.value()), &after),
                Outcome::Error(error) => with_value(&format!("✗ {name}"), error, &after),
            })
        }
        EventKind::CallRefused { error, .. } => Some(with_value(&format!("✗ {name}"), error, "")),
        EventKind::CallPlanned { summary, ran: false, .. } => {
            Some(with_value(&format!("○ {name} is planned:"), summary, ""))
        }
        EventKind::CallPlanned { summary, approval, .. } => {
            Some(with_value(&format!("○ {name} {}:", approval.words()), summary, ""))
        }
        EventKind::ApprovalDecided { approved, by, reason, .. } if *by != DecidedBy::Policy || !approved => {
            let decided = if *approved { "approved" } else { "denied" };
            Some(with_value(&format!("{decided} {name}"), reason.as_deref().unwrap_or_default(), ""))
        }
        EventKind::EditRefused { arguments, reason, .. } => {
            let edit = with_value(&format!("refused the edit of {name}"), &arguments.to_string(), ":");
            Some(with_value(&edit, reason, ""))
        }
        EventKind::Shadowed { worker, agrees: true, .. } => Some(format!("= {name} agrees with {}", one_line(worker))),
        EventKind::Shadowed { worker, answer, other, .. } => Some(differing(&name, answer, worker, other)),
        EventKind::Drifted { worker, disagree, of } => {
            Some(format!("! {name} disagrees with {} in {disagree} of the latest {of} comparisons", one_line(worker)))
        }
        EventKind::Hybrid { tool, answer: CodeAnswer::Answered, .. } => {
            Some(format!("  {} answers for {name}", one_line(tool)))
        }
        EventKind::Hybrid { tool, answer: CodeAnswer::Compared, .. } => {
            Some(format!("  {} is compared with {name}", one_line(tool)))
        }
        EventKind::Hybrid { tool, answer: CodeAnswer::Stopped, reason } => {
            let what = format!("! {} stopped after a call with an effect, so {name} fails:", one_line(tool));
            Some(with_value(&what, reason.as_deref().unwrap_or_default(), ""))
        }
        EventKind::Guarantee { tool, reason: Some(reason), .. } => {
            Some(with_value(&format!("! {name} answers in place of {}:", one_line(tool)), reason, ""))
        }
        EventKind::Guarantee { tool, holds, bound, comparisons, disagreements, .. } => {
            let (word, percent) = (if *holds { "holds" } else { "does not hold" }, bound * 100.0);
            Some(format!(
                "! the guarantee of {} for {name} {word}: {disagreements} of {comparisons} comparisons disagree, so at most {percent:.1} %",
                one_line(tool)
            ))
        }
        EventKind::Hybrid { tool, reason, .. } => {
            let what = format!("  {} does not answer for {name}:", one_line(tool));
            Some(with_value(&what, reason.as_deref().unwrap_or_default(), ""))
        }
        EventKind::Scored { evaluator, result, score, reasons, again } => {
            let score = score.map_or_else(|| "no score".to_owned(), |score| format!("the score {score}"));
            let again = if *again { ", which goes back" } else { "" };
            let what = format!("  {} gives result {result} of {name} {score}{again}:", one_line(evaluator));
            Some(with_value(&what, &reasons.join("; "), ""))
        }
        EventKind::Guarded { guard, hook, action, reason } => {
            let what = |did| format!("  {} {did} the {} of {name}", one_line(guard), hook.as_str());
            Some(match action {
                GuardAction::Changed => what("changed"),
                GuardAction::Refused => with_value(&(what("refused") + ":"), reason.as_deref().unwrap_or_default(), ""),
            })
        }
        EventKind::Endorsed { value, reason } => {
            let what = with_value(&format!("  {name} endorses"), &value.to_string(), ":");
            Some(with_value(&what, reason, ""))
        }
        EventKind::UserMessage { text, .. } => Some(with_value(&format!("  {name} gets a message:"), text, "")),
        EventKind::ModelRequest { model, turn, .. } => {
            Some(format!("  {name} asks {} (request {turn})", one_line(model)))
        }
        EventKind::SettingWarning { model, setting, message } => {
            Some(with_value(&format!("  warning: {}: `{}`", one_line(model), one_line(setting)), message, ""))
        }
        EventKind::ModelWaiting { on } => Some(with_value(&format!("  {name} waits:"), on, "")),
        EventKind::ServerSideToolStarted { tool, input } => {
            Some(with_value(&format!("  {name}: provider runs {}", one_line(tool)), &input.to_string(), ""))
        }
        EventKind::ServerSideToolFinished { tool, error: None, .. } => {
            Some(format!("  {name}: provider finished {}", one_line(tool)))
        }
        EventKind::ServerSideToolFinished { tool, error: Some(error), .. } => {
            Some(with_value(&format!("  {name}: provider failed to run {}:", one_line(tool)), error, ""))
        }
        EventKind::ModelResponse { parts, usage, replayed, .. } => {
            Some(answer(&name, parts, usage, *replayed, verbosity))
        }
        EventKind::Mended { tool, mends } => Some(mended(&name, tool.as_deref(), mends)),
        EventKind::ModelRetry { reason } => Some(with_value(&format!("  {name} asks again:"), reason, "")),
        EventKind::Usage { used } if event.parent.is_none() && event.call == 0 => Some(sum(used)),
        EventKind::Dropped { count } => Some(format!("… {count} events dropped: the terminal is too slow")),
        _ => None,
    }
}

/// Returns a multi-line text unchanged, and all other values as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) if text.trim_end().contains('\n') => text.trim_end().to_owned(),
        other => other.to_string(),
    }
}

fn differing(name: &str, answer: &Outcome, worker: &str, other: &Outcome) -> String {
    let came = |who: &str, outcome: &Outcome| match outcome {
        Outcome::Result(value) => with_value(&format!("\n    {who}:"), &value.to_string(), ""),
        Outcome::Error(error) => with_value(&format!("\n    {who} failed:"), &one_line(error), ""),
    };
    let worker = one_line(worker);
    format!("≠ {name} differs from {worker}{}{}", came(name, answer), came(&worker, other))
}

fn answer(name: &str, parts: &[EventPart], usage: &Usage, replayed: bool, verbosity: Verbosity) -> String {
    let words: Vec<String> = parts.iter().filter_map(|part| word(part, verbosity)).collect();
    let how = if replayed { "replayed, " } else { "" };
    let after = format!(" ({how}{} tokens in, {} out)", usage.input_tokens, usage.output_tokens);
    with_value(&format!("  {name} got"), &words.join(", "), &after)
}

fn mended(name: &str, tool: Option<&str>, mends: &[Mend]) -> String {
    let what = tool.map_or_else(|| "result".to_owned(), |tool| format!("arguments of {}", one_line(tool)));
    format!("  {name} mended the {what}: {}", words_of(mends))
}

fn word(part: &EventPart, verbosity: Verbosity) -> Option<String> {
    if let Some(file) = part.file() {
        return Some(format!("{} of {} bytes", file.media_type, file.bytes));
    }
    match part.whole()? {
        // The text was shown while it streamed.
        ResponsePart::Text { .. } if verbosity >= Verbosity::Stream => None,
        ResponsePart::Text { text } => Some(format!("{text:?}")),
        ResponsePart::ToolCall(call) => Some(format!("{} {}", call.name, call.arguments)),
        _ => None,
    }
}

fn sum(used: &RunUsage) -> String {
    let (calls, model) = (used.tool_calls, used.model);
    let (requests, read, written) = (model.requests, model.input_tokens, model.output_tokens);
    let unpriced = match used.cost.unpriced {
        charges if charges.is_empty() => String::new(),
        charges => format!(", unpriced: {charges}"),
    };
    format!("used: {calls} tool calls, {requests} requests, {read} tokens in, {written} out{unpriced}")
}
