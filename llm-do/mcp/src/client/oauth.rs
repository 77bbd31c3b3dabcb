//! Authorization by OAuth, for servers at a URL.

mod challenge;
#[cfg(feature = "keyring")]
mod keyring;
mod network;
mod reach;
mod redirect;
mod resource;
mod store;

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use llm_do_core::base::error::BoxError;
use llm_do_core::base::mutex::IgnorePoison;
use llm_do_core::plane::registry::Application;
use rmcp::transport::auth::{
    AuthError, AuthorizationRequest, CredentialStore, InMemoryCredentialStore, OAuthState, WWWAuthenticateParams,
};
use rmcp::transport::{AuthClient, AuthorizationManager};

use self::challenge::check_challenge;
pub(super) use self::challenge::is_unauthorized;
#[cfg(feature = "keyring")]
use self::keyring::KeyringStore;
use self::network::{Fault, Network};
use self::redirect::{check_redirect, registration_advice};
pub use self::redirect::{is_login_answer, login_state};
use self::store::{FileStore, KeptCredentials};
use super::error::McpError;
use super::exchange::Exchange;
use super::text;

/// How long it may take to find the authorization server, and to get tokens from it.
const PREPARATION: Duration = Duration::from_secs(60);

/// The HTTP client of an authorized connection.
pub(super) type Authorized = AuthClient<Exchange>;

/// Lets the user log in at the authorization server of an MCP server.
#[async_trait]
pub trait Authorizer: Debug + Send + Sync {
    /// Has the user open `url` in a browser, and returns the URL that the browser is redirected to after the login: the
    /// redirect URI of [`OAuth::new`], with the code.
    ///
    /// It is called on the thread of the connection, in an async runtime of its own.
    ///
    /// # Errors
    ///
    /// An error, such as that the user refuses, fails the connection or the call that needs it.
    async fn authorize(&self, url: &str) -> Result<String, BoxError>;
}

/// How a server at a URL is authorized by OAuth: see [`McpServer::oauth`](crate::McpServer::oauth).
///
/// The server names its authorization server and the scopes that it needs. This program registers there by its
/// [metadata document](Self::client_metadata_url), with a [client id](Self::client) that it has, or by itself. Tokens are
/// refreshed, and bound to the authorization server that issued them.
#[derive(Clone, Debug)]
#[must_use = "give it to `McpServer::oauth`"]
pub struct OAuth {
    /// `None` if only tokens that are kept are used.
    authorizer: Option<Arc<dyn Authorizer>>,
    redirect_uri: String,
    client: Option<Client>,
    metadata_url: Option<String>,
    scopes: Vec<String>,
    tokens: Option<TokenStore>,
}

/// Where tokens are kept.
#[derive(Clone, Debug)]
#[doc(hidden)]
pub enum TokenStore {
    /// In files of a folder.
    Folder(PathBuf),
    /// In the keyring of the system, or else in files of a folder.
    #[cfg(feature = "keyring")]
    Keyring(PathBuf),
}

#[derive(Clone)]
struct Client {
    id: String,
    secret: Option<String>,
}

impl Debug for Client {
    /// Without the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

impl OAuth {
    /// Authorizes by a login of the user, after which the browser is redirected to this URI, such as
    /// `http://localhost:8080/callback`.
    pub fn new(redirect_uri: impl Into<String>, authorizer: impl Authorizer + 'static) -> Self {
        Self {
            authorizer: Some(Arc::new(authorizer)),
            redirect_uri: redirect_uri.into(),
            client: None,
            metadata_url: None,
            scopes: Vec::new(),
            tokens: None,
        }
    }

    /// Uses tokens that are kept, and logs no user in.
    #[doc(hidden)]
    pub fn kept(tokens: TokenStore) -> Self {
        Self {
            authorizer: None,
            redirect_uri: String::new(),
            client: None,
            metadata_url: None,
            scopes: Vec::new(),
            tokens: Some(tokens),
        }
    }

    /// Sets the client id, and the secret if there is one, of a program that is registered with the authorization server.
    /// Default: none.
    pub fn client(mut self, id: impl Into<String>, secret: Option<String>) -> Self {
        self.client = Some(Client { id: id.into(), secret });
        self
    }

    /// Sets the URL of the document that describes this program to authorization servers, which is then its client id where
    /// they support that. Default: none.
    pub fn client_metadata_url(mut self, url: impl Into<String>) -> Self {
        self.metadata_url = Some(url.into());
        self
    }

