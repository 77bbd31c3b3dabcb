//! `serve` on the command line.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// A program that serves its entries.
pub(super) struct Serving {
    process: Child,
    pub(super) address: String,
}

impl Serving {
    fn start(store: &std::path::Path) -> Self {
        Self::start_with(store, &["--entries", "add,wait"])
    }

    /// Starts it with these options too.
    pub(super) fn start_with(store: &std::path::Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
        command.args(["serve", "--listen", "127.0.0.1:0", "--store"]).arg(store).args(options);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let line = lines.find_map(|line| line.ok().filter(|line| line.starts_with("serving "))).unwrap();
        let address = line.rsplit("http://").next().unwrap().trim_end_matches('/').to_owned();
        Self { process, address }
    }

    pub(super) fn request(&self, head: &str, body: &str) -> (String, Value) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (address, length) = (&self.address, body.len());
        write!(
            stream,
            "{head} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: \
             {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.lines().next().unwrap().to_owned(), serde_json::from_str(body).unwrap())
    }

    /// Ends the program as a system does on a deploy; returns whether it succeeded.
    pub(super) fn terminate(mut self) -> bool {
        Command::new("kill").args(["-TERM", &self.process.id().to_string()]).status().unwrap();
        self.process.wait().unwrap().success()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Ignored: it may have ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn runs_are_served_and_kept_when_the_system_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("runs.db");
    let serving = Serving::start(&store);
    let add = json!({ "entry": "add", "arguments": { "a": 2, "b": 3 } }).to_string();
    let (status, run) = serving.request("POST /runs", &add);
    assert_eq!(status, "HTTP/1.1 201 Created", "{run}");
    let (status, waiting) = serving.request("POST /runs", r#"{"entry":"wait"}"#);
    assert_eq!(status, "HTTP/1.1 201 Created", "{waiting}");
    let path = format!("GET /runs/{}", run["id"].as_str().unwrap());
    while serving.request(&path, "").1["result"] != 5 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(serving.terminate());

    let serving = Serving::start(&store);
    assert_eq!(serving.request(&path, "").1["result"], 5);
    let (_, waiting) = serving.request(&format!("GET /runs/{}", waiting["id"].as_str().unwrap()), "");
    assert!(["queued", "running"].contains(&waiting["state"].as_str().unwrap()), "{waiting}");
    assert!(serving.terminate());
}

#[test]
fn an_unknown_entry_and_an_unusable_file_are_errors_of_usage() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, fault) in [
        (["--entries", "ad"], "unknown entry, tool or worker `ad`; did you mean `add`?"),
        (["--service", "/missing.json"], "/missing.json"),
        (["--listen", "0.0.0.0:0"], "add clients with tokens"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
        command.arg("serve").args(arguments).arg("--store").arg(folder.path().join("runs.db"));
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(fault), "{text}");
        assert!(!text.contains("serving"), "it never served: {text}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
    let output = command.args(["mcp", "--http", "0.0.0.0:0"]).env_remove("LLM_DO_MCP_TOKEN").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("set a token") && !text.contains("serving"), "{text}");
}
