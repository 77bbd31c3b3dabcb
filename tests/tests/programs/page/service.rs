//! The page of a service: runs are started, watched and decided on it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use super::pictures;
use super::tab::Tab;

/// A service in a process of its own.
pub(super) struct Service {
    process: Child,
    pub(super) url: String,
    folder: tempfile::TempDir,
}

impl Service {
    pub(super) fn start() -> Self {
        Self::start_in(&[])
    }

    /// Starts it with these variables.
    pub(super) fn start_in(variables: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (process, url) = serve(folder.path(), variables);
        Self { process, url, folder }
    }

    /// Waits until its process has ended by itself, and serves the same runs at another address.
    fn serve_again(&mut self) {
        self.process.wait().unwrap();
        (self.process, self.url) = serve(self.folder.path(), &[]);
    }
}

/// Serves the runs in a folder; returns the process and its address.
fn serve(folder: &Path, variables: &[(&str, &str)]) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_served"));
    command.envs(variables.iter().copied());
    let mut process = command.arg(folder).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut address).unwrap();
    (process, format!("http://{}", address.trim()))
}

impl Drop for Service {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn a_run_is_started_watched_and_decided_with_a_reload_in_the_middle() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    assert!(tab.text(".wait-card h2").contains("report-approved"), "{}", tab.text(".wait-card"));
    tab.click("Edit…");
    tab.fill("textarea[aria-label=Arguments]", r#"{"what": 7}"#);
    tab.click("Approve with these arguments");
    tab.wait_for("document.querySelector('.wait-card .refused-edit .added')?.textContent.includes('7') === true");
    tab.click("Edit…");
    tab.fill("textarea[aria-label=Arguments]", r#"{"what": "edited by a person"}"#);
    tab.click("Approve with these arguments");
    tab.wait_for("document.querySelector('.wait-card h2')?.textContent.includes('report-right') === true");
    tab.wait_for("[...document.querySelectorAll('.row .name')].some(name => name.textContent === 'act_if_approved')");
    tab.0.execute("location.reload()");
    tab.wait_for("document.querySelector('.wait-card h2')?.textContent.includes('report-right') === true");
    tab.click("Approve");
    tab.fill("textarea[aria-label=Answer]", "yes");
    tab.click("Answer");
    tab.reaches("succeeded");
    let result = tab.text("#run-result");
    assert!(result.contains("edited by a person") && result.contains("report-yes"), "{result}");
    tab.wait_for(
        "[...document.querySelectorAll('.row .name')].filter(name => name.textContent.startsWith('act')).length === 9",
    );
    for (size, is_phone) in [((1280, 860), false), ((390, 780), true)] {
        for theme in ["light", "dark"] {
            tab.0.look(size, is_phone, theme);
            std::fs::write(pictures().join(format!("service-{theme}-{}.png", size.0)), tab.0.picture()).unwrap();
        }
    }
}

#[test]
fn a_denied_call_ends_the_run_with_the_reason_and_keys_do_the_same() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    tab.0.go(&format!("{}/?view=inbox", service.url));
    tab.wait_for("document.activeElement?.classList.contains('wait-card') === true");
    tab.0.press("d");
    tab.fill("input[aria-label=Reason]", "not on a Friday");
    tab.0.press("\u{e007}");
    tab.wait_for("document.querySelector('.outcome')?.textContent === 'Denied.'");
    tab.0.execute("document.querySelector('.wait-card a').click()");
    tab.reaches("failed");
    assert!(tab.text("#run-error").contains("denied: not on a Friday"), "{}", tab.text("#run-error"));
    assert!(tab.text("#run-effects").contains("Effects that it made"), "{}", tab.text("#run-effects"));
}

#[test]
fn a_person_denies_a_call_and_ends_the_run_on_the_page() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    tab.0.go(&format!("{}/?view=inbox", service.url));
    tab.wait_for("document.activeElement?.classList.contains('wait-card') === true");
    tab.0.press("d");
    tab.fill("input[aria-label=Reason]", "not on a Friday");
    tab.click("Deny and end the run");
    tab.wait_for("document.querySelector('.outcome')?.textContent === 'Denied, and the run ends.'");
    tab.0.execute("document.querySelector('.wait-card a').click()");
    tab.reaches("failed");
    assert!(tab.text("#run-error").contains("denied: not on a Friday"), "{}", tab.text("#run-error"));
}

#[test]
fn of_two_tabs_that_decide_one_wins_and_the_other_shows_it() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    let inbox = format!("{}/?view=inbox", service.url);
    tab.0.go(&inbox);
    tab.wait_for("document.querySelector('.wait-card') !== null");
    let [first, second] = tab.0.open_tab();
    tab.0.go(&inbox);
    tab.wait_for("document.querySelector('.wait-card') !== null");
    // It no longer asks the service what waits.
    tab.0.execute("Object.defineProperty(document, 'hidden', { value: true })");
    tab.0.switch_to(&first);
    tab.click("Approve");
    tab.wait_for("document.querySelector('.outcome')?.textContent === 'Approved.'");
    tab.0.switch_to(&second);
    tab.click("Approve");
    tab.wait_for("document.querySelector('.outcome')?.textContent === 'local was first: approved.'");
}