    /// Sets the scopes to ask for. Default: those that the server names.
    pub fn scopes(mut self, scopes: impl IntoIterator<Item: Into<String>>) -> Self {
        self.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Keeps the tokens in a file of this folder, which only the user can read, for later processes. Default: in memory.
    pub fn token_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.tokens = Some(TokenStore::Folder(folder.into()));
        self
    }

    /// Keeps the tokens in the keyring of the system, for later processes. Default: in memory.
    ///
    /// Where there is no keyring, such as on a server without a desktop, they are in a file of this folder as with
    /// [`token_folder`](Self::token_folder).
    #[cfg(feature = "keyring")]
    pub fn keyring(mut self, fallback: impl Into<PathBuf>) -> Self {
        self.tokens = Some(TokenStore::Keyring(fallback.into()));
        self
    }

    /// Keeps the tokens there.
    #[doc(hidden)]
    pub fn tokens_in(mut self, tokens: TokenStore) -> Self {
        self.tokens = Some(tokens);
        self
    }
}

impl TokenStore {
    /// Returns the store of one server.
    fn for_server(&self, url: &str) -> Box<dyn CredentialStore> {
        match self {
            Self::Folder(folder) => Box::new(FileStore::new(folder, url)),
            #[cfg(feature = "keyring")]
            Self::Keyring(folder) => Box::new(KeyringStore::new(folder, url)),
        }
    }

    /// Removes the tokens of the server at `url`; returns whether there were some.
    ///
    /// # Errors
    ///
    /// Returns an error if they cannot be removed.
    pub async fn forget(&self, url: &str) -> Result<bool, BoxError> {
        let store = self.for_server(url);
        // A store that cannot be read can be cleared.
        let is_kept = store.load().await.is_ok_and(|tokens| tokens.is_some());
        store.clear().await?;
        Ok(is_kept)
    }

    /// Returns the file with the tokens of the server at `url`, if they are in one.
    #[must_use]
    pub fn file(&self, url: &str) -> Option<PathBuf> {
        let folder = match self {
            Self::Folder(folder) => folder,
            #[cfg(feature = "keyring")]
            Self::Keyring(folder) => folder,
        };
        Some(FileStore::new(folder, url).path().to_owned()).filter(|path| path.exists())
    }
}

/// The authorization of one server, for all its connections.
#[derive(Debug)]
pub(super) struct Authorization {
    oauth: OAuth,
    server: String,
    url: String,
    memory: InMemoryCredentialStore,
    /// The scopes of the last login: a server that demands another one does not name them again.
    granted: Mutex<Vec<String>>,
    fault: Fault,
}

impl Authorization {
    pub(super) fn new(oauth: OAuth, server: &str, url: &str) -> Self {
        Self {
            oauth,
            server: server.to_owned(),
            url: url.to_owned(),
            memory: InMemoryCredentialStore::new(),
            granted: Mutex::default(),
            fault: Fault::default(),
        }
    }

    /// Returns a client with the tokens that are kept, if there are some for this authorization server.
    pub(super) async fn kept(&self) -> Result<Option<Authorized>, McpError> {
        let (mut manager, _) = self.manager().await?;
        // Without its metadata, it is unknown whether the tokens are of this authorization server: the user logs in again.
        let is_kept = manager.initialize_from_store().await.unwrap_or(false);
        if is_kept { Ok(Some(self.authorized(manager)?)) } else { Ok(None) }
    }

    /// Has the user log in, as the server demands by its header `www-authenticate`.
    pub(super) async fn log_in(&self, challenge: &str) -> Result<Authorized, McpError> {
        let not_logged_in = || {
            let command = "log in first, with `mcp login` of the command line".to_owned();
            McpError::Authorization { server: self.server.clone(), reason: command }
        };
        let authorizer = self.oauth.authorizer.as_ref().ok_or_else(not_logged_in)?;
        let (manager, network) = self.manager().await?;
        let server = self.url.parse().map_err(|_| self.refused("the URL of the server is invalid"))?;
        check_challenge(challenge, &server).map_err(|fault| self.refused(&fault))?;
        let mut state = OAuthState::Unauthorized(manager);
        self.in_time(state.start_authorization(self.request(challenge))).await?;
        let url = state.get_authorization_url().await.map_err(|error| self.failed(&error))?;
        let login = url.parse().map_err(|_| self.refused("the address of the login page is not a URL"))?;
        let (login, url) = network.named(login, url);
        network.check(&login).map_err(|fault| self.refused(&format!("the login page: {fault}")))?;
        let redirected = authorizer.authorize(&url).await.map_err(|error| self.failed(&*error))?;
        check_redirect(&login, &redirected).map_err(|fault| self.refused(&fault))?;
        self.in_time(state.handle_callback_url(&redirected)).await?;
        let incomplete = || self.failed(&std::io::Error::other("the login was not completed"));
        let manager = state.into_authorization_manager().ok_or_else(incomplete)?;
        let granted = manager.get_current_scopes().await;
        *self.granted.lock().ignore_poison() = granted;
        self.authorized(manager)
    }

