//! The effect of a server's tool: from the settings of the user, and the hints of the server.

use llm_do_core::declare::tool::Effect;
use rmcp::model::ToolAnnotations;

use super::server::McpServer;

/// Returns the effect of a tool.
///
/// A setting for the tool always applies. Otherwise, hints can only make the effect stricter, unless the user trusts
/// them.
pub(super) fn of_tool(server: &McpServer, tool: &str, hints: Option<&ToolAnnotations>) -> Effect {
    if let Some(effect) = server.tool_effects.get(tool) {
        return *effect;
    }
    let hinted = hints.map(hinted).unwrap_or_default();
    if server.trusts_hints && server.effect.is_none() {
        return hinted.trusted;
    }
    let general = server.effect.unwrap_or_default();
    match hinted.suspicion {
        Some(suspicion) if suspicion.severity() > general.severity() => suspicion,
        _ => general,
    }
}

/// The meaning of hints.
#[derive(Default)]
struct Hinted {
    /// The effect, if the server is trusted.
    trusted: Effect,
    /// The weakest effect that the hints admit, if they admit one.
    suspicion: Option<Effect>,
}

fn hinted(hints: &ToolAnnotations) -> Hinted {
    let is_read_only = hints.read_only_hint == Some(true);
    let is_destructive = hints.destructive_hint == Some(true) && !is_read_only;
    let trusted = match hints {
        _ if is_read_only => Effect::ReadOnly,
        _ if is_destructive => Effect::Destructive,
        hints if hints.idempotent_hint == Some(true) => Effect::Idempotent,
        _ => Effect::Undeclared,
    };
    let suspicion = if is_destructive {
        Some(Effect::Destructive)
    } else {
        (hints.read_only_hint == Some(false)).then_some(Effect::Undeclared)
    };
    Hinted { trusted, suspicion }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hints(read_only: Option<bool>, destructive: Option<bool>, idempotent: Option<bool>) -> ToolAnnotations {
        ToolAnnotations::from_raw(None, read_only, destructive, idempotent, None)
    }

    #[test]
    fn hints_never_make_an_effect_laxer() {
        let server = McpServer::command("s", "s", [""; 0]);
        assert_eq!(of_tool(&server, "t", None), Effect::Undeclared);
        assert_eq!(of_tool(&server, "t", Some(&hints(Some(true), Some(false), Some(true)))), Effect::Undeclared);
        assert_eq!(of_tool(&server, "t", Some(&hints(None, Some(true), None))), Effect::Destructive);
        let read_only = server.clone().effect(Effect::ReadOnly);
        assert_eq!(of_tool(&read_only, "t", Some(&hints(Some(true), None, None))), Effect::ReadOnly);
        assert_eq!(of_tool(&read_only, "t", Some(&hints(Some(false), None, None))), Effect::Undeclared);
        assert_eq!(of_tool(&read_only, "t", Some(&hints(Some(false), Some(true), None))), Effect::Destructive);
    }

    #[test]
    fn a_setting_for_one_tool_holds() {
        let server = McpServer::command("s", "s", [""; 0]).tool_effect("t", Effect::ReadOnly);
        assert_eq!(of_tool(&server, "t", Some(&hints(Some(false), Some(true), None))), Effect::ReadOnly);
        assert_eq!(of_tool(&server, "u", None), Effect::Undeclared);
    }

    #[test]
    fn hints_of_a_trusted_server_decide() {
        let server = McpServer::command("s", "s", [""; 0]).trust_hints();
        assert_eq!(of_tool(&server, "t", Some(&hints(Some(true), None, None))), Effect::ReadOnly);
        assert_eq!(of_tool(&server, "t", Some(&hints(Some(false), Some(false), Some(true)))), Effect::Idempotent);
        assert_eq!(of_tool(&server, "t", Some(&hints(None, Some(true), Some(true)))), Effect::Destructive);
        assert_eq!(of_tool(&server, "t", None), Effect::Undeclared);
    }
}
