//! An MCP server that breaks one rule: a row of `fixtures/mcp/oddities.json`, over standard input and output or over HTTP.
//!
//! Usage: `odd_server ROW lines|json|events`. The last two print the port. A server has the tool `echo`, which is as it should be, and
//! the tool `odd`. Texts of a row may contain `$ID`, the id of the request, `$FF`, a byte that is not UTF-8, `$X9` and `$O9`, nine times
//! `x` or `[`.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use llm_do::{Value, json};

const ROWS: &str = include_str!("../../fixtures/mcp/oddities.json");

fn main() -> io::Result<()> {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let rows: Vec<Value> = serde_json::from_str(ROWS)?;
    let row = rows.into_iter().find(|row| row["name"] == words[0].as_str()).ok_or(io::ErrorKind::NotFound)?;
    let server = Server { row, is_stream: words[1] == "events" };
    if words[1] == "lines" { server.over_lines() } else { server.over_http() }
}

/// What a row answers.
#[derive(Clone)]
struct Server {
    row: Value,
    is_stream: bool,
}

impl Server {
    fn over_lines(&self) -> io::Result<()> {
        let mut output = io::stdout().lock();
        for line in io::stdin().lock().lines() {
            let request: Value = serde_json::from_str(&line?)?;
            if let Some(words) = self.row["stderr"].as_str() {
                writeln!(io::stderr(), "{words}")?;
            }
            if request.get("method").is_some_and(|method| self.row["ends_at"] == *method) {
                std::process::exit(3);
            }
            for answer in self.answers(&request) {
                output.write_all(&answer)?;
                output.write_all(b"\n")?;
            }
            output.flush()?;
        }
        Ok(())
    }

