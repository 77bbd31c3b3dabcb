//! A login in the user's browser, which then returns to this program on this machine.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::app::cli::CommandError;
use crate::app::mcp::Authorizer;
use crate::base::error::BoxError;
use crate::base::printable::printable_line;

const PATH: &str = "/callback";
/// How long the user may take.
const LOGIN: Duration = Duration::from_secs(600);
/// How long a browser may take to send its request.
const REQUEST: Duration = Duration::from_secs(5);
/// The longest first line of a request, in bytes.
const MAX_LINE: u64 = 16 << 10;
const PAGE: &str =
    "<!doctype html><meta charset=utf-8><title>llm-do</title><p>The login is complete. You may close this page.";

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
    /// Listens on loopback; port 0 is any that is free.
    pub(super) async fn listen(port: u16, opens: bool) -> Result<Self, CommandError> {
        let fault = |error: io::Error| CommandError::Error(format!("cannot listen on port {port}: {error}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(fault)?;
        let port = listener.local_addr().map_err(fault)?.port();
        // The connection to the server has an async runtime of its own.
        let listener = listener.into_std().map_err(fault)?;
        Ok(Self { listener, port, opens, is_used: Used::default() })
    }

    pub(super) fn redirect_uri(&self) -> String {
        format!("http://localhost:{}{PATH}", self.port)
    }

    pub(super) fn is_used(&self) -> Used {
        self.is_used.clone()
    }

    /// Waits for the request of the redirect; returns its address.
    async fn redirected(&self) -> Result<String, BoxError> {
        let listener = TcpListener::from_std(self.listener.try_clone()?)?;
        loop {
            let (stream, _) = listener.accept().await?;
            // Other requests are ignored, and those that do not arrive in time.
            if let Ok(Ok(Some(target))) = timeout(REQUEST, answer(stream)).await {
                return Ok(format!("http://localhost:{}{target}", self.port));
            }
        }
    }
}

#[async_trait]
impl Authorizer for Browser {
    async fn authorize(&self, url: &str) -> Result<String, BoxError> {
        if !(url.starts_with("https://") || url.starts_with("http://")) {
            return Err("the address of the login page is not one of the web".into());
        }
        self.is_used.0.store(true, Ordering::Relaxed);
        // Ignored: standard error may be closed.
        let _ = writeln!(io::stderr(), "Log in here:\n{}", printable_line(url));
        if self.opens {
            open(url);
        }
        let late = |_| format!("no login within {} minutes", LOGIN.as_secs() / 60);
        timeout(LOGIN, self.redirected()).await.map_err(late)?
    }
}

/// Answers a request; returns its target if it is the redirect.
async fn answer(mut stream: TcpStream) -> io::Result<Option<String>> {
    let mut line = String::new();
    BufReader::new((&mut stream).take(MAX_LINE)).read_line(&mut line).await?;
    let target = line.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let is_redirect = target.split('?').next() == Some(PATH) && target.contains('?');
    let (status, page) = if is_redirect { ("200 OK", PAGE) } else { ("404 Not Found", "") };
    let length = page.len();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{page}").as_bytes()).await?;
    stream.shutdown().await?;
    Ok(is_redirect.then(|| target.to_owned()))
}

/// Opens an address in the user's browser; if that fails, the user has the address.
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
