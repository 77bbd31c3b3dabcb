//! The page of `serve --restate`, in a browser.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::engine::shared;
use super::tab::Tab;

/// A program that serves the engine and the page of its runs.
struct Serving {
    process: Child,
    url: String,
    store: PathBuf,
    _folder: TempDir,
}

impl Serving {
    /// Serves as the service `name`; `None` if no engine is installed.
    fn start(name: &str) -> Option<Self> {
        let (ingress, admin) = shared()?;
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("page.db");
        let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
        command.args(["serve", "--restate", admin, "--restate-service", name, "--listen", "127.0.0.1:0"]);
        command.args(["--page", "127.0.0.1:0", "--ingress", ingress, "--entries", "main_entry", "--store"]).arg(&store);
        let mut process = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stderr.take().unwrap()).lines().map_while(Result::ok);
        let served = lines.filter(|line| line.starts_with("serving ")).nth(1).unwrap();
        let url = format!("http://{}", served.rsplit("http://").next().unwrap().trim_end_matches('/'));
        Some(Self { process, url, store, _folder: folder })
    }

    /// Runs `runs` on the file of the page.
    fn runs(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
        let output = command.arg("runs").args(arguments).arg("--store").arg(&self.store).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

#[test]
fn a_run_in_the_engine_is_started_listed_watched_and_approved_on_the_page_and_on_the_command_line() {
    let Some(serving) = Serving::start("browsed") else { return };
    let Some(tab) = Tab::open(&serving.url, "/?view=start") else { return };
    tab.start_run("Ann");
    assert!(tab.text(".wait-card h2").contains("Hello!"), "{}", tab.text(".wait-card"));
    let run = tab.0.execute("return new URLSearchParams(location.search).get('run')").as_str().unwrap().to_owned();
    // The page has one process, whose file another one reads meanwhile.
    let listed: Value = serde_json::from_str(&serving.runs(&["--json"])).unwrap();
    assert_eq!((&listed["runs"][0]["id"], &listed["runs"][0]["state"]), (&run.clone().into(), &"waiting".into()));
    let shown = serving.runs(&["show", &run]);
    assert!(shown.contains("\nwaits for   approval ") && shown.contains("Hello!"), "{shown}");

    tab.0.go(&format!("{}/", serving.url));
    tab.wait_for(&format!("document.querySelector('a[href*=\"{run}\"]') !== null"));
    tab.0.go(&format!("{}/?view=inbox", serving.url));
    tab.click("Approve");
    tab.wait_for("document.querySelector('.outcome')?.textContent === 'Approved.'");
    tab.0.go(&format!("{}/?run={run}", serving.url));
    tab.reaches("succeeded");
    assert!(tab.text("#run-result").contains("wrote Hello!"), "{}", tab.text("#run-result"));
    for name in ["main_entry", "greet", "write"] {
        let names = "[...document.querySelectorAll('.row .name')].filter(row => row.textContent";
        tab.wait_for(&format!("{names} === '{name}').length === 1"));
    }
    tab.wait_for("!document.querySelector('#page').textContent.includes('not finished')");
    assert_eq!(tab.0.log(), "", "no violation of the policy");
    let shown = serving.runs(&["show", &run]);
    assert!(shown.contains("\nresult      wrote Hello!"), "{shown}");
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page");
    std::fs::create_dir_all(&pictures).unwrap();
    std::fs::write(pictures.join("restate-run.png"), tab.0.picture()).unwrap();
}
