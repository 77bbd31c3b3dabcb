//! A server with scripted replies: one per connection, in order.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub(crate) struct Server {
    base_url: String,
    requests: Arc<Mutex<Vec<Received>>>,
    task: JoinHandle<()>,
}

/// A request received by the server.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The request line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Value,
}

impl Server {
    /// Starts a server that answers each connection with the next of `replies`, and closes further ones.
    pub(crate) async fn scripted(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let requests = Arc::default();
        let replies: Vec<_> = replies.into_iter().collect();
        let task = tokio::spawn(serve(listener, replies, Arc::clone(&requests)));
        Self { base_url, requests, task }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(crate) fn requests(&self) -> Vec<Received> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The reply to one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    bytes: Vec<Vec<u8>>,
    stalls: bool,
}

impl Reply {
    /// A complete JSON reply.
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::whole(status, "", &body.to_string())
    }

    /// A complete reply with further header lines.
    pub(crate) fn whole(status: u16, headers: &str, body: &str) -> Self {
        let head =
            format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n", body.len());
        Self::default().raw(&head).raw(body)
    }

    /// The head of a streamed reply.
    pub(crate) fn stream() -> Self {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        Self::default().raw(head)
    }

    /// One server-sent event.
    pub(crate) fn event(self, data: &str) -> Self {
        self.chunk(&format!("data: {data}\n\n"))
    }

    /// One chunk of the body.
    pub(crate) fn chunk(self, text: &str) -> Self {
        self.raw(&format!("{:x}\r\n{text}\r\n", text.len()))
    }

    /// The end of a streamed reply; without it, the connection breaks.
    pub(crate) fn end(self) -> Self {
        self.raw("0\r\n\r\n")
    }

    /// Stalls the connection.
    pub(crate) fn stall(self) -> Self {
        Self { stalls: true, ..self }
    }

    pub(crate) fn raw(self, text: &str) -> Self {
        self.raw_bytes(text.as_bytes())
    }

    pub(crate) fn raw_bytes(mut self, bytes: &[u8]) -> Self {
        self.bytes.push(bytes.to_vec());
        self
    }
}

async fn serve(listener: TcpListener, replies: Vec<Reply>, requests: Arc<Mutex<Vec<Received>>>) {
    let mut replies = replies.into_iter();
    // Stalled connections live as long as the server.
    let mut stalled = Vec::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        let Some(reply) = replies.next() else { continue };
        let received = receive(&mut stream).await;
        requests.lock().unwrap().push(received);
        for bytes in reply.bytes {
            // The client may have closed the connection.
            _ = stream.write_all(&bytes).await;
            _ = stream.flush().await;
            tokio::task::yield_now().await;
        }
        if reply.stalls {
            stalled.push(stream);
        }
    }
}

/// Reads a complete request.
pub(crate) async fn receive(stream: &mut TcpStream) -> Received {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(place) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break place + 4;
        }
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the client hung up");
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse::<usize>().unwrap();
    while bytes.len() < head_end + length {
        assert!(stream.read_buf(&mut bytes).await.unwrap() > 0, "the client hung up");
    }
    Received { head, body: serde_json::from_slice(&bytes[head_end..]).unwrap() }
}
