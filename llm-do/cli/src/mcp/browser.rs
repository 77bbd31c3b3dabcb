//! A login in the user's browser, which is then redirected to this program on this machine.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::{StatusCode, Uri};
use llm_do_core::base::error::BoxError;
use llm_do_core::base::printable::printable_line;
use llm_do_listen::ConnectionLimits;
use llm_do_mcp::{Authorizer, is_login_answer, login_state};
use reqwest::Url;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::CommandError;

const PATH: &str = "/callback";
/// The timeout of the user's login.
const LOGIN: Duration = Duration::from_secs(600);
/// The time that the browser has to read the page after the login.
const FAREWELL: Duration = Duration::from_secs(1);
/// The limits of connections, from the browser and other programs of this machine.
const CONNECTIONS: ConnectionLimits = ConnectionLimits { total: 64, per_address: 64 };
const PAGE: &str =
    "<!doctype html><meta charset=utf-8><title>llm-do</title><p>The login is complete. You may close this page.";
const REFUSED_PAGE: &str =
    "<!doctype html><meta charset=utf-8><title>llm-do</title><p>The login was refused. The program shows the reason.";
const UNKNOWN_PAGE: &str = "<!doctype html><meta charset=utf-8><title>llm-do</title><p>This is not the answer to the login that \
                            the program waits for. Log in at the address that it shows.";

/// Shows the login page, and waits for the redirect.
#[derive(Debug)]
pub(super) struct Browser {
    listener: std::net::TcpListener,
    port: u16,
    opens: bool,
    is_used: Used,
}

/// Whether the user was sent to a login page.
#[derive(Clone, Debug, Default)]
pub(super) struct Used(Arc<AtomicBool>);

impl Used {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Browser {
    /// Listens on loopback; port 0 is any free port.
    pub(super) async fn listen(port: u16, opens: bool) -> Result<Self, CommandError> {
        let fault = |error: io::Error| CommandError::Error(format!("cannot listen on port {port}: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(fault)?;
        let port = listener.local_addr().map_err(fault)?.port();
        // The connection to the server has its own async runtime.
        let listener = listener.into_std().map_err(fault)?;
        Ok(Self { listener, port, opens, is_used: Used::default() })
    }

    pub(super) fn redirect_uri(&self) -> String {
        format!("http://localhost:{}{PATH}", self.port)
    }

    pub(super) fn is_used(&self) -> Used {
        self.is_used.clone()
    }

    /// Waits for the redirect after the login at this page; returns its address.
    async fn redirected(&self, login: Url) -> Result<String, BoxError> {
        let listener = TcpListener::from_std(self.listener.try_clone()?)?;
        let (found, mut redirects) = mpsc::channel(1);
        let router = Router::new().route(PATH, get(callback)).fallback(unknown).with_state(Pending { login, found });
        let shutdown = CancellationToken::new();
        let mut serving = std::pin::pin!(llm_do_listen::serve(listener, router, CONNECTIONS, shutdown.clone(), || {}));
        let target: Option<Uri> = tokio::select! {
            target = redirects.recv() => target,
            () = &mut serving => None,
        };
        shutdown.cancel();
        // Ignored: the login does not depend on the page.
        let _ = timeout(FAREWELL, serving).await;
        let target = target.ok_or("the listener for the login has ended")?;
        Ok(format!("http://localhost:{}{target}", self.port))
    }
}

/// A login that waits for its redirect.
#[derive(Clone)]
struct Pending {
    /// The login page.
    login: Url,
    found: mpsc::Sender<Uri>,
}

#[async_trait]
impl Authorizer for Browser {
    async fn authorize(&self, url: &str) -> Result<String, BoxError> {
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            return Err("the address of the login page is not one of the web".into());
        }
        let login: Url = url.parse()?;
        login_state(&login).ok_or("the address of the login page has no `state`")?;
        self.is_used.0.store(true, Ordering::Relaxed);
        // Ignored: standard error may be closed.
        let _ = writeln!(io::stderr(), "Log in here:\n{}", printable_line(url));
        if self.opens {
            open(url);
        }
        let late = |_| format!("no login within {} minutes", LOGIN.as_secs() / 60);
        timeout(LOGIN, self.redirected(login)).await.map_err(late)?
    }
}

/// Answers the redirect. A request without the state of the login, which any page can cause, is ignored.
async fn callback(State(pending): State<Pending>, target: Uri) -> Response {
    let url = Url::parse(&format!("http://localhost{target}")).ok();
    let Some(url) = url.filter(|url| is_login_answer(&pending.login, url)) else {
        return (StatusCode::BAD_REQUEST, Html(UNKNOWN_PAGE)).into_response();
    };
    // Ignored: the login already has its answer.
    let _ = pending.found.try_send(target);
    let is_refused = url.query_pairs().any(|(name, _)| name == "error");
    Html(if is_refused { REFUSED_PAGE } else { PAGE }).into_response()
}

async fn unknown() -> Response {
    (StatusCode::NOT_FOUND, Html(UNKNOWN_PAGE)).into_response()
}

/// Opens an address in the user's browser; if this fails, the user has the printed address.
fn open(url: &str) {
    let (program, arguments): (_, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    drop(command.spawn());
}
