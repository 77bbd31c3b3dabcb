//! What a request says about its client.

use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProtocolVersion};
use rmcp::service::RequestContext;

/// How a client can be asked something during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// By a result that asks, and another request with the answers: since 2026-07-28.
    Rounds,
    /// By a request to the client during the call: before 2026-07-28.
    Requests,
    /// Not at all: it has no forms.
    Nothing,
}

/// A client, as one of its requests describes it.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) reach: Reach,
    /// Whether it can poll tasks.
    pub(super) has_tasks: bool,
    /// Who it is, as far as the transport knows: the authorization of an HTTP request.
    pub(super) principal: String,
}

impl Client {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let is_modern = context.protocol_version().is_some_and(|version| !ProtocolVersion::has_initialize(&version));
        let reach = match (has_forms(&capabilities), is_modern) {
            (false, _) => Reach::Nothing,
            (true, true) => Reach::Rounds,
            (true, false) => Reach::Requests,
        };
        let parts = context.extensions.get::<http::request::Parts>();
        let authorization = parts.and_then(|parts| parts.headers.get(http::header::AUTHORIZATION));
        let principal = authorization.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let has_tasks = is_modern && capabilities.supports_tasks();
        Self { reach, has_tasks, principal: principal.unwrap_or_default() }
    }
}

/// Returns whether a client shows forms; one that names no mode has forms, as before there were others.
fn has_forms(capabilities: &ClientCapabilities) -> bool {
    capabilities.elicitation.as_ref().is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
}
