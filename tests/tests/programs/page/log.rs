//! Logs of events for the page.

use serde_json::{Value, json};

/// A 10 × 10 picture.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mNk+M9Qz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC";

/// A log that is written event by event, each a tenth of a second after the last.
#[derive(Default)]
pub(crate) struct Log {
    lines: Vec<String>,
    tenths: u64,
    /// The number of events before the attempt.
    before: usize,
}

impl Log {
    pub(crate) fn event(&mut self, (call, parent, name): (u64, Option<u64>, &str), kind: Value) {
        let (seconds, tenths) = (self.tenths / 10, self.tenths % 10);
        let time =
            format!("2026-07-28T{:02}:{:02}:{:02}.{tenths}Z", seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let mut event = json!({
            "run": "r1", "call": call, "parent": parent, "seq": self.lines.len() - self.before, "depth": u64::from(parent.is_some()),
            "name": name, "time": time,
        });
        let (fields, Value::Object(more)) = (event.as_object_mut().unwrap(), kind) else {
            panic!("a kind is an object")
        };
        fields.extend(more);
        self.lines.push(event.to_string());
        self.tenths += 1;
    }

    /// Begins another attempt, which numbers its events from 0, after some tenths of a second.
    pub(crate) fn resume(&mut self, tenths: u64) {
        self.before = self.lines.len();
        self.tenths += tenths;
    }

    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Adds a root call.
    pub(crate) fn root(&mut self) {
        self.event(
            (0, None, "review_all"),
            json!({ "kind": "call_started", "what": "entry", "by": "user", "arguments": { "paths": ["a.rs"] } }),
        );
    }

    /// Adds a worker with two requests, and the call of a tool between them, which may be denied.
    pub(crate) fn worker(&mut self, call: u64, path: &str, is_denied: bool) {
        let worker = (call, Some(0), "code_reviewer");
        let tool = (call + 1, Some(call), "read_file");
        let arguments = json!({ "path": path });
        self.event(worker, json!({ "kind": "call_started", "what": "worker", "by": "code", "arguments": arguments }));
        let user = json!({ "role": "user", "parts": [{ "type": "text", "text": arguments.to_string() }] });
        self.request(worker, 1, &content(0, &user, call == 1));
        let asks = json!({ "type": "tool_call", "id": "c1", "name": "read_file", "arguments": arguments.to_string() });
        self.response(worker, 1, &asks);
        self.event(tool, json!({ "kind": "approval_asked", "summary": format!("read {path}"), "arguments": arguments, "position": 1, "total": 1 }));
        let reason = is_denied.then_some("not that file");
        self.event(
            tool,
            json!({ "kind": "approval_decided", "approved": !is_denied, "by": "approver", "rule": "effect", "scope": "call", "reason": reason }),
        );
        let result = if is_denied {
            self.event(tool, json!({ "kind": "call_refused", "by": "model", "error": "denied: not that file" }));
            "denied"
        } else {
            self.event(tool, json!({ "kind": "call_started", "what": "tool", "by": "model", "arguments": arguments }));
            self.event(tool, json!({ "kind": "call_finished", "result": "fn main() {}", "elapsed_ms": 3 }));
            "fn main() {}"
        };
        let file = json!({ "media_type": "image/png", "bytes": 78, "digest": "p", "name": "chart.png" });
        let results = json!({ "role": "tool", "results": [{ "call_id": "c1", "name": "read_file", "content": result, "is_error": is_denied, "attachments": [file] }] });
        let mut second = content(2, &results, false);
        if call == 1 {
            second["files"] = json!([{ "media_type": "image/png", "bytes": 78, "digest": "p", "name": "chart.png", "data": PICTURE }]);
        }
        self.request(worker, 2, &second);
        let text = "## Findings\n\nThe file is **mostly fine**:\n\n- `parse` accepts an empty name\n- the loop is *quadratic*\n\n\
                    ```rust\nfor a in &items { check(a); }\n```\n\n| point | weight |\n|---|---|\n| loop | 3 |\n";
        self.response(worker, 2, &json!({ "type": "text", "text": text }));
        self.event(
            worker,
            json!({ "kind": "call_finished", "result": { "score": 7, "findings": ["a", "b"] }, "elapsed_ms": 900 }),
        );
    }

    pub(crate) fn request(&mut self, call: (u64, Option<u64>, &str), turn: u32, content: &Value) {
        self.event(
            call,
            json!({ "kind": "model_request", "model": "m:large", "turn": turn, "messages": 1, "tools": ["read_file"], "content": content }),
        );
    }

    pub(crate) fn response(&mut self, call: (u64, Option<u64>, &str), requests: u64, part: &Value) {
        let usage = json!({ "requests": 1, "input_tokens": 900, "output_tokens": 80, "cached_tokens": 0, "reasoning_tokens": 0 });
        self.event(call, json!({ "kind": "model_response", "model": "large", "parts": [part], "usage": usage }));
        self.event(
            call,
            json!({
                "kind": "usage", "tool_calls": 1, "requests": requests, "input_tokens": 900 * requests, "output_tokens": 80 * requests,
                "cached_tokens": 0, "reasoning_tokens": 0,
                "cost": { "known": format!("0.00{}", 3 * requests), "unpriced_requests": 0 },
            }),
        );
    }
}

fn content(kept: u64, message: &Value, is_first: bool) -> Value {
    let mut content =
        json!({ "kept": kept, "messages": [message], "instructions": { "digest": "i" }, "tools": { "digest": "t" } });
    if is_first {
        content["instructions"]["value"] = "You are a **senior reviewer**.\n\n1. Read the file.\n2. Judge it.".into();
        let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
        content["tools"]["value"] =
            json!([{ "name": "read_file", "description": "Read a file.", "parameters": schema }]);
    }
    content
}

/// A run of at least this many events: workers, each with a tool; every seventh tool is denied.
pub(crate) fn run(events: usize) -> Log {
    let mut log = Log::default();
    log.root();
    let mut call = 1;
    while log.len() < events {
        log.worker(call, &format!("src/module_{call}.rs"), call % 14 == 3);
        call += 2;
    }
    log.event(
        (0, None, "review_all"),
        json!({ "kind": "call_finished", "result": "All is **well**.", "elapsed_ms": 1 }),
    );
    log
}
