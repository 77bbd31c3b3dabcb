//! `mcp login` and `mcp logout`: tokens of the servers of a project.

use std::io::{self, Write};

use llm_do_core::base::printable::printable_line;
use llm_do_mcp::{OAuth, TokenStore};
use llm_do_project::{LogIn, Project, ServerFile};
use llm_do_worker_file::did_you_mean;
use tokio_util::sync::CancellationToken;

use super::browser::Browser;
use crate::args::{LoginOptions, LogoutOptions};
use crate::project::of_project;
use crate::run::block_on;
use crate::trust::{Grant, Trust};
use crate::{CommandError, print, state};

/// The folder of tokens, in the user's folder for state.
const FOLDER: &str = "mcp-tokens";

/// Returns the store of tokens; `None` if the home folder is unknown.
pub(crate) fn tokens() -> Option<TokenStore> {
    let folder = state::path(FOLDER)?;
    #[cfg(feature = "keyring")]
    return Some(TokenStore::Keyring(folder));
    #[cfg(not(feature = "keyring"))]
    Some(TokenStore::Folder(folder))
}

/// Lets the user log in.
pub(super) fn log_in(token: &CancellationToken, options: &LoginOptions) -> Result<(), CommandError> {
    let name = printable_line(&options.server.server);
    let kept = tokens().ok_or_else(no_home)?;
    let tokens =
        if options.file { state::path(FOLDER).map(TokenStore::Folder).ok_or_else(no_home)? } else { kept.clone() };
    at_server(&options.server, |project, login| {
        agreed(project, options)?;
        block_on(token, async {
            kept.forget(&login.url).await.map_err(CommandError::from_error)?;
            let browser = Browser::listen(login.port(), !options.no_browser).await?;
            let (redirect_uri, is_used) = (browser.redirect_uri(), browser.is_used());
            let server = login.server(OAuth::new(redirect_uri, browser).tokens_in(tokens.clone()));
            tokio::select! {
                connected = server.connect() => connected.map(drop).map_err(CommandError::from_error)?,
                () = token.cancelled() => return Err(CommandError::Error("cancelled".to_owned())),
            }
            if !is_used.get() {
                return print(&format!("the MCP server `{name}` needs no login"));
            }
            note_file(&tokens, &login.url, options.file);
            print(&format!("logged in at the MCP server `{name}`"))
        })?
    })
}

/// Fails unless the user agreed to the files of the project, since a login sends data to the address in them.
fn agreed(project: &Project, options: &LoginOptions) -> Result<(), CommandError> {
    let trust = if options.trust_project { Trust::Given } else { Trust::Ask };
    match trust.decide(&[of_project(&options.server.project, project, None)])? {
        Grant::Everything => Ok(()),
        _ => {
            Err(CommandError::Usage("nothing is sent, since you did not agree to the files of the project".to_owned()))
        }
    }
}

/// Deletes the tokens of a server; the server and its authorization server are not notified.
pub(super) fn log_out(token: &CancellationToken, options: &LogoutOptions) -> Result<(), CommandError> {
    let name = printable_line(&options.server);
    let tokens = tokens().ok_or_else(no_home)?;
    at_server(options, |_, login| {
        let was_kept = block_on(token, tokens.forget(&login.url))?.map_err(CommandError::from_error)?;
        let ending = if was_kept { "are removed" } else { "were not kept" };
        print(&format!("the tokens of the MCP server `{name}` {ending}"))
    })
}

/// Reports where the tokens are stored, if it is an unusual place.
fn note_file(tokens: &TokenStore, url: &str, is_wanted: bool) {
    let Some(file) = tokens.file(url) else { return };
    let why =
        if cfg!(feature = "keyring") && !is_wanted { "the keyring of the system cannot be used, so " } else { "" };
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "note: {why}the tokens are in {}, which only you can read", file.display());
}

/// Calls `run` with the project's server that the options name.
fn at_server(
    options: &LogoutOptions,
    run: impl FnOnce(&Project, LogIn<'_>) -> Result<(), CommandError>,
) -> Result<(), CommandError> {
    let project = Project::open(&options.project).map_err(CommandError::from_error)?;
    let servers = project.server_files();
    let Some(server) = servers.iter().find(|server| server.name() == options.server) else {
        let names: Vec<_> = servers.iter().map(ServerFile::name).collect();
        let hint = did_you_mean(&options.server, names.iter().copied());
        let known = if names.is_empty() { "the project has no servers".to_owned() } else { names.join(", ") };
        let message = format!("unknown MCP server `{}`{hint}: {known}", options.server);
        return Err(CommandError::Usage(printable_line(&message)));
    };
    match server.log_in() {
        Some(login) => run(&project, login.map_err(CommandError::Error)?),
        None => {
            Err(CommandError::Usage(format!("`{}` is a program: only servers at a URL have a login", server.name())))
        }
    }
}

fn no_home() -> CommandError {
    CommandError::Error("the home folder is unknown, so tokens cannot be kept".to_owned())
}
