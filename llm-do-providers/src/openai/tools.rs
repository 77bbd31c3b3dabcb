//! The tools of a request.

use std::sync::Arc;

use super::PROVIDER;
use super::dialect::{Dialect, Field, Schemas, Target};
use super::wire::{Function, Named, Tool, ToolChoiceParam, Typed};
use crate::capability::ToolsInChat;
use crate::error::ProviderError;
use crate::model::{Json, JsonWriter, Request, ToolChoice, ToolSpec};
use crate::schema::Unsupported;
use crate::schema::tool::{self, ToolForm};
use crate::server_side::{ServerSideTool, WebSearch};
use crate::settings::Warnings;

/// Checks that the server supports the tools of a request.
pub(super) fn check(target: Target<'_>, request: &Request<'_>) -> Result<(), ProviderError> {
    check_functions(target, request)?;
    check_server_side(target, request.server_side_tools)
}

/// Refuses functions if OpenAI's own server would: another server may use the Responses API for them.
fn check_functions(target: Target<'_>, request: &Request<'_>) -> Result<(), ProviderError> {
    let Target { model, dialect, capabilities, .. } = target;
    let is_openai = target.provider() == PROVIDER && dialect.takes(Field::MaxCompletionTokens);
    if request.tools.is_empty() || !is_openai || capabilities.tools_in_chat != ToolsInChat::Never {
        return Ok(());
    }
    let text = format!("`{model}` does not support tools over chat completions; use `openai-responses:{model}`");
    Err(ProviderError::invalid_request(PROVIDER, text))
}

/// Refuses server-side tools other than the web search of OpenAI's search models.
fn check_server_side(target: Target<'_>, tools: &[ServerSideTool]) -> Result<(), ProviderError> {
    let model = target.model;
    let searches = target.provider() == PROVIDER;
    let refused = |text: String| Err(ProviderError::invalid_request(target.provider(), text));
    for tool in tools {
        match tool {
            ServerSideTool::WebSearch(search) if searches && *search == WebSearch::new() => {}
            ServerSideTool::WebSearch(_) if searches => {
                return refused(format!(
                    "`{model}` searches the web over chat completions, which know neither `max_uses`, \
                     `allowed_domains` nor `blocked_domains` of `web_search`; leave them out"
                ));
            }
            other => return refused(format!("`{model}` does not support `{other}` over chat completions; remove it")),
        }
    }
    Ok(())
}

/// The tools that are offered, and the choice among them.
type Offer<'a> = (Vec<Json<Tool<'a>>>, Option<ToolChoiceParam<Typed<Named<'a>>>>);

/// Returns the tools that are offered, and the choice, which servers refuse without tools.
///
/// If the server does not support the choice, only the tools that the choice allows are offered. If no call may be forced, the
/// model chooses.
///
/// # Errors
///
/// Returns an error if a required tool has a schema that cannot be sent.
pub(super) fn offer<'a>(
    request: &Request<'a>,
    dialect: &Dialect,
    forces: bool,
    writer: &mut JsonWriter<'_>,
    warnings: &mut Warnings,
) -> Result<Offer<'a>, ProviderError> {
    let choice = dialect.choice;
    let rules = if forces { choice } else { None };
    let required = rules.map(|choice| ToolChoiceParam::Word(choice.required));
    let is_named = rules.is_some_and(|choice| choice.names);
    let (only, word) = match request.tool_choice {
        _ if request.tools.is_empty() => (None, None),
        ToolChoice::Auto => (None, None),
        ToolChoice::Required => (None, required),
        ToolChoice::None if choice.is_some() => (None, Some(ToolChoiceParam::Word("none"))),
        ToolChoice::None => return Ok((Vec::new(), None)),
        ToolChoice::Tool(name) if is_named => {
            (None, Some(ToolChoiceParam::Tool(Typed::Function { function: Named { name } })))
        }
        ToolChoice::Tool(name) => (Some(name), required),
    };
    let offered = request.tools.iter().enumerate().filter(|(_, spec)| only.is_none_or(|only| *spec.name == *only));
    let mut all = Vec::with_capacity(request.tools.len());
    for (place, spec) in offered {
        match form(spec, dialect) {
            Ok(form) => all.push(writer.tool(place, 0, spec, || Ok(function(spec, &form)))?),
            Err(unsupported) => unsupported.leave_out(spec, request, dialect.server.provider, warnings)?,
        }
    }
    Ok((all, word))
}

/// Returns the schema of a tool in the form that the server accepts.
pub(super) fn form(spec: &ToolSpec, dialect: &Dialect) -> Result<Arc<ToolForm>, Unsupported> {
    match dialect.schemas {
        Schemas::LlamaCpp { of_tools: true } => tool::llama_cpp(&spec.parameters),
        _ => Ok(tool::openai(&spec.parameters)),
    }
}

fn function<'a>(spec: &'a ToolSpec, form: &ToolForm) -> Tool<'a> {
    let parameters = Arc::clone(&form.schema);
    Typed::Function { function: Function { name: &spec.name, description: &spec.description, parameters } }
}