#[test]
fn text_that_attacks_the_page_stays_text() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    let hostile =
        "<img src=x onerror=\"window.attacked=1\"><script>window.attacked=1</script>\"'><svg onload=window.attacked=1>";
    tab.start_run(hostile);
    for page in ["/", "/?view=inbox", "/?view=chats"] {
        tab.0.go(&format!("{}{page}", service.url));
        tab.wait_for("document.documentElement.dataset.ready !== undefined");
        assert_eq!(tab.0.execute("return [window.attacked ?? null, document.querySelectorAll('#page img, #page svg, #page script').length]"), json!([null, 0]));
    }
    assert_eq!(tab.0.log(), "", "no violation of the policy");
}

#[test]
fn a_decision_in_another_tab_is_shown_and_the_keys_stay_where_they_are() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    tab.0.go(&format!("{}/?view=start", service.url));
    tab.start_run("other");
    let inbox = format!("{}/?view=inbox", service.url);
    let cards = "[...document.querySelectorAll('.wait-card')]";
    tab.0.go(&inbox);
    tab.wait_for(&format!("{cards}.length === 2"));
    let [first, second] = tab.0.open_tab();
    tab.0.go(&inbox);
    tab.wait_for(&format!("{cards}.length === 2 && {cards}[0] === document.activeElement"));
    tab.0.press("j");
    tab.wait_for(&format!("{cards}[1] === document.activeElement"));
    tab.0.switch_to(&first);
    tab.0.execute(&format!("{cards}[1].querySelector('.primary').click()"));
    tab.wait_for("document.querySelector('.outcome')?.textContent === 'Approved.'");
    tab.0.switch_to(&second);
    tab.wait_for("document.querySelector('.outcome')?.textContent === 'local was first: approved.'");
    tab.0.press("a");
    tab.wait_for("document.querySelectorAll('.wait-card.closed').length === 0");
    assert!(tab.0.execute(&format!("return {cards}[0].querySelector('.primary') !== null")).as_bool().unwrap());
    assert_eq!(tab.0.execute("return document.querySelectorAll('.outcome').length"), 0, "no other card was decided");
}

#[test]
fn on_a_phone_the_details_of_a_call_can_be_closed() {
    let service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start") else { return };
    tab.start_run("report");
    tab.0.look((390, 780), true, "light");
    tab.wait_for("document.querySelector('.row') !== null");
    tab.0.execute("document.querySelector('.row').click()");
    tab.wait_for("document.body.classList.contains('reading')");
    tab.0.execute(
        "const { left, top } = document.getElementById('close-detail').getBoundingClientRect();\
         document.elementFromPoint(left + 20, top + 10).click()",
    );
    tab.wait_for("!document.body.classList.contains('reading')");
}

#[test]
fn a_call_that_may_have_happened_is_settled_on_the_page_and_its_run_goes_on() {
    let mut service = Service::start();
    let Some(tab) = Tab::open(&service.url, "/?view=start&entry=crash") else { return };
    tab.wait_for("document.querySelector('#argument-pays') !== null");
    tab.0.execute("document.querySelector('#argument-pays').click()");
    tab.click("Start");
    tab.wait_for("location.search.startsWith('?run=')");
    let run = tab.0.execute("return new URLSearchParams(location.search).get('run')").as_str().unwrap().to_owned();
    // Its process ends after the effect, and before the record of it.
    std::fs::write(service.folder.path().join("go"), "").unwrap();
    service.serve_again();
    tab.0.go(&format!("{}/?run={run}", service.url));
    tab.wait_for("document.querySelector('.wait-card') !== null");
    tab.click("Cancel");
    tab.reaches("cancelled");
    tab.wait_for("document.querySelector('#run-unknown')?.textContent.includes('crash_paying') === true");

    let happened = "It has happened, with this result";
    tab.fill("#run-unknown textarea", "paid");
    tab.click(happened);
    tab.wait_for("document.querySelector('#run-unknown .error').textContent.startsWith('Not JSON') === true");
    tab.fill("#run-unknown textarea", r#""paid by hand""#);
    tab.click(happened);
    tab.wait_for("document.querySelector('#run-unknown')?.textContent.includes('settled: it has happened') === true");
    assert_eq!(tab.0.execute("return document.querySelectorAll('#run-unknown button').length"), 0);
    tab.click("Resume");
    tab.reaches("succeeded");
    assert!(tab.text("#run-result").contains("paid by hand"), "{}", tab.text("#run-result"));
    let effects = std::fs::read_to_string(service.folder.path().join("effects")).unwrap();
    assert_eq!(effects.lines().count(), 1, "it is not made again: {effects}");
}