    fn over_http(self) -> io::Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let mut output = io::stdout().lock();
        writeln!(output, "{}", listener.local_addr()?.port())?;
        output.flush()?;
        for stream in listener.incoming() {
            let server = self.clone();
            let stream = stream?;
            // An error means that the client has gone.
            thread::spawn(move || drop(server.exchange(stream)));
        }
        Ok(())
    }

    /// Answers one request of HTTP.
    fn exchange(&self, mut stream: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(stream.try_clone()?);
        let (mut line, mut length) = (String::new(), 0);
        reader.read_line(&mut line)?;
        let is_post = line.starts_with("POST");
        loop {
            line.clear();
            reader.read_line(&mut line)?;
            let header = line.trim().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            length = header.strip_prefix("content-length:").and_then(|size| size.trim().parse().ok()).unwrap_or(length);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        if !is_post {
            return respond(&mut stream, "405 Method Not Allowed", "", "", b"");
        }
        let request: Value = serde_json::from_slice(&body)?;
        let method = request["method"].as_str().unwrap_or_default();
        let is_odd = method != "tools/call" || request["params"]["name"] == "odd";
        if let Some(given) = self.row["http"].get(method).filter(|_| is_odd) {
            let body = expanded(given["body"].as_str().unwrap_or_default(), &request["id"]);
            let (status, kind) =
                (given["status"].as_str().unwrap_or("200 OK"), given["type"].as_str().unwrap_or_default());
            return respond(&mut stream, status, kind, given["headers"].as_str().unwrap_or_default(), &body);
        }
        if request.get("id").is_none() {
            return respond(&mut stream, "202 Accepted", "", "", b"");
        }
        let session = if method == "initialize" { "Mcp-Session-Id: one\r\n" } else { "" };
        let answers = self.answers(&request);
        if self.is_stream {
            let events: Vec<u8> =
                answers.iter().flat_map(|answer| [b"data: ", answer.as_slice(), b"\n\n"].concat()).collect();
            return respond(&mut stream, "200 OK", "text/event-stream", session, &events);
        }
        respond(&mut stream, "200 OK", "application/json", session, &answers.join(&b'\n'))
    }

    /// Returns the messages that answer one.
    fn answers(&self, request: &Value) -> Vec<Vec<u8>> {
        let (id, method) = (&request["id"], request["method"].as_str().unwrap_or_default());
        let is_odd = method != "tools/call" || request["params"]["name"] == "odd";
        if let Some(texts) = self.row["raw"].get(method).filter(|_| is_odd) {
            let texts = texts.as_array().map_or_else(|| vec![texts.clone()], Clone::clone);
            return texts.iter().map(|text| expanded(text.as_str().unwrap_or_default(), id)).collect();
        }
        if id.is_null() || method.is_empty() {
            return Vec::new();
        }
        let before = self.row["before"].as_array().into_iter().flatten();
        let mut answers: Vec<_> = before.map(|text| expanded(text.as_str().unwrap_or_default(), id)).collect();
        let message = match self.result(method, request) {
            Some(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            None => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "method not found" } }),
        };
        answers.push(expanded(&message.to_string(), id));
        answers
    }

    fn result(&self, method: &str, request: &Value) -> Option<Value> {
        let params = &request["params"];
        match method {
            "initialize" => Some(self.row.get("start").cloned().unwrap_or_else(|| {
                let info = json!({ "name": "odd", "version": "1" });
                json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} }, "serverInfo": info })
            })),
            "tools/list" => {
                let cursor = params["cursor"].as_str();
                match (self.row.get("pages"), cursor) {
                    (Some(pages), _) => Some(page(pages, cursor)).filter(|page| !page.is_null()),
                    (None, _) => Some(self.row.get("list").cloned().unwrap_or_else(|| self.list())),
                }
            }
            "tools/call" if params["name"] == "odd" => {
                Some(self.row.get("result").cloned().unwrap_or_else(|| json!({ "content": [] })))
            }
            "tools/call" => Some(json!({ "content": [{ "type": "text", "text": params["arguments"]["text"] }] })),
            _ => None,
        }
    }

    fn list(&self) -> Value {
        let mut tools = vec![tool("echo"), tool("odd")];
        if let Some(schema) = self.row.get("output_schema") {
            tools[1]["outputSchema"] = schema.clone();
        }
        tools.extend(self.row["tools"].as_array().into_iter().flatten().cloned());
        json!({ "tools": tools })
    }
}

/// Returns a page of a list: the first has the tools, and the row has the next ones by their cursors.
fn page(pages: &Value, cursor: Option<&str>) -> Value {
    match cursor {
        None => {
            let mut first = pages["first"].clone();
            first["tools"] = json!([tool("echo"), tool("odd")]);
            first
        }
        Some(cursor) => pages.get(cursor).cloned().unwrap_or_else(|| pages["other"].clone()),
    }
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object", "properties": { "text": { "type": "string" } } } })
}

/// Replaces the signs of a text.
fn expanded(text: &str, id: &Value) -> Vec<u8> {
    let text = text.replace("$ID", &id.to_string());
    let mut bytes = Vec::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        bytes.extend_from_slice(before.as_bytes());
        let sign = after.chars().next().unwrap_or_default();
        let digits: String = after.chars().skip(1).take_while(char::is_ascii_digit).collect();
        rest = match (sign, digits.parse::<usize>()) {
            ('F', _) if after.starts_with("FF") => {
                bytes.push(0xff);
                &after[2..]
            }
            ('X' | 'O', Ok(count)) => {
                bytes.extend(std::iter::repeat_n(if sign == 'X' { b'x' } else { b'[' }, count));
                &after[1 + digits.len()..]
            }
            _ => {
                bytes.push(b'$');
                after
            }
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn respond(stream: &mut TcpStream, status: &str, kind: &str, headers: &str, body: &[u8]) -> io::Result<()> {
    let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
    let length = body.len();
    write!(stream, "HTTP/1.1 {status}\r\n{kind}{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n")?;
    stream.write_all(body)?;
    stream.flush()
}
