//! A local hub, and a server at another address for the content of large files.
//!
//! The responses follow <https://huggingface.co/docs/huggingface_hub/package_reference/file_download>: the hub answers
//! for `/OWNER/REPO/resolve/REVISION/FILE` with `x-repo-commit`, `x-linked-etag` and `x-linked-size` beside a redirect.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use sha2::{Digest, Sha256};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// The commit of every branch.
pub(crate) const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

/// Returns the SHA-256 of `bytes`, in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut digits = String::new();
    for byte in Sha256::digest(bytes) {
        write!(digits, "{byte:02x}").unwrap();
    }
    digits
}

/// A request received by a server.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) method: String,
    pub(crate) path: String,
    /// The headers, in lower case.
    headers: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A response.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    status: u16,
    headers: String,
    body: Vec<u8>,
    /// The number of body bytes before the connection ends.
    cut: Option<usize>,
    /// Whether the connection stalls instead of ending.
    stalls: bool,
}

impl Reply {
    pub(crate) fn new(status: u16) -> Self {
        Self { status, ..Self::default() }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        write!(self.headers, "{name}: {value}\r\n").unwrap();
        self
    }

    pub(crate) fn body(self, body: &[u8]) -> Self {
        Self { body: body.to_vec(), ..self }
    }

    /// Closes the connection after `bytes` of the body.
    pub(crate) fn cut(self, length: usize) -> Self {
        Self { cut: Some(length), ..self }
    }

    /// Stalls after `bytes` of the body.
    pub(crate) fn stall(self, length: usize) -> Self {
        Self { cut: Some(length), stalls: true, ..self }
    }

    /// A file, or the requested range of it.
    pub(crate) fn file(bytes: &[u8], request: &Received) -> Self {
        let from = request.header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
        match from.map(|from| from.parse::<usize>().unwrap()) {
            Some(from) => {
                let range = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
                Self::new(206).header("content-range", &range).body(&bytes[from..])
            }
            None => Self::new(200).body(bytes),
        }
    }

    /// The hub's metadata of a large file, whose content is at `location`.
    pub(crate) fn linked(bytes: &[u8], location: &str) -> Self {
        let tag = format!("\"{}\"", sha256(bytes));
        Self::new(302)
            .header("x-repo-commit", COMMIT)
            .header("x-linked-etag", &tag)
            .header("x-linked-size", &bytes.len().to_string())
            .header("location", location)
    }

    /// An error of the hub, with an arbitrary message.
    pub(crate) fn refusal(status: u16, code: &str) -> Self {
        let reply = Self::new(status).header("x-error-message", "the server's prose");
        let reply = if code.is_empty() { reply } else { reply.header("x-error-code", code) };
        reply.body(b"the server's prose")
    }
}

type Handler = dyn FnMut(&Received) -> Reply + Send;

/// A server with one response per connection.
pub(crate) struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

impl Server {
    pub(crate) async fn new(answer: impl FnMut(&Received) -> Reply + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::default();
        let handler: Arc<Mutex<Handler>> = Arc::new(Mutex::new(answer));
        let task = tokio::spawn(serve(listener, handler, Arc::clone(&requests)));
        Self { url, requests, task }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }

    /// The method and the path of each request.
    pub(crate) fn asked(&self) -> Vec<String> {
        self.requests().iter().map(|request| format!("{} {}", request.method, request.path)).collect()
    }

    /// The first requested byte of each request.
    pub(crate) fn ranges(&self) -> Vec<Option<String>> {
        self.requests().iter().map(|request| request.header("range").map(str::to_owned)).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves each connection independently, so that a stalled one does not block the rest.
async fn serve(listener: TcpListener, handler: Arc<Mutex<Handler>>, requests: Arc<Mutex<Vec<Received>>>) {
    let mut connections = tokio::task::JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        connections.spawn(converse(stream, Arc::clone(&handler), Arc::clone(&requests)));
    }
}

async fn converse(mut stream: TcpStream, handler: Arc<Mutex<Handler>>, requests: Arc<Mutex<Vec<Received>>>) {
    let Some(request) = receive(&mut stream).await else { return };
    requests.lock().unwrap().push(request.clone());
    let reply = tokio::task::spawn_blocking({
        let request = request.clone();
        move || (handler.lock().unwrap())(&request)
    });
    let reply = reply.await.unwrap();
    let length = reply.body.len();
    let head = format!(
        "HTTP/1.1 {} x\r\ncontent-length: {length}\r\nconnection: close\r\n{}\r\n",
        reply.status, reply.headers
    );
    let sent = if request.method == "HEAD" { 0 } else { reply.cut.map_or(length, |cut| cut.min(length)) };
    // The client may have closed the connection.
    _ = stream.write_all(head.as_bytes()).await;
    _ = stream.write_all(&reply.body[..sent]).await;
    _ = stream.flush().await;
    if reply.stalls && request.method != "HEAD" {
        std::future::pending::<()>().await;
    }
}

async fn receive(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let head = String::from_utf8(bytes).unwrap();
    let (line, headers) = head.split_once("\r\n").unwrap();
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    // Header values such as tokens are case-sensitive.
    let headers = headers.lines().map(|line| {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        format!("{}: {value}\n", name.to_lowercase())
    });
    Some(Received { method, path, headers: headers.collect() })
}
