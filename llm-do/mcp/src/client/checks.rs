//! Checks of the settings of a server, and their `Debug` form.

use std::fmt;

use super::error::McpError;
use super::http;
use super::server::McpServer;
use super::transport::Transport;

impl McpServer {
    /// Returns whether a tool is used, by the server's name.
    pub(super) fn uses(&self, tool: &str) -> bool {
        let is_listed = self.only.as_ref().is_none_or(|only| only.iter().any(|name| name == tool));
        is_listed && !self.except.iter().any(|name| name == tool)
    }

    /// Returns an error with all faults of the settings.
    pub(super) fn check(&self) -> Result<(), McpError> {
        let mut faults = self.faults.clone();
        if self.name.is_empty() {
            faults.push("the name is empty".to_owned());
        }
        match &self.transport {
            Transport::Command(launch) if launch.program.is_empty() => faults.push("the program is empty".to_owned()),
            Transport::Command(_) => {}
            Transport::Http(endpoint) => faults.extend(http::url_fault(&endpoint.url)),
            #[cfg(unix)]
            Transport::Socket(socket, endpoint) => {
                faults.extend(http::url_fault(&endpoint.url));
                faults.extend(http::socket_fault(socket));
            }
        }
        let times = [("connect_timeout", self.connect_timeout), ("timeout", self.timeout)];
        let zero = times.into_iter().filter(|(_, time)| time.is_zero());
        faults.extend(zero.map(|(setting, _)| format!("`{setting}` must be longer than 0")));
        if faults.is_empty() {
            return Ok(());
        }
        Err(McpError::Settings { server: self.name.clone(), faults: faults.join("; ") })
    }
}

impl fmt::Debug for McpServer {
    /// The environment, headers and the token are left out, since they may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("McpServer");
        shown.field("name", &self.name);
        match &self.transport {
            Transport::Command(launch) => shown.field("program", &launch.program),
            Transport::Http(endpoint) => shown.field("url", &http::without_secrets(&endpoint.url)),
            #[cfg(unix)]
            Transport::Socket(socket, _) => shown.field("socket", socket),
        };
        shown.finish_non_exhaustive()
    }
}
