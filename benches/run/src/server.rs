//! A model server of canned answers: five calls of the first tool that a request names, then a text.

use std::io;
use std::sync::{Arc, Mutex};

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How many calls of a tool a run makes before its answer.
pub(crate) const CALLS: usize = 5;

/// The bodies of the requests that came, in order.
pub(crate) type Seen = Arc<Mutex<Vec<Vec<u8>>>>;

/// Answers the requests of each connection, and keeps their bodies where `seen` is given.
pub(crate) async fn serve(listener: TcpListener, seen: Option<Seen>) -> io::Result<()> {
    loop {
        let (stream, _) = listener.accept().await?;
        let seen = seen.clone();
        tokio::spawn(async move {
            // A client that is gone has its answers.
            _ = converse(stream, seen).await;
        });
    }
}

async fn converse(mut stream: TcpStream, seen: Option<Seen>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut bytes = Vec::with_capacity(16 << 10);
    while let Some((head, body)) = receive(&mut stream, &mut bytes).await? {
        if let Some(seen) = &seen {
            seen.lock().expect("no panic holds it").push(bytes[head..body].to_vec());
        }
        let answer = answer(&bytes[head..body]);
        bytes.drain(..body);
        stream.write_all(&answer).await?;
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

fn length(head: &[u8]) -> io::Result<usize> {
    let head = str::from_utf8(head).map_err(io::Error::other)?.to_ascii_lowercase();
    let value = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    value.and_then(|value| value.trim().parse().ok()).ok_or_else(|| io::Error::other("a request without a length"))
}

/// Returns what a server sends for a request: whole or streamed, a call or a text.
fn answer(body: &[u8]) -> Vec<u8> {
    let turn = memmem::find_iter(body, br#""role":"tool""#).count();
    let tool = (turn < CALLS).then(|| first_name(body));
    match memmem::find(body, br#""stream":true"#) {
        Some(_) => streamed(turn, tool),
        None => whole(turn, tool),
    }
}

fn first_name(body: &[u8]) -> &str {
    const KEY: &[u8] = br#""name":""#;
    let rest = memmem::find(body, KEY).map_or(&b"nothing"[..], |place| &body[place + KEY.len()..]);
    let end = memchr::memchr(b'"', rest).unwrap_or(rest.len());
    str::from_utf8(&rest[..end]).unwrap_or_default()
}

const USAGE: &str = r#""usage":{"prompt_tokens":212,"completion_tokens":24,"total_tokens":236,"prompt_tokens_details":{"cached_tokens":128},"completion_tokens_details":{"reasoning_tokens":0}}"#;
const TEXT: [&str; 8] = ["The", " sum", " of", " all", " of", " them", " is", " 42."];
const ARGUMENTS: [&str; 6] = [r#"{\"left"#, r#"\":"#, r" 19,", r#" \"right"#, r#"\":"#, r" 23}"];

fn whole(turn: usize, tool: Option<&str>) -> Vec<u8> {
    let (message, finish) = match tool {
        Some(tool) => {
            let arguments = ARGUMENTS.concat();
            let call = format!(
                r#"{{"index":0,"id":"call_{turn}_abcdefgh","type":"function","function":{{"name":"{tool}","arguments":"{arguments}"}}}}"#
            );
            (format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#), "tool_calls")
        }
        None => (format!(r#"{{"role":"assistant","content":"{}"}}"#, TEXT.concat()), "stop"),
    };
    let body = format!(
        r#"{{"id":"chatcmpl-0123456789","object":"chat.completion","created":1760000000,"model":"bench-0","choices":[{{"index":0,"message":{message},"logprobs":null,"finish_reason":"{finish}"}}],{USAGE},"system_fingerprint":"fp_0"}}"#
    );
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    (head + &body).into_bytes()
}

fn streamed(turn: usize, tool: Option<&str>) -> Vec<u8> {
    let mut deltas = Vec::new();
    if let Some(tool) = tool {
        deltas.push(format!(
            r#""role":"assistant","content":null,"tool_calls":[{{"index":0,"id":"call_{turn}_abcdefgh","type":"function","function":{{"name":"{tool}","arguments":""}}}}]"#
        ));
        let piece = |more| format!(r#""tool_calls":[{{"index":0,"function":{{"arguments":"{more}"}}}}]"#);
        deltas.extend(ARGUMENTS.map(piece));
    } else {
        deltas.push(r#""role":"assistant","content":"""#.to_owned());
        deltas.extend(TEXT.map(|more| format!(r#""content":"{more}""#)));
    }
    let choice = |delta: &str, finish: &str| {
        format!(r#"{{"index":0,"delta":{{{delta}}},"logprobs":null,"finish_reason":{finish}}}"#)
    };
    let mut choices: Vec<_> = deltas.iter().map(|delta| choice(delta, "null")).collect();
    choices.push(choice("", if tool.is_some() { r#""tool_calls""# } else { r#""stop""# }));
    let mut events: Vec<_> = choices.iter().map(|choice| piece(choice, "")).collect();
    events.extend([piece("", &format!(",{USAGE}")), "[DONE]".to_owned()]);
    let mut answer =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    for event in events {
        answer += &chunk(&format!("data: {event}\n\n"));
    }
    (answer + "0\r\n\r\n").into_bytes()
}

fn piece(choices: &str, more: &str) -> String {
    format!(
        r#"{{"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1760000000,"model":"bench-0","system_fingerprint":"fp_0","choices":[{choices}]{more}}}"#
    )
}

fn chunk(text: &str) -> String {
    format!("{:x}\r\n{text}\r\n", text.len())
}
