//! What can go wrong between the runtime and a server.

use std::time::Duration;

/// An error of the connection to an MCP server, or of a call of one of its tools.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpError {
    /// Invalid settings of the server.
    #[error("invalid settings of the MCP server `{server}`: {faults}")]
    Settings {
        /// The name of the server.
        server: String,
        /// All faults.
        faults: String,
    },

    /// The program of the server could not be started.
    #[error("the MCP server `{server}` could not be started: {reason}")]
    Start {
        /// The name of the server.
        server: String,
        /// The error of the system.
        reason: String,
    },

    /// The server could not be reached, or the connection could not be negotiated.
    #[error("no connection to the MCP server `{server}`: {reason}")]
    Connect {
        /// The name of the server.
        server: String,
        /// What failed.
        reason: String,
    },

    /// The server demands authorization.
    #[error("the MCP server `{server}` needs authorization: set a token with `bearer_token`, a header, or `oauth`")]
    Unauthorized {
        /// The name of the server.
        server: String,
        /// The server's header `www-authenticate`; empty if there was none.
        challenge: String,
    },

    /// The user could not be logged in at the authorization server.
    #[error("no authorization for the MCP server `{server}`: {reason}")]
    Authorization {
        /// The name of the server.
        server: String,
        /// What failed.
        reason: String,
    },

    /// The server did not answer in time while the connection was made.
    #[error("no connection to the MCP server `{server}` within {after:?}; raise its `connect_timeout`")]
    ConnectTimeout {
        /// The name of the server.
        server: String,
        /// The timeout.
        after: Duration,
    },

    /// The connection was lost during a call.
    #[error(
        "the connection to the MCP server `{server}` was lost during the call ({reason}), so the call may have had an \
         effect or not; the server is started again for the next call"
    )]
    Lost {
        /// The name of the server.
        server: String,
        /// Why.
        reason: String,
    },

    /// The server did not answer a call in time; the call was cancelled.
    #[error(
        "the MCP server `{server}` did not answer within {after:?}; the call was cancelled, and may have had an effect"
    )]
    Timeout {
        /// The name of the server.
        server: String,
        /// The timeout.
        after: Duration,
    },

    /// The server no longer has the tool; nothing was sent.
    #[error("the MCP server `{server}` no longer has the tool `{tool}`")]
    Removed {
        /// The name of the server.
        server: String,
        /// The server's name of the tool.
        tool: String,
    },

    /// The server has changed the tool since the runtime was built; nothing was sent.
    #[error(
        "the MCP server `{server}` has changed the tool `{tool}` since the runtime was built, so it is not called; build \
         the runtime again"
    )]
    Changed {
        /// The name of the server.
        server: String,
        /// The server's name of the tool.
        tool: String,
    },

    /// The server answered a call with an error of the protocol.
    #[error("the MCP server `{server}` refused the call: {message}")]
    Refused {
        /// The name of the server.
        server: String,
        /// The server's message.
        message: String,
    },

    /// The server sent what the protocol or the limits do not allow.
    #[error("unusable answer of the MCP server `{server}`: {reason}")]
    Answer {
        /// The name of the server.
        server: String,
        /// What is wrong.
        reason: String,
    },
}

impl McpError {
    /// Returns whether the server may have received the call or not.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}
