//! A server that a file defines.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(feature = "mcp")]
use llm_do_mcp::TokenStore;
use llm_do_worker_file::{McpOAuth, McpServer, McpTransport};

use super::program::{self, Programs};
use super::variable;
use crate::report::{Report, shown};

/// The maximum number of servers of a project.
const MAX_SERVERS: usize = 100;
/// The maximum number of names in one list.
const MAX_NAMES: usize = 100;

/// A server as a file describes it, before variables are replaced.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub struct ServerFile {
    pub(super) server: McpServer,
    /// The file and line.
    pub(super) place: String,
    /// Whether it belongs to a file of another program, as all servers of `.mcp.json` do.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "no server is started"))]
    pub(super) is_external: bool,
    /// The folder of the project.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "no server is started"))]
    pub(super) root: PathBuf,
    /// The programs of the project that it runs.
    pub(super) programs: Programs,
    /// The store of its tokens.
    #[cfg(feature = "mcp")]
    pub(super) tokens: Option<TokenStore>,
}

impl ServerFile {
    pub(super) fn read(server: McpServer, file: &Path, root: &Path, report: &mut Report) -> Self {
        let place = format!("{}:{}", shown(file).display(), server.name.place.line);
        let programs = programs(&server, report).unwrap_or_else(|fault| {
            report.fault(file, server.name.place, format!("the MCP server `{}`: {fault}", server.name.value));
            Programs::default()
        });
        Self {
            server,
            place,
            is_external: report.is_external(),
            root: root.to_owned(),
            programs,
            #[cfg(feature = "mcp")]
            tokens: None,
        }
    }

    /// Sets the store of its tokens.
    #[cfg(feature = "mcp")]
    pub(crate) fn tokens_in(mut self, tokens: Option<&TokenStore>) -> Self {
        self.tokens = tokens.cloned();
        self
    }

    /// Returns the name of the server.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.server.name.value
    }

    /// Returns the name of the toolset of its tools.
    pub(crate) fn toolset(&self) -> String {
        Self::toolset_of(self.name())
    }

    /// Returns the name of its toolset in the files of other programs, with `_` for each character that they do not
    /// allow.
    pub(crate) fn foreign_toolset(&self) -> String {
        llm_do_core::plane::registry::foreign_tool_name(&[self.name()])
    }

    /// Returns the name of the toolset of a server.
    pub(crate) fn toolset_of(name: &str) -> String {
        #[cfg(feature = "mcp")]
        return llm_do_worker_file::mcp_toolset_name(name);
        #[cfg(not(feature = "mcp"))]
        format!("mcp__{name}")
    }

    /// Returns whether it can be started.
    pub(crate) fn is_usable(&self) -> bool {
        let is_off = matches!(self.server.transport, McpTransport::Unsupported { .. } | McpTransport::Disabled);
        cfg!(feature = "mcp") && !is_off
    }

    /// Returns whether its file disables it.
    pub(super) fn is_disabled(&self) -> bool {
        self.server.transport == McpTransport::Disabled
    }

    /// Returns whether another server has the same definition.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let named = McpServer { name: self.server.name.clone(), ..other.server.clone() };
        self.server == named
    }

    /// Returns the file and line.
    pub(crate) fn place(&self) -> &str {
        &self.place
    }

    /// Describes the effects of starting it, with unreplaced variables.
    pub(crate) fn start(&self) -> String {
        let set = |pairs: &[(String, String)], separator: &str| {
            pairs.iter().map(|(name, value)| format!("{name}{separator}{value}")).collect::<Vec<_>>()
        };
        let name = self.name();
        let starts = match &self.server.transport {
            McpTransport::Command { program, arguments, variables } => {
                let words = set(variables, "=").into_iter().chain([program.clone()]).chain(arguments.iter().cloned());
                let words: Vec<_> = words.map(|word| quoted(&word)).collect();
                format!("`{name}` runs the program: {}", words.join(" "))
            }
            McpTransport::Http { url, headers, .. } if headers.is_empty() => format!("`{name}` connects to {url}"),
            McpTransport::Http { url, headers, .. } => {
                format!("`{name}` connects to {url} with the headers: {}", set(headers, ": ").join(", "))
            }
            McpTransport::Unsupported { .. } => format!("`{name}` is not supported"),
            McpTransport::Disabled => format!("`{name}` is disabled"),
        };
        match &self.server.sampling {
            Some(model) => format!("{starts}; it may ask the model `{model}`"),
            None => starts,
        }
    }

    /// Returns the text that the user agrees to: the effects of starting it, and the data that it receives.
    pub(crate) fn demand(&self) -> String {
        format!("{}{}{}{}", self.start(), self.login(), self.variables(), self.programs.demand())
    }

    /// Returns whether an agreement lasts until a file changes; otherwise, some of its programs could not be compared.
    pub(crate) fn is_compared(&self) -> bool {
        self.programs.is_compared()
    }

    /// Names the environment variables that it receives.
    fn variables(&self) -> String {
        let names: BTreeSet<_> = texts(&self.server.transport).into_iter().flat_map(variable::names).collect();
        listed("; it gets the values of your variables", names)
    }

    /// Describes the login in its file.
    fn login(&self) -> String {
        let McpTransport::Http { oauth, .. } = &self.server.transport else { return String::new() };
        let McpOAuth { client_id, callback_port, scopes } = oauth;
        let client = client_id.as_ref().map(|id| format!("; a login has the client id {}", quoted(id)));
        let port = callback_port.map(|port| format!("; a login uses the port {port} of this machine"));
        let scopes = listed("; a login asks for the scopes", scopes.iter().map(String::as_str));
        client.unwrap_or_default() + &scopes + &port.unwrap_or_default()
    }
}

impl fmt::Display for ServerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.start())
    }
}

/// Returns the texts of a definition in which variables are replaced; the first is the program or the URL.
pub(super) fn texts(transport: &McpTransport) -> Vec<&str> {
    fn values(pairs: &[(String, String)]) -> impl Iterator<Item = &str> {
        pairs.iter().map(|(_, value)| value.as_str())
    }
    match transport {
        McpTransport::Command { program, arguments, variables } => {
            let words = [program].into_iter().chain(arguments).map(String::as_str);
            words.chain(values(variables)).collect()
        }
        McpTransport::Http { url, headers, .. } => [url.as_str()].into_iter().chain(values(headers)).collect(),
        McpTransport::Unsupported { .. } | McpTransport::Disabled => Vec::new(),
    }
}

/// Finds the programs that a server runs. The number of servers is limited, since the programs of each are compared.
fn programs(server: &McpServer, report: &mut Report) -> Result<Programs, String> {
    let Some(folder) = report.folder.clone() else { return Ok(Programs::default()) };
    match report.count_server().cmp(&(MAX_SERVERS + 1)) {
        Ordering::Less => Ok(program::of_server(server, &folder)),
        Ordering::Equal => Err(format!("the project has too many servers: the limit is {MAX_SERVERS}")),
        // The fault was already reported.
        Ordering::Greater => Ok(Programs::default()),
    }
}

/// Returns names after their description; empty without names.
pub(super) fn listed<'a>(what: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names = names.into_iter();
    let shown: Vec<_> = names.by_ref().take(MAX_NAMES).map(|name| format!("`{name}`")).collect();
    match (shown.is_empty(), names.count()) {
        (true, _) => String::new(),
        (false, 0) => format!("{what} {}", shown.join(", ")),
        (false, more) => format!("{what} {} and {more} more", shown.join(", ")),
    }
}

/// Returns a word with quotes, unless it is plain.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./:=@%+,${}".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("{word:?}") }
}
