//! A small HTTP server of this machine, with scripted answers.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that stops answering when the test ends.
pub(crate) struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server; `answer` returns the bytes for a path.
    pub(crate) fn new(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        Self::streaming(move |path, stream| drop(stream.write_all(&answer(path))))
    }

    /// Starts a server; `answer` writes the answer for a path.
    pub(crate) fn streaming(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = head(&mut stream) else { continue };
                let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                seen.lock().unwrap().push(request);
                answer(&path, &mut stream);
            }
        });
        Self { port, requests }
    }

    /// A server that answers every request with this type and body.
    pub(crate) fn with(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let answer = ok(content_type, &body.into());
        Self::new(move |_| answer.clone())
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// The heads of the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn head(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).ok()? == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    String::from_utf8(head).ok()
}

pub(crate) fn ok(content_type: &str, body: &[u8]) -> Vec<u8> {
    answer("200 OK", &[("content-type", content_type)], body)
}

pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {status}\r\nconnection: close\r\n");
    for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
        answer = format!("{answer}{name}: {value}\r\n");
    }
    [format!("{answer}content-length: {}\r\n\r\n", body.len()).into_bytes(), body.to_vec()].concat()
}

pub(crate) fn redirect(to: &str) -> Vec<u8> {
    answer("302 Found", &[("location", to)], b"")
}
