//! The errors between the runtime and a server.

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
    #[error("cannot start the MCP server `{server}`: {reason}; check its program and its working folder")]
    Start {
        /// The name of the server.
        server: String,
        /// The error of the system.
        reason: String,
    },

    /// The server could not be reached, or the connection could not be negotiated.
    #[error("cannot connect to the MCP server `{server}`: {reason}")]
    Connect {
        /// The name of the server.
        server: String,
        /// What failed.
        reason: String,
    },

    /// The server demands authorization.
    #[error(
        "the MCP server `{server}` requires authorization: run `mcp login`, set `headers` in \
         `.mcp.json`, or `bearer_token`, `header` or `oauth` in code"
    )]
    Unauthorized {
        /// The name of the server.
        server: String,
        /// The server's header `www-authenticate`; empty if there was none.
        challenge: String,
    },

    /// The user could not be logged in at the authorization server.
    #[error("cannot log in to the MCP server `{server}`: {reason}")]
    Authorization {
        /// The name of the server.
        server: String,
        /// What failed.
        reason: String,
    },

    /// The server did not answer in time while the connection was made.
    #[error(
        "cannot connect to the MCP server `{server}` within {after:?}; check the server, or raise its `connect_timeout`"
    )]
    ConnectTimeout {
        /// The name of the server.
        server: String,
        /// The timeout.
        after: Duration,
    },

    /// The connection was lost during a call.
    #[error(
        "the connection to the MCP server `{server}` was lost during the call ({reason}); the call may have had an \
         effect; the next call connects again"
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
    #[error("the MCP server `{server}` no longer has the tool `{tool}`; build the runtime again")]
    Removed {
        /// The name of the server.
        server: String,
        /// The server's name of the tool.
        tool: String,
    },

    /// The server has changed the tool since the runtime was built; nothing was sent.
    #[error(
        "the MCP server `{server}` has changed the tool `{tool}` since the runtime was built, so the tool was not \
         called; build the runtime again"
    )]
    Changed {
        /// The name of the server.
        server: String,
        /// The server's name of the tool.
        tool: String,
    },

    /// The server answered a call with an error of the protocol.
    #[error("the MCP server `{server}` returned an error: {message}")]
    Refused {
        /// The name of the server.
        server: String,
        /// The server's message.
        message: String,
    },

    /// The server sent data that violates the protocol or the limits.
    #[error("invalid response from the MCP server `{server}`: {reason}")]
    Answer {
        /// The name of the server.
        server: String,
        /// What is wrong.
        reason: String,
    },
}

impl McpError {
    /// Returns the reason that the outcome of a sent call is unknown; `None` if it is known.
    pub(super) fn unknown_outcome(&self) -> Option<String> {
        match self {
            Self::Lost { server, reason } => {
                Some(format!("the connection to the MCP server `{server}` was lost during the call ({reason})"))
            }
            Self::Timeout { server, after } => {
                Some(format!("the MCP server `{server}` did not answer within {after:?}, and the call was cancelled"))
            }
            _ => None,
        }
    }

    /// Returns whether the server may have received the call or not.
    pub(super) fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}
