//! The kind of an event in its line. Frequent kinds are written by hand, which is several times as fast as serde; tests
//! compare the results.

use std::sync::Arc;

use llm_do_providers::{ResponsePart, ToolCall, Usage};

use crate::base::json::{write_integer, write_json, write_text};
use crate::base::usage::RunUsage;
use crate::observe::event::{
    ApprovalScope, Caller, ContentMessage, ContentResult, DecidedBy, Delta, EventKind, EventPart, Outcome,
    RequestContent, RuleSource,
};

/// Adds the fields of a kind, after those of its event.
pub(super) fn write_kind(line: &mut String, kind: &EventKind) -> serde_json::Result<()> {
    match kind {
        EventKind::ModelRequest { .. }
        | EventKind::ModelDelta { .. }
        | EventKind::ModelResponse { .. }
        | EventKind::Usage { .. } => write_exchange(line, kind),
        kind => write_call(line, kind),
    }
}

/// Adds an event of a call.
fn write_call(line: &mut String, kind: &EventKind) -> serde_json::Result<()> {
    match kind {
        EventKind::CallStarted { what, by, arguments, effect, background } => {
            line.push_str(",\"kind\":\"call_started\",\"what\":\"");
            line.push_str(what.as_str());
            line.push_str(match by {
                Caller::User => "\",\"by\":\"user\",\"arguments\":",
                Caller::Code => "\",\"by\":\"code\",\"arguments\":",
                Caller::Model => "\",\"by\":\"model\",\"arguments\":",
            });
            line.push_str(&arguments.text());
            if let Some(effect) = effect {
                line.push_str(",\"effect\":");
                write_json(line, effect)?;
            }
            if *background {
                line.push_str(",\"background\":true");
            }
            Ok(())
        }
        EventKind::CallFinished {
            outcome: Outcome::Result(result),
            labels,
            attachments,
            note: None,
            elapsed_ms,
            replayed: false,
        } if attachments.is_empty() && labels.is_default() => {
            line.push_str(",\"kind\":\"call_finished\",\"result\":");
            line.push_str(&result.text());
            line.push_str(",\"elapsed_ms\":");
            write_integer(line, *elapsed_ms);
            Ok(())
        }
        EventKind::ApprovalDecided {
            approved: true,
            by: DecidedBy::Policy,
            rule,
            reason: None,
            edited: None,
            scope: ApprovalScope::Call,
            replayed: false,
        } => {
            line.push_str(",\"kind\":\"approval_decided\",\"approved\":true,\"by\":\"policy\",\"rule\":");
            match rule {
                // The rule for most tools.
                RuleSource::Effect => line.push_str("\"effect\""),
                rule => write_json(line, rule)?,
            }
            line.push_str(",\"scope\":\"call\"");
            Ok(())
        }
        kind => write_other(line, kind),
    }
}

/// Adds an event of an exchange with a model.
fn write_exchange(line: &mut String, kind: &EventKind) -> serde_json::Result<()> {
    match kind {
        EventKind::ModelRequest { model, turn, messages, tools, content } => {
            line.push_str(",\"kind\":\"model_request\",\"model\":");
            write_text(line, model);
            line.push_str(",\"turn\":");
            write_integer(line, *turn);
            line.push_str(",\"messages\":");
            write_integer(line, *messages);
            line.push_str(",\"tools\":");
            write_array(line, tools, write_name)?;
            match content {
                Some(content) => write_content(line, content),
                None => Ok(()),
            }
        }
        EventKind::ModelDelta { delta } => {
            let (field, text) = match delta {
                Delta::Text(text) => (",\"kind\":\"model_delta\",\"text\":", text),
                Delta::Thinking(text) => (",\"kind\":\"model_delta\",\"thinking\":", text),
                Delta::Arguments(text) => (",\"kind\":\"model_delta\",\"arguments\":", text),
            };
            line.push_str(field);
            write_text(line, text);
            Ok(())
        }
        EventKind::ModelResponse { model, parts, usage, files, replayed: false } if files.is_empty() => {
            line.push_str(",\"kind\":\"model_response\",\"model\":");
            write_text(line, model);
            line.push_str(",\"parts\":");
            write_array(line, parts, write_part)?;
            line.push_str(",\"usage\":{");
            write_usage(line, usage);
            line.push('}');
            Ok(())
        }
        EventKind::Usage { used } => write_total(line, used),
        kind => write_other(line, kind),
    }
}

/// Adds any kind, by serde.
fn write_other(line: &mut String, kind: &EventKind) -> serde_json::Result<()> {
    // The fields of the kind continue the object of the event.
    let brace = line.len();
    write_json(line, kind)?;
    line.replace_range(brace..=brace, ",");
    line.pop();
    Ok(())
}