    fn request(&self, challenge: &str) -> AuthorizationRequest {
        let OAuth { redirect_uri, client, metadata_url, scopes, .. } = &self.oauth;
        let mut request = AuthorizationRequest::new(redirect_uri).with_client_name(Application::current().name.clone());
        if !challenge.is_empty() {
            request = request.with_challenge(challenge);
        }
        let scopes = [scopes.clone(), self.more_scopes(challenge)].concat();
        if !scopes.is_empty() {
            request = request.with_scopes(scopes);
        }
        if let Some(url) = metadata_url {
            request = request.with_client_metadata_url(url);
        }
        if let Some(client) = client {
            request = request.with_preregistered_client(&client.id);
            if let Some(secret) = &client.secret {
                request = request.with_client_secret(secret);
            }
        }
        request
    }

    /// Returns the scopes of the last login with those that a server demands in addition, if it does.
    fn more_scopes(&self, challenge: &str) -> Vec<String> {
        let granted = self.granted.lock().ignore_poison().clone();
        let Ok(url) = self.url.parse() else { return Vec::new() };
        let demanded = WWWAuthenticateParams::parse(challenge, &url);
        if granted.is_empty() || !demanded.is_insufficient_scope() {
            return Vec::new();
        }
        let demanded = demanded.scope.unwrap_or_default();
        let new = demanded.split_whitespace().filter(|scope| !granted.iter().any(|known| known == scope));
        granted.iter().cloned().chain(new.map(str::to_owned)).collect()
    }

    /// Waits for a step of the login.
    async fn in_time<T>(&self, step: impl Future<Output = Result<T, AuthError>>) -> Result<T, McpError> {
        let late = || self.refused(&format!("no answer of the authorization server within {PREPARATION:?}"));
        let result = tokio::time::timeout(PREPARATION, step).await.map_err(|_| late())?;
        let result = result.map_err(|error| match &error {
            AuthError::RegistrationFailed(reason) => self.unregistered(reason),
            _ => self.failed(&error),
        })?;
        // One that did not matter.
        drop(self.fault.take());
        Ok(result)
    }

    async fn manager(&self) -> Result<(AuthorizationManager, Arc<Network>), McpError> {
        let server = self.url.parse().map_err(|_| self.refused("the URL of the server is invalid"))?;
        drop(self.fault.take());
        let network = Network::new(server, self.fault.clone()).map_err(|error| self.failed(&error))?;
        let network = Arc::new(network);
        let manager = AuthorizationManager::new_with_oauth_http_client(self.url.as_str(), Arc::clone(&network) as _);
        let mut manager = manager.await.map_err(|error| self.failed(&error))?;
        match &self.oauth.tokens {
            Some(tokens) => manager.set_credential_store(KeptCredentials(tokens.for_server(&self.url))),
            None => manager.set_credential_store(self.memory.clone()),
        }
        Ok((manager, network))
    }

    fn authorized(&self, manager: AuthorizationManager) -> Result<Authorized, McpError> {
        Ok(AuthClient::new(Exchange::without_redirects().map_err(|error| self.failed(&error))?, manager))
    }

    fn failed(&self, error: &(dyn std::error::Error + 'static)) -> McpError {
        let reason = self.fault.take().unwrap_or_else(|| text::root(error));
        self.refused(&reason)
    }

    /// Returns the error of a program that the authorization server does not register.
    fn unregistered(&self, reason: &str) -> McpError {
        let reason = self.fault.take().unwrap_or_else(|| reason.to_owned());
        self.refused(&registration_advice(&reason, &self.oauth.redirect_uri))
    }

    fn refused(&self, reason: &str) -> McpError {
        McpError::Authorization { server: self.server.clone(), reason: text::line(reason) }
    }
}
