//! Why a server cannot be used, in its own words.

use rmcp::model::{ErrorData, ProtocolVersion};
use rmcp::service::ClientInitializeError;
use serde_json::Value;

use super::message::UNUSABLE;
use super::text;

/// Returns why a connection could not be negotiated.
pub(super) fn of_start(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_start(fallback),
        ClientInitializeError::JsonRpcError(error) if error.code.0 == UNUSABLE => text::line(&error.message),
        ClientInitializeError::JsonRpcError(error) => format!("the server refused the handshake: {}", words(error)),
        ClientInitializeError::ExpectedInitResult(Some(result)) => {
            let found = serde_json::to_string(result).unwrap_or_default();
            format!("unexpected answer to the handshake: {}", text::excerpt(&found))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => of_versions(server_supported),
        // The rest of its text names parts of the program.
        ClientInitializeError::TransportError { error, .. } => text::root(error.error.as_ref()),
        error => text::root(error),
    }
}

/// Returns that no version is known to both sides.
pub(super) fn of_versions(server: &[ProtocolVersion]) -> String {
    /// The most versions that are named.
    const MAX: usize = 10;
    let listed = |versions: &[ProtocolVersion]| {
        let names = versions.iter().take(MAX).map(|version| format!("`{}`", text::excerpt(version.as_str())));
        names.collect::<Vec<_>>().join(", ")
    };
    let known = listed(ProtocolVersion::KNOWN_VERSIONS);
    format!("the server speaks the protocol version {}, which is unknown here: expected one of {known}", listed(server))
}

/// Returns the words of an error, with its data.
pub(super) fn words(error: &ErrorData) -> String {
    match &error.data {
        None | Some(Value::Null) => text::line(&error.message),
        Some(Value::String(data)) => text::line(&format!("{}: {data}", error.message)),
        Some(data) => text::line(&format!("{}: {data}", error.message)),
    }
}
