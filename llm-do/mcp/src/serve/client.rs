//! The client of a request, as the request describes it.

use rmcp::RoleServer;
use rmcp::model::{ClientCapabilities, ProtocolVersion};
use rmcp::service::RequestContext;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// A client, as one of its requests describes it.
#[derive(Debug)]
pub(super) struct Client {
    /// Whether it speaks the protocol since 2026-07-28, in which a result contains requests and the client's next
    /// request the answers.
    pub(super) has_rounds: bool,
    pub(super) capabilities: ClientCapabilities,
    pub(super) principal: Principal,
}

/// The identity of a client, as far as the transport knows it.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq, Serialize)]
pub(super) enum Principal {
    /// The only client of a pair of streams, or a client without a token.
    #[default]
    Anonymous,
    /// The program's name for the owner of the token.
    Subject(String),
    /// A digest of the token, or of the header `authorization` if no token is required. The token itself is not stored.
    Token([u8; 32]),
}

impl Principal {
    pub(super) fn of_secret(secret: &[u8]) -> Self {
        Self::Token(Sha256::digest(secret).into())
    }
}

impl Client {
    pub(super) fn from_context(context: &RequestContext<RoleServer>) -> Self {
        let capabilities = context.client_capabilities().unwrap_or_default();
        let has_rounds = context.protocol_version().is_some_and(|version| !ProtocolVersion::has_initialize(&version));
        let parts = context.extensions.get::<http::request::Parts>();
        let principal = parts.and_then(|parts| parts.extensions.get::<Principal>());
        Self { has_rounds, capabilities, principal: principal.cloned().unwrap_or_default() }
    }

    /// Returns whether the client can poll tasks.
    pub(super) fn has_tasks(&self) -> bool {
        self.has_rounds && self.capabilities.supports_tasks()
    }
}
