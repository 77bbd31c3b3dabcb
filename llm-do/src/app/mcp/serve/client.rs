//! The client of a request, as the request describes it.

use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProtocolVersion};
use rmcp::service::RequestContext;

/// A client, as one of its requests describes it.
#[derive(Debug)]
pub(super) struct Client {
    /// Whether it speaks the protocol since 2026-07-28, in which a result asks, and another request has the answers.
    pub(super) has_rounds: bool,
    pub(super) capabilities: ClientCapabilities,
    /// Who it is, as far as the transport knows: the authorization of an HTTP request.
    pub(super) principal: String,
}

impl Client {
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let has_rounds = context.protocol_version().is_some_and(|version| !ProtocolVersion::has_initialize(&version));
        let parts = context.extensions.get::<http::request::Parts>();
        let authorization = parts.and_then(|parts| parts.headers.get(http::header::AUTHORIZATION));
        let principal = authorization.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        Self { has_rounds, capabilities, principal: principal.unwrap_or_default() }
    }

    /// Returns whether it can poll tasks.
    pub(super) fn has_tasks(&self) -> bool {
        self.has_rounds && self.capabilities.supports_tasks()
    }
}