fn write_total(line: &mut String, RunUsage { tool_calls, model, cost }: &RunUsage) -> serde_json::Result<()> {
    line.push_str(",\"kind\":\"usage\",\"tool_calls\":");
    write_integer(line, *tool_calls);
    line.push(',');
    write_usage(line, model);
    line.push_str(",\"cost\":{\"known\":");
    write_json(line, &cost.known)?;
    line.push_str(",\"unpriced_requests\":");
    write_integer(line, cost.unpriced_requests);
    if !cost.unpriced.is_empty() {
        line.push_str(",\"unpriced\":");
        write_json(line, &cost.unpriced)?;
    }
    line.push('}');
    Ok(())
}

fn write_array<T>(
    line: &mut String,
    items: &[T],
    mut write: impl FnMut(&mut String, &T) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    line.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        write(line, item)?;
    }
    line.push(']');
    Ok(())
}

fn write_part(line: &mut String, part: &EventPart) -> serde_json::Result<()> {
    match part {
        EventPart::Whole(ResponsePart::Text { text }) => {
            line.push_str("{\"type\":\"text\",\"text\":");
            write_text(line, text);
        }
        EventPart::Whole(ResponsePart::ToolCall(ToolCall { id, name, arguments, provider_data: None, .. })) => {
            line.push_str("{\"type\":\"tool_call\",\"id\":");
            write_text(line, id);
            line.push_str(",\"name\":");
            write_text(line, name);
            line.push_str(",\"arguments\":");
            write_text(line, arguments);
        }
        part => return write_json(line, part),
    }
    line.push('}');
    Ok(())
}

#[expect(clippy::unnecessary_wraps, reason = "an item of an array")]
fn write_name(line: &mut String, name: &Arc<str>) -> serde_json::Result<()> {
    write_text(line, name);
    Ok(())
}

/// Adds the fields of a usage, without braces.
fn write_usage(line: &mut String, usage: &Usage) {
    for (field, figure) in [
        ("\"requests\":", usage.requests),
        (",\"input_tokens\":", usage.input_tokens),
        (",\"output_tokens\":", usage.output_tokens),
        (",\"cached_tokens\":", usage.cached_tokens),
        (",\"cache_write_tokens\":", usage.cache_write_tokens),
        (",\"reasoning_tokens\":", usage.reasoning_tokens),
    ] {
        line.push_str(field);
        write_integer(line, figure);
    }
    for (field, figure) in [
        (",\"audio_tokens\":", usage.audio_tokens),
        (",\"cached_audio_tokens\":", usage.cached_audio_tokens),
        (",\"server_side_tools\":", usage.server_side_tools),
        (",\"web_searches\":", usage.web_searches),
        (",\"file_searches\":", usage.file_searches),
        (",\"containers\":", usage.containers),
        (",\"other_charged_tools\":", usage.other_charged_tools),
        (",\"flex_requests\":", usage.flex_requests),
        (",\"priority_requests\":", usage.priority_requests),
        (",\"other_tier_requests\":", usage.other_tier_requests),
        (",\"batch_requests\":", usage.batch_requests),
    ] {
        if figure > 0 {
            line.push_str(field);
            write_integer(line, figure);
        }
    }
}

/// Adds the content of a request; values that occur once per run are written by serde.
fn write_content(line: &mut String, content: &RequestContent) -> serde_json::Result<()> {
    let RequestContent { kept, messages, instructions, tools, output, files } = content;
    line.push_str(",\"content\":{\"kept\":");
    write_integer(line, *kept);
    line.push_str(",\"messages\":");
    write_array(line, messages, write_message)?;
    if let Some(instructions) = instructions {
        line.push_str(",\"instructions\":");
        write_json(line, instructions)?;
    }
    if let Some(tools) = tools {
        line.push_str(",\"tools\":");
        write_json(line, tools)?;
    }
    if let Some(output) = output {
        line.push_str(",\"output\":");
        write_json(line, output)?;
    }
    if !files.is_empty() {
        line.push_str(",\"files\":");
        write_json(line, files)?;
    }
    line.push('}');
    Ok(())
}

fn write_message(line: &mut String, message: &ContentMessage) -> serde_json::Result<()> {
    match message {
        ContentMessage::User { parts } => {
            line.push_str("{\"role\":\"user\",\"parts\":");
            write_array(line, parts, write_part)?;
        }
        ContentMessage::Assistant { parts } => {
            line.push_str("{\"role\":\"assistant\",\"parts\":");
            write_array(line, parts, write_part)?;
        }
        ContentMessage::Tool { results } => {
            line.push_str("{\"role\":\"tool\",\"results\":");
            write_array(line, results, write_result)?;
        }
    }
    line.push('}');
    Ok(())
}

fn write_result(line: &mut String, result: &ContentResult) -> serde_json::Result<()> {
    let ContentResult { call_id, name, content, is_error, attachments } = result;
    line.push_str("{\"call_id\":");
    write_text(line, call_id);
    line.push_str(",\"name\":");
    write_text(line, name);
    line.push_str(",\"content\":");
    write_text(line, content);
    line.push_str(if *is_error { ",\"is_error\":true" } else { ",\"is_error\":false" });
    if !attachments.is_empty() {
        line.push_str(",\"attachments\":");
        write_json(line, attachments)?;
    }
    line.push('}');
    Ok(())
}
