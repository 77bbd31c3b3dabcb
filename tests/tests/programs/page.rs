//! The page of a run, in a browser: Chromium, driven by `chromedriver`. Without them the tests are skipped with a message.
#![allow(clippy::print_stderr, reason = "the message of a skipped test")]

mod details;
mod figures;
mod hostile;
mod log;
mod looks;
mod service;
mod tab;
mod use_of_keys;
mod webdriver;

use std::path::PathBuf;

use serde_json::{Value, json};

use self::webdriver::Browser;

/// A page in a browser.
struct Page {
    browser: Browser,
    url: String,
    _folder: tempfile::TempDir,
}

impl Page {
    /// Opens the page of a log; returns `None` if there is no browser.
    fn open(log: &str) -> Option<Self> {
        let browser = Browser::start()?;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.html");
        llm_do::trace::write_page(log.as_bytes(), std::fs::File::create(&path).unwrap()).unwrap();
        let page = Self { browser, url: format!("file://{}", path.display()), _folder: folder };
        page.go("");
        Some(page)
    }

    /// Loads the page again, at a place in it.
    fn go(&self, place: &str) {
        self.browser.go("about:blank");
        self.browser.go(&format!("{}{place}", self.url));
        assert!(
            self.run("document.documentElement.dataset.ready !== undefined").as_bool().unwrap(),
            "{}",
            self.faults()
        );
    }

    /// Evaluates an expression.
    fn run(&self, expression: &str) -> Value {
        self.browser.execute(&format!("return {expression}"))
    }

    /// Presses keys, one after the other.
    fn press(&self, keys: &str) {
        self.browser.press(keys);
    }

    /// Returns the names of the calls in view, from the top.
    fn names(&self) -> Vec<String> {
        let rows = "[...document.querySelectorAll('.row')].sort((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top)\
                    .map(row => row.querySelector('.name').textContent)";
        serde_json::from_value(self.run(rows)).unwrap()
    }

    /// Returns the selected call, as its name in the details.
    fn selected(&self) -> String {
        self.run("document.querySelector('#detail h2').textContent").as_str().unwrap().to_owned()
    }

    /// Waits until an expression holds.
    fn wait_for(&self, expression: &str) {
        for _ in 0..100 {
            if self.run(expression) == json!(true) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("never: {expression}");
    }

    /// Returns what the browser logged: errors and violations of the page's policy.
    fn faults(&self) -> String {
        self.browser.log()
    }
}

/// Returns the folder for pictures of the page.
fn pictures() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
