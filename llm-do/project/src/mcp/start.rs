//! Converts servers of files to servers of a runtime, with replaced environment variables.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use llm_do_core::declare::worker_file::LoadedFile;
use llm_do_core::plane::registry::Origin;
use llm_do_mcp::McpServer;
use llm_do_mcp::OAuth;
use llm_do_worker_file::{McpOAuth, McpServer as Definition, McpTransport};

use super::program::{self, Programs};
use super::server::ServerFile;
use super::variable::expanded;
use crate::folder::Folder;

impl ServerFile {
    /// Returns the server with the variables of this process; a missing one is a fault of its settings.
    pub(crate) fn server(&self) -> McpServer {
        let mut faults = Vec::new();
        let mut text_of = |text: &str| {
            expanded(text).unwrap_or_else(|fault| {
                faults.push(fault);
                String::new()
            })
        };
        let Definition { name, transport, timeout, sampling, optional } = &self.server;
        let name = name.value.as_str();
        let mut server = match transport {
            McpTransport::Command { program, arguments, variables } => {
                let program = located(&text_of(program), &self.root);
                let arguments: Vec<_> = arguments.iter().map(|argument| text_of(argument)).collect();
                let server = McpServer::command(name, program, arguments).working_folder(&self.root);
                let server = server.check_before_start(self.unchanged());
                variables.iter().fold(server, |server, (name, value)| server.env(name, text_of(value)))
            }
            McpTransport::Http { url, headers, oauth } => {
                let server = McpServer::http(name, text_of(url));
                let has_token = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
                let server = headers.iter().fold(server, |server, (name, value)| server.header(name, text_of(value)));
                if has_token { server } else { self.with_kept_tokens(server, oauth) }
            }
            McpTransport::Unsupported { .. } | McpTransport::Disabled => McpServer::command(name, "", [""; 0]),
        };
        if let Some(milliseconds) = timeout {
            let timeout = Duration::from_millis(*milliseconds);
            // A start may take as long as a call.
            let start = timeout.max(server.connect_time());
            server = server.timeout(timeout).connect_timeout(start);
        }
        if let Some(model) = sampling {
            server = server.sampling(model);
        }
        if *optional { server.optional().with_faults(faults) } else { server.with_faults(faults) }
    }

    fn with_kept_tokens(&self, server: McpServer, oauth: &McpOAuth) -> McpServer {
        match &self.tokens {
            Some(tokens) => server.oauth(configured(OAuth::kept(tokens.clone()), oauth)),
            None => server,
        }
    }

    /// Returns the check that the command runs the same programs as when the project was read. It searches them again,
    /// since a new file or another link may have replaced them.
    ///
    /// An agreement to programs that could not be compared covers one start.
    fn unchanged(&self) -> impl Fn() -> Result<(), String> + use<> {
        let Self { server, root, programs, .. } = self.clone();
        let was_started = AtomicBool::new(false);
        move || {
            let folder = Folder::open(&root).map_err(|error| format!("{}: {error}", root.display()))?;
            let now: Programs = program::of_server(&server, &folder);
            if let Some(name) = programs.difference(&now) {
                return Err(format!("{name} changed since the project was read"));
            }
            if !programs.is_compared() && was_started.swap(true, Ordering::Relaxed) {
                return Err("it was started once, and files that it may run could not be compared".to_owned());
            }
            Ok(())
        }
    }

    pub(crate) fn origin(&self) -> Origin {
        let file = LoadedFile::new(self.place.clone().into(), Vec::new());
        Origin::File(if self.is_external { file.foreign(Vec::new()) } else { file })
    }
}

/// The login of a server for the user of the command line.
#[derive(Debug)]
#[doc(hidden)]
pub struct LogIn<'a> {
    file: &'a ServerFile,
    /// The URL of the server.
    pub url: String,
    oauth: &'a McpOAuth,
}

impl ServerFile {
    /// Returns the login; `None` for a program.
    #[must_use]
    pub fn log_in(&self) -> Option<Result<LogIn<'_>, String>> {
        let McpTransport::Http { url, oauth, .. } = &self.server.transport else { return None };
        Some(expanded(url).map(|url| LogIn { file: self, url, oauth }))
    }
}

impl LogIn<'_> {
    /// Returns the port of the redirect; 0 for any.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.oauth.callback_port.unwrap_or_default()
    }

    /// Returns the server with a login.
    pub fn server(&self, oauth: OAuth) -> McpServer {
        self.file.server().oauth(configured(oauth, self.oauth))
    }
}

fn configured(login: OAuth, given: &McpOAuth) -> OAuth {
    let login = login.scopes(&given.scopes);
    match &given.client_id {
        Some(id) => login.client(id, None),
        None => login,
    }
}

/// Returns the path of a program in the folder of the project, if it is given by a path.
fn located(program: &str, root: &Path) -> std::ffi::OsString {
    let path = Path::new(program);
    if path.components().count() > 1 && path.is_relative() {
        let absolute = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        return absolute.join(path).into_os_string();
    }
    program.into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;

    use crate::Project;

    #[test]
    fn an_agreement_to_what_could_not_be_compared_holds_for_one_start() {
        let folder = tempfile::tempdir().unwrap();
        let servers = r#"{ "mcpServers": { "s": { "command": "env", "args": ["true"] } } }"#;
        fs::write(folder.path().join(".mcp.json"), servers).unwrap();
        fs::write(folder.path().join("main.worker"), "---\nname: main\n---\nGo.\n").unwrap();
        let starts = || {
            let project = Project::open(folder.path()).unwrap();
            let check = project.servers[0].unchanged();
            [check().is_ok(), check().is_ok()]
        };
        assert_eq!(starts(), [true, true]);
        std::os::unix::fs::symlink("/usr", folder.path().join("usr")).unwrap();
        assert_eq!(starts(), [true, false]);
    }
}
