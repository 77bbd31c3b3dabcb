//! A tab of a browser that shows the page of a service.

use serde_json::json;

use super::webdriver::Browser;

/// A tab that shows the page of a service.
pub(crate) struct Tab(pub(crate) Browser);

impl Tab {
    /// Opens a page of the service at `url`; returns `None` if there is no browser.
    pub(crate) fn open(url: &str, path: &str) -> Option<Self> {
        let tab = Self(Browser::start()?);
        tab.0.go(&format!("{url}{path}"));
        tab.wait_for("document.documentElement.dataset.ready !== undefined");
        Some(tab)
    }

    pub(crate) fn wait_for(&self, expression: &str) {
        for _ in 0..500 {
            if self.0.execute(&format!("return {expression}")) == json!(true) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        panic!("never: {expression}; {}; {}", self.0.log(), self.text("#page"));
    }

    pub(crate) fn text(&self, selector: &str) -> String {
        let text = self.0.execute(&format!("return document.querySelector({}).textContent", json!(selector)));
        text.as_str().unwrap().to_owned()
    }

    /// Clicks the button with this text, once it is there.
    pub(crate) fn click(&self, text: &str) {
        let button = format!(
            "[...document.querySelectorAll('button')].find(button => button.textContent === {} && !button.disabled)",
            json!(text)
        );
        self.wait_for(&format!("{button} !== undefined"));
        self.0.execute(&format!("{button}.click()"));
    }

    /// Sets the value of a field, once it is there.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        let field = format!("document.querySelector({})", json!(selector));
        self.wait_for(&format!("{field} !== null"));
        self.0.execute(&format!("{field}.value = {}", json!(text)));
    }

    /// Starts a run by the form.
    pub(crate) fn start_run(&self, name: &str) {
        self.fill("#argument-name", name);
        self.click("Start");
        self.wait_for("location.search.startsWith('?run=')");
        self.wait_for("document.querySelector('.wait-card') !== null");
    }

    /// Waits until the run has this state.
    pub(crate) fn reaches(&self, state: &str) {
        self.wait_for(&format!("document.querySelector('.run-head .chip')?.textContent === {}", json!(state)));
    }
}
