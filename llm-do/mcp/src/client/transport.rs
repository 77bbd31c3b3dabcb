//! How a server is reached.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::oauth::OAuth;

/// How a server is reached.
#[derive(Clone)]
pub(super) enum Transport {
    Command(Launch),
    Http(Endpoint),
    #[cfg(unix)]
    Socket(PathBuf, Endpoint),
}

impl Transport {
    /// Returns whether a user can log in at the server.
    pub(super) fn has_login(&self) -> bool {
        matches!(self, Self::Http(Endpoint { oauth: Some(_), .. }))
    }

    /// Returns what a server is reached by: its command or its URL, without what may be secret.
    pub(super) fn identity(&self) -> Value {
        match self {
            Self::Command(launch) => {
                let arguments: Vec<_> = launch.arguments.iter().map(|argument| argument.to_string_lossy()).collect();
                json!([launch.program.to_string_lossy(), arguments, launch.folder])
            }
            Self::Http(endpoint) => json!(endpoint.url),
            #[cfg(unix)]
            Self::Socket(path, endpoint) => json!([path, endpoint.url]),
        }
    }
}

/// Why a program is not started, if it is not.
pub(super) type Check = dyn Fn() -> Result<(), String> + Send + Sync;

/// A program that is a server.
#[derive(Clone)]
pub(super) struct Launch {
    pub(super) program: OsString,
    pub(super) arguments: Vec<OsString>,
    pub(super) variables: Vec<(OsString, OsString)>,
    pub(super) inherits: Vec<String>,
    pub(super) folder: Option<PathBuf>,
    /// Called before each connection, on a thread for blocking work.
    pub(super) check: Option<Arc<Check>>,
}

/// A server at a URL.
#[derive(Clone)]
pub(super) struct Endpoint {
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) token: Option<String>,
    pub(super) oauth: Option<Box<OAuth>>,
}

impl Endpoint {
    pub(super) fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: Vec::new(), token: None, oauth: None }
    }
}
