//! A small client of the protocol `WebDriver`, for `chromedriver`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// One browser at a time: two would slow each other down.
static ONE: Mutex<()> = Mutex::new(());

/// A browser without a window.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _one: MutexGuard<'static, ()>,
}

impl Browser {
    /// Starts a browser; returns `None`, with a message, if no driver is on the path.
    pub(crate) fn start() -> Option<Self> {
        let one = ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let started = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let Ok(mut driver) = started else {
            crate::required::missing("browser", "`chromedriver` is not on the path; install Chromium and its driver");
            return None;
        };
        let output = BufReader::new(driver.stdout.take().unwrap());
        let line = output.lines().map_while(Result::ok).find(|line| line.contains("successfully on port"));
        let line = line.expect("chromedriver reports its port");
        let port = line.rsplit(' ').next().unwrap().trim_end_matches('.').parse().unwrap();
        let mut browser = Self { driver, port, session: String::new(), _one: one };
        let options =
            json!({ "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,900"] });
        let always = json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let started = browser.send("POST", "/session", &json!({ "capabilities": { "alwaysMatch": always } }));
        browser.session = format!("/session/{}", started["sessionId"].as_str().unwrap());
        Some(browser)
    }

    pub(crate) fn go(&self, url: &str) {
        self.ask("/url", &json!({ "url": url }));
    }

    /// Opens another tab and goes there; returns both tabs, the other one last.
    pub(crate) fn open_tab(&self) -> [String; 2] {
        let first = self.send("GET", &format!("{}/window", self.session), &Value::Null);
        let second = self.ask("/window/new", &json!({ "type": "tab" }));
        let tabs = [first.as_str().unwrap().to_owned(), second["handle"].as_str().unwrap().to_owned()];
        self.switch_to(&tabs[1]);
        tabs
    }

    pub(crate) fn switch_to(&self, tab: &str) {
        self.ask("/window", &json!({ "handle": tab }));
    }

    /// Runs a script, and returns what it returns.
    pub(crate) fn execute(&self, script: &str) -> Value {
        self.ask("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Runs a script that calls its last argument with a result.
    pub(crate) fn execute_async(&self, script: &str) -> Value {
        self.ask("/execute/async", &json!({ "script": script, "args": [] }))
    }

    pub(crate) fn press(&self, keys: &str) {
        let press = |key: char| [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })];
        let actions: Vec<_> = keys.chars().flat_map(press).collect();
        self.ask("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Presses a key while another one is held.
    pub(crate) fn press_with(&self, held: char, key: char) {
        let action = |kind: &str, key: char| json!({ "type": kind, "value": key });
        let actions = [action("keyDown", held), action("keyDown", key), action("keyUp", key), action("keyUp", held)];
        self.ask("/actions", &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Sets the size of the page, with touch for a phone, and the system's theme.
    pub(crate) fn look(&self, (width, height): (u32, u32), is_phone: bool, theme: &str) {
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone });
        self.devtools("Emulation.setDeviceMetricsOverride", &size);
        let media = json!({ "features": [{ "name": "prefers-color-scheme", "value": theme }] });
        self.devtools("Emulation.setEmulatedMedia", &media);
    }

    /// Takes a picture, as a PNG.
    pub(crate) fn picture(&self) -> Vec<u8> {
        let picture = self.send("GET", &format!("{}/screenshot", self.session), &Value::Null);
        STANDARD.decode(picture.as_str().unwrap()).unwrap()
    }

    /// Returns the messages of the browser's console since the last call.
    pub(crate) fn log(&self) -> String {
        let entries = self.ask("/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().unwrap().iter();
        entries.map(|entry| entry["message"].as_str().unwrap_or_default()).collect::<Vec<_>>().join("\n")
    }

    fn devtools(&self, command: &str, parameters: &Value) {
        self.ask("/goog/cdp/execute", &json!({ "cmd": command, "params": parameters }));
    }

    fn ask(&self, path: &str, body: &Value) -> Value {
        self.send("POST", &format!("{}{path}", self.session), body)
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line.is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert!(answer["value"].get("error").is_none(), "{method} {path}: {}", answer["value"]);
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() && !std::thread::panicking() {
            self.send("DELETE", &self.session, &Value::Null);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
