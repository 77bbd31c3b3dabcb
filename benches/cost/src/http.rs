//! A server that answers from memory, over connections that are kept.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The bodies of the requests that came, in order.
pub type Seen = Arc<Mutex<Vec<Vec<u8>>>>;

/// What a server says to the request whose first line and body these are.
pub type Answering = fn(&str, &[u8]) -> Arc<[u8]>;

/// How answers are written.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// All of it.
    AtOnce,
    /// As models do: a kibibyte at a time, every other millisecond.
    Models,
}

/// Answers the requests of each connection, and keeps their bodies where `seen` is given.
///
/// # Errors
///
/// Returns an error if connections cannot be accepted.
pub async fn serve(listener: TcpListener, answering: Answering, pace: Pace, seen: Option<Seen>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let seen = seen.clone();
        tokio::spawn(async move {
            // A client that is gone has its answers.
            _ = converse(stream, answering, pace, seen).await;
        });
    }
}

async fn converse(mut stream: TcpStream, answering: Answering, pace: Pace, seen: Option<Seen>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::with_capacity(16 << 10);
    while let Some((head, end)) = receive(&mut stream, &mut bytes).await? {
        let (line, body) = (first_line(&bytes), &bytes[head..end]);
        if let Some(seen) = &seen {
            seen.lock().expect("no panic holds it").push(body.to_vec());
        }
        let answer = answering(line, body);
        bytes.drain(..end);
        match pace {
            Pace::AtOnce => stream.write_all(&answer).await?,
            Pace::Models => {
                for piece in answer.chunks(1024) {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                    stream.write_all(piece).await?;
                }
            }
        }
    }
    Ok(())
}

/// Reads a whole request; returns where its body begins and ends, or `None` once the client hung up.
async fn receive(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> io::Result<Option<(usize, usize)>> {
    loop {
        if let Some(head) = memmem::find(bytes, b"\r\n\r\n").map(|place| place + 4) {
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
    value.and_then(|value| value.trim().parse().ok()).ok_or_else(|| io::Error::other("a request without a length"))
}

/// Returns an answer whose body is the JSON `body`.
#[must_use]
pub fn whole(body: &str) -> Arc<[u8]> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    (head + body).into_bytes().into()
}

/// Returns an answer of server-sent events, each a chunk of its own.
pub fn streamed(events: impl IntoIterator<Item = String>) -> Arc<[u8]> {
    let mut answer =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    for event in events {
        let text = format!("{event}\n\n");
        answer += &[&format!("{:x}", text.len()), text.as_str(), ""].join("\r\n");
    }
    (answer + "0\r\n\r\n").into_bytes().into()
}
