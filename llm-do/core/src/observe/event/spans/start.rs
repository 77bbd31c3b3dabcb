//! Starts the spans of calls and requests; fields that are known only later are empty at first.

use tracing::{Level, Span, field};

use crate::observe::event::Event;

/// Starts the span of a call inside `$parent`, or inside the span that is current where the run was started.
macro_rules! call {
    ($event:ident, $parent:ident, $operation:literal, $($fields:tt)+) => {
        match $parent {
            Some(parent) => call!(@span (parent: parent,) $event, $operation, $($fields)+),
            None => call!(@span () $event, $operation, $($fields)+),
        }
    };
    (@span ($($parent:tt)*) $event:ident, $operation:literal, $($fields:tt)+) => {
        tracing::span!(
            target: "llm_do",
            $($parent)*
            Level::INFO,
            $operation,
            "otel.name" = format!("{} {}", $operation, $event.name),
            "otel.kind" = "internal",
            "otel.status_code" = field::Empty,
            "otel.status_description" = field::Empty,
            "error.type" = field::Empty,
            "gen_ai.operation.name" = $operation,
            "gen_ai.tool.call.id" = field::Empty,
            "llm_do.run" = &*$event.run,
            "llm_do.call" = $event.call,
            $($fields)+
        )
    };
}

pub(super) fn tool(event: &Event, parent: Option<&Span>) -> Span {
    call!(
        event,
        parent,
        "execute_tool",
        "gen_ai.tool.name" = &*event.name,
        "gen_ai.tool.type" = "function",
        "gen_ai.tool.call.arguments" = field::Empty,
        "gen_ai.tool.call.result" = field::Empty,
    )
}

/// Starts the span of a server-side tool inside that of the request.
pub(super) fn provider_tool(event: &Event, name: &str, parent: &Span) -> Span {
    tracing::span!(
        target: "llm_do",
        parent: parent,
        Level::INFO,
        "execute_tool",
        "otel.name" = format!("execute_tool {name}"),
        "otel.kind" = "internal",
        "otel.status_code" = field::Empty,
        "otel.status_description" = field::Empty,
        "error.type" = field::Empty,
        "gen_ai.operation.name" = "execute_tool",
        "llm_do.run" = &*event.run,
        "llm_do.call" = event.call,
        "gen_ai.tool.name" = name,
        // Not `function`, which is for tools of the application, and not `datastore`.
        "gen_ai.tool.type" = "extension",
        "gen_ai.tool.call.arguments" = field::Empty,
    )
}

pub(super) fn agent(event: &Event, parent: Option<&Span>) -> Span {
    call!(
        event,
        parent,
        "invoke_agent",
        "gen_ai.agent.name" = &*event.name,
        "gen_ai.provider.name" = field::Empty,
        "gen_ai.request.model" = field::Empty,
        "gen_ai.usage.input_tokens" = field::Empty,
        "gen_ai.usage.output_tokens" = field::Empty,
        "gen_ai.usage.cache_read.input_tokens" = field::Empty,
        "gen_ai.usage.reasoning.output_tokens" = field::Empty,
        "gen_ai.input.messages" = field::Empty,
        "gen_ai.output.messages" = field::Empty,
    )
}

pub(super) fn workflow(event: &Event, parent: Option<&Span>) -> Span {
    call!(
        event,
        parent,
        "invoke_workflow",
        "gen_ai.workflow.name" = &*event.name,
        "gen_ai.input.messages" = field::Empty,
        "gen_ai.output.messages" = field::Empty,
    )
}

pub(super) fn chat(provider: &str, model: &str, parent: &Span) -> Span {
    tracing::span!(
        target: "llm_do",
        parent: parent,
        Level::INFO,
        "chat",
        "otel.name" = format!("chat {model}"),
        "otel.kind" = if provider == "local" { "internal" } else { "client" },
        "otel.status_code" = field::Empty,
        "error.type" = field::Empty,
        "gen_ai.operation.name" = "chat",
        "gen_ai.provider.name" = provider_name(provider),
        "gen_ai.request.model" = model,
        "gen_ai.response.model" = field::Empty,
        "gen_ai.usage.input_tokens" = field::Empty,
        "gen_ai.usage.output_tokens" = field::Empty,
        "gen_ai.usage.cache_read.input_tokens" = field::Empty,
        "gen_ai.usage.reasoning.output_tokens" = field::Empty,
        "gen_ai.system_instructions" = field::Empty,
        "gen_ai.tool.definitions" = field::Empty,
        "gen_ai.input.messages" = field::Empty,
        "gen_ai.output.messages" = field::Empty,
    )
}

/// Returns the provider's name in OpenTelemetry's conventions; a provider that they do not list keeps its name.
pub(super) fn provider_name(provider: &str) -> &str {
    match provider {
        "bedrock" => "aws.bedrock",
        "azure" => "azure.ai.openai",
        "google" | "gemini" => "gcp.gemini",
        "vertex" => "gcp.vertex_ai",
        "mistral" => "mistral_ai",
        "xai" => "x_ai",
        other => other,
    }
}
