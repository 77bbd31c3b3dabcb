//! A server that responds from memory, with keep-alive connections.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The bodies of the received requests, in order.
pub type RecordedBodies = Arc<Mutex<Vec<Vec<u8>>>>;

/// Returns the response to a request, given its first line and its body.
pub type Responder = fn(&str, &[u8]) -> Arc<[u8]>;

/// How responses are written.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// All bytes immediately.
    Immediate,
    /// Chunks of 1 KiB, one every 2 milliseconds, similar to a model.
    Chunked,
}

/// Responds to the requests of each connection, and records their bodies in `recorded`, if given.
///
/// # Errors
///
/// Returns an error if connections cannot be accepted.
pub async fn serve(
    listener: TcpListener,
    responder: Responder,
    pace: Pace,
    recorded: Option<RecordedBodies>,
) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let recorded = recorded.clone();
        tokio::spawn(async move {
            // An error means that the client has disconnected.
            _ = serve_connection(stream, responder, pace, recorded).await;
        });
    }
}

async fn serve_connection(
    mut stream: TcpStream,
    responder: Responder,
    pace: Pace,
    recorded: Option<RecordedBodies>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::with_capacity(16 << 10);
    while let Some((head, end)) = receive(&mut stream, &mut bytes).await? {
        let (line, body) = (first_line(&bytes), &bytes[head..end]);
        if let Some(recorded) = &recorded {
            recorded.lock().expect("the lock is not poisoned").push(body.to_vec());
        }
        let answer = responder(line, body);
        bytes.drain(..end);
        match pace {
            Pace::Immediate => stream.write_all(&answer).await?,
            Pace::Chunked => {
                for piece in answer.chunks(1024) {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    stream.write_all(piece).await?;
                }
            }
        }
    }
    Ok(())
}

/// Reads a whole request; returns the byte indices of its body, or `None` if the client has disconnected.
async fn receive(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<Option<(usize, usize)>> {
    loop {
        if let Some(head) = memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4) {
            let end = head + length(&bytes[..head])?;
            if bytes.len() >= end {
                return Ok(Some((head, end)));
            }
        }
        if stream.read_buf(bytes).await? == 0 {
            return Ok(None);
        }
    }
}

fn first_line(bytes: &[u8]) -> &str {
    let end = memchr::memchr(b'\r', bytes).unwrap_or_default();
    str::from_utf8(&bytes[..end]).unwrap_or_default()
}

fn length(head: &[u8]) -> io::Result<usize> {
    let head = str::from_utf8(head).map_err(io::Error::other)?.to_ascii_lowercase();
    let value = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    value
        .and_then(|value| value.trim().parse().ok())
        .ok_or_else(|| io::Error::other("missing or invalid content-length header"))
}

/// Returns a response with the JSON `body`.
#[must_use]
pub fn whole(body: &str) -> Arc<[u8]> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    (head + body).into_bytes().into()
}

/// Returns a response of server-sent events, one for each HTTP chunk.
pub fn streamed(events: impl IntoIterator<Item = String>) -> Arc<[u8]> {
    let mut answer =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    for event in events {
        let text = format!("{event}\n\n");
        answer += &[&format!("{:x}", text.len()), text.as_str(), ""].join("\r\n");
    }
    (answer + "0\r\n\r\n").into_bytes().into()
}
