//! Servers of files as servers of a runtime: variables of the environment are replaced.

use std::path::Path;
use std::time::Duration;

use llm_do_worker_file::{McpOAuth, McpServer as Definition, McpTransport};

use super::server::ServerFile;
use crate::app::mcp::McpServer;
#[cfg(feature = "cli")]
use crate::app::mcp::OAuth;
use crate::declare::worker_file::LoadedFile;
use crate::plane::registry::Origin;

impl ServerFile {
    /// Returns the server with the variables of this process; a missing one is a fault of its settings.
    pub(in crate::app::project) fn server(&self) -> McpServer {
        let mut faults = Vec::new();
        let mut expanded = |text: &str| {
            expand(text, |name| std::env::var(name).ok()).unwrap_or_else(|fault| {
                faults.push(fault);
                String::new()
            })
        };
        let Definition { name, transport, timeout, sampling } = &self.server;
        let name = name.value.as_str();
        let mut server = match transport {
            McpTransport::Command { program, arguments, variables } => {
                let program = located(&expanded(program), &self.root);
                let arguments: Vec<_> = arguments.iter().map(|argument| expanded(argument)).collect();
                let server = McpServer::command(name, program, arguments).working_folder(&self.root);
                variables.iter().fold(server, |server, (name, value)| server.env(name, expanded(value)))
            }
            McpTransport::Http { url, headers, oauth } => {
                let server = McpServer::http(name, expanded(url));
                let has_token = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
                let server = headers.iter().fold(server, |server, (name, value)| server.header(name, expanded(value)));
                if has_token { server } else { self.with_kept_tokens(server, oauth) }
            }
            McpTransport::Unsupported => McpServer::command(name, "", [""; 0]),
        };
        if let Some(milliseconds) = timeout {
            server = server.timeout(Duration::from_millis(*milliseconds));
        }
        if let Some(model) = sampling {
            server = server.sampling(model);
        }
        server.with_faults(faults)
    }

    #[cfg(feature = "cli")]
    fn with_kept_tokens(&self, server: McpServer, oauth: &McpOAuth) -> McpServer {
        match &self.tokens {
            Some(tokens) => server.oauth(configured(OAuth::kept(tokens.clone()), oauth)),
            None => server,
        }
    }

    /// The command line alone keeps tokens of projects.
    #[cfg(not(feature = "cli"))]
    #[expect(clippy::unused_self, reason = "as with the feature `cli`")]
    fn with_kept_tokens(&self, server: McpServer, _: &McpOAuth) -> McpServer {
        server
    }

    pub(in crate::app::project) fn origin(&self) -> Origin {
        Origin::File(LoadedFile::new(self.place.clone().into(), Vec::new()))
    }
}

/// How the user of the command line logs in at a server.
#[cfg(feature = "cli")]
#[derive(Debug)]
pub(crate) struct LogIn<'a> {
    file: &'a ServerFile,
    /// The URL of the server.
    pub(crate) url: String,
    oauth: &'a McpOAuth,
}

#[cfg(feature = "cli")]
impl ServerFile {
    /// Returns how the user logs in; `None` for a program.
    pub(crate) fn log_in(&self) -> Option<Result<LogIn<'_>, String>> {
        let McpTransport::Http { url, oauth, .. } = &self.server.transport else { return None };
        let url = expand(url, |name| std::env::var(name).ok());
        Some(url.map(|url| LogIn { file: self, url, oauth }))
    }
}

#[cfg(feature = "cli")]
impl LogIn<'_> {
    /// Returns the port of the redirect; 0 for any.
    pub(crate) fn port(&self) -> u16 {
        self.oauth.callback_port.unwrap_or_default()
    }

    /// Returns the server with a login.
    pub(crate) fn server(&self, oauth: OAuth) -> McpServer {
        self.file.server().oauth(configured(oauth, self.oauth))
    }
}

#[cfg(feature = "cli")]
fn configured(login: OAuth, given: &McpOAuth) -> OAuth {
    let login = login.scopes(&given.scopes);
    match &given.client_id {
        Some(id) => login.client(id, None),
        None => login,
    }
}

/// Returns a program in the folder of the project, if it is given by a path.
fn located(program: &str, root: &Path) -> std::ffi::OsString {
    let path = Path::new(program);
    if path.components().count() > 1 && path.is_relative() {
        let absolute = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        return absolute.join(path).into_os_string();
    }
    program.into()
}

/// Replaces `${NAME}` and `${NAME:-default}` by variables; other text stays as it is.
fn expand(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, String> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        expanded.push_str(before);
        let Some((inside, behind)) = after.split_once('}') else {
            expanded.push_str("${");
            rest = after;
            continue;
        };
        let (name, default) = inside.split_once(":-").map_or((inside, None), |(name, text)| (name, Some(text)));
        let is_name = !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_');
        if !is_name {
            expanded.push_str("${");
            rest = after;
            continue;
        }
        match (variable(name).filter(|value| default.is_none() || !value.is_empty()), default) {
            (Some(value), _) => expanded.push_str(&value),
            (None, Some(default)) => expanded.push_str(default),
            (None, None) => {
                return Err(format!("the variable `{name}` is not set; set it, or write `${{{name}:-DEFAULT}}`"));
            }
        }
        rest = behind;
    }
    expanded.push_str(rest);
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn expanded(text: &str) -> Result<String, String> {
        expand(text, |name| match name {
            "A" => Some("a".to_owned()),
            "EMPTY" => Some(String::new()),
            "NESTED" => Some("${A}".to_owned()),
            _ => None,
        })
    }

    #[test]
    fn variables_are_replaced_once() {
        for (text, value) in [
            ("", ""),
            ("plain $A {A}", "plain $A {A}"),
            ("x${A}y${A}", "xaya"),
            ("${A:-b}", "a"),
            ("${NONE:-b c}", "b c"),
            ("${NONE:-}", ""),
            ("${EMPTY}", ""),
            ("${EMPTY:-b}", "b"),
            ("${NESTED}", "${A}"),
            ("${A", "${A"),
            ("${}", "${}"),
            ("${a b} ${A}", "${a b} a"),
        ] {
            assert_eq!(expanded(text).unwrap(), value, "{text}");
        }
    }

    #[test]
    fn a_missing_variable_without_a_default_is_named() {
        let fault = expanded("x${NONE}").unwrap_err();
        assert_eq!(fault, "the variable `NONE` is not set; set it, or write `${NONE:-DEFAULT}`");
    }
}
