//! `runs` on the command line.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::serve::Serving;

/// The runs of a service, one in each of some states.
struct Served {
    serving: Serving,
    added: String,
    failed: String,
    asking: String,
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Served {
    fn start(options: &[&str], head: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let entries = ["--entries", "add,fail,ask_name,greet_in_writing"];
        let serving = Serving::start_with(&folder.path().join("runs.db"), &[&entries, options].concat());
        let start = |entry: &str, arguments: Value, state: &str| {
            let body = json!({ "entry": entry, "arguments": arguments }).to_string();
            let run = serving.request(&format!("POST /runs{head}"), &body).1;
            let id = run["id"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned();
            loop {
                let run = serving.request(&format!("GET /runs/{id}{head}"), "").1;
                let is_asking = run["waits"].as_array().is_some_and(|waits| !waits.is_empty());
                if run["state"] == state || state == "asking" && is_asking {
                    return id;
                }
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        };
        let added = start("add", json!({ "a": 2, "b": 3 }), "succeeded");
        let failed = start("fail", json!({ "with": "no\u{1b}[31m paper" }), "failed");
        let asking = start("ask_name", json!({}), "asking");
        Self { serving, added, failed, asking, folder }
    }

    fn store(&self) -> PathBuf {
        self.folder.path().join("runs.db")
    }

    /// Runs `runs` on the file.
    fn runs(&self, arguments: &[&str]) -> Ended {
        let store = self.store();
        runs(&[arguments, &["--store", store.to_str().unwrap()]].concat())
    }

    /// Returns the ids in a list, with spaces between them.
    fn listed(&self, arguments: &[&str]) -> String {
        let ended = self.runs(&[arguments, &["--json"]].concat());
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let list: Value = serde_json::from_str(&ended.stdout).unwrap();
        list["runs"].as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
    }
}

fn runs(arguments: &[&str]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_app"));
    let output = command.arg("runs").args(arguments).env_remove("LLM_DO_SERVE_TOKEN").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

#[test]
fn runs_are_listed_as_aligned_text_and_filtered_while_the_service_runs_and_after_it() {
    let served = Served::start(&[], "");
    let ended = served.runs(&[]);
    let lines: Vec<_> = ended.stdout.lines().collect();
    assert_eq!(lines.len(), 4, "{ended:?}");
    let [header, asking, failed, added] = *lines else { panic!("{ended:?}") };
    let at = header.find("state").unwrap();
    assert!(asking.starts_with(&served.asking), "the latest first: {ended:?}");
    for (line, state) in [(asking, ""), (failed, "failed "), (added, "succeeded ")] {
        assert!(line[at..].starts_with(state), "{ended:?}");
    }
    assert!(added.ends_with(" 5"), "{ended:?}");
    assert!(failed.contains("no\\u{1b}[31m paper") && !failed.contains('\u{1b}'), "escaped: {ended:?}");

    let Served { added, failed, asking, .. } = &served;
    assert_eq!(served.listed(&[]), format!("{asking} {failed} {added}"));
    assert_eq!(served.listed(&["--state", "failed"]), *failed);
    assert_eq!(served.listed(&["--entry", "add"]), *added);
    assert_eq!(served.listed(&["--since", "1h"]), format!("{asking} {failed} {added}"));
    assert!(served.listed(&["--since", "2999-01-01"]).is_empty());
    assert_eq!(served.listed(&["--before", failed]), *added);
    let page = served.runs(&["--limit", "1"]);
    assert!(page.stderr.contains(&format!("--before {asking}")), "{page:?}");
    assert_eq!(served.runs(&["--state", "succeeded", "--entry", "fail"]).stdout, "no runs\n");

    let Served { serving, folder, .. } = served;
    assert!(serving.terminate());
    let ended = runs(&["--json", "--store", folder.path().join("runs.db").to_str().unwrap()]);
    let list: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(list["runs"].as_array().unwrap().len(), 3, "{ended:?}");
}

#[test]
fn one_run_is_shown_with_its_result_its_error_or_what_it_waits_for() {
    let served = Served::start(&[], "");
    let shown = |id: &str| served.runs(&["show", id]).stdout;
    let added = shown(&served.added);
    assert!(added.contains("state       succeeded\n") && added.contains("\nresult      5\n"), "{added}");
    assert!(added.contains("\narguments   {\"a\":2,\"b\":3}\n"), "{added}");
    let failed = shown(&served.failed);
    assert!(failed.contains("\nerror       ") && failed.contains("no\\u{1b}[31m paper"), "{failed}");
    let asking = shown(&served.asking);
    assert!(asking.contains("\nwaits for   question ") && asking.contains(": Which name?"), "{asking}");

    let ended = served.runs(&["show", &served.asking, "--json"]);
    let run: Value = serde_json::from_str(&ended.stdout).unwrap();
    let answered = served.serving.request(&format!("GET /runs/{}", served.asking), "").1;
    assert_eq!((&run["id"], &run["waits"]), (&answered["id"], &answered["waits"]), "as the service returns it");
    let wait = &run["waits"][0];
    let body = json!({ "digest": wait["digest"], "answer": "Ann" }).to_string();
    served.serving.request(&format!("POST /questions/{}", wait["id"].as_str().unwrap()), &body);
    let asking = shown(&served.asking);
    assert!(asking.contains("\nasked       question ") && asking.contains("answered by"), "{asking}");
    let unknown = served.runs(&["show", "0000"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("unknown run `0000`"), "{unknown:?}");
}

#[test]
fn a_run_whose_records_cannot_be_read_is_shown_without_them() {
    let served = Served::start(&[], "");
    let file = rusqlite::Connection::open(served.store()).unwrap();
    file.execute_batch("UPDATE journal_records SET kind = 'poem'").unwrap();
    let shown = served.runs(&["show", &served.failed]);
    assert!(shown.code == Some(0) && shown.stdout.contains("paper"), "{shown:?}");
}

#[test]
fn a_running_service_is_asked_with_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let (file, token) = (folder.path().join("service.json"), folder.path().join("token"));
    let client =
        |name: &str, token: &str, roles: &[&str]| json!({ "name": name, "token": { "file": token }, "roles": roles });
    let clients = [client("ann", "token", &["start", "watch"]), client("bob", "other", &["start"])];
    std::fs::write(&file, json!({ "clients": clients }).to_string()).unwrap();
    std::fs::write(&token, "0123456789abcdef\n").unwrap();
    std::fs::write(folder.path().join("other"), "fedcba9876543210").unwrap();
    let head = " HTTP/1.1\r\nAuthorization: Bearer 0123456789abcdef\r\nX-Rest:";
    let served = Served::start(&["--service", file.to_str().unwrap()], head);
    let url = format!("http://{}", served.serving.address);
    let asked = |arguments: &[&str], token: &Path| {
        runs(&[arguments, &["--url", &url, "--token-file", token.to_str().unwrap()]].concat())
    };
    let listed = asked(&["--json", "--state", "failed", "--since", "1d"], &token);
    let list: Value = serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{listed:?}"));
    assert_eq!((list["runs"].as_array().unwrap().len(), &list["runs"][0]["id"]), (1, &json!(served.failed)));
    let shown = asked(&["show", &served.added], &token).stdout;
    assert!(shown.contains("\nresult      5\n") && shown.contains("client `ann`"), "{shown}");
    assert!(asked(&["show", "0000"], &token).stderr.contains("unknown run `0000`"));
    let refused = asked(&[], &folder.path().join("other"));
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("403"), "{refused:?}");
    let refused = runs(&["--url", &url]);
    assert!(refused.stderr.contains("401") && refused.stderr.contains("--token-file"), "{refused:?}");
    assert_eq!(runs(&["--url", "runs.example.com"]).code, Some(2), "not an address");
}

#[test]
fn a_message_is_sent_to_a_run_by_its_file_or_by_the_service() {
    let served = Served::start(&[], "");
    let url = format!("http://{}", served.serving.address);
    let sent = served.runs(&["send", &served.asking, "Hurry."]);
    assert!(sent.code == Some(0) && sent.stdout.starts_with("sent; "), "{sent:?}");
    let sent = runs(&[
        "send",
        &served.asking,
        "Slowly.",
        "--worker",
        "helper",
        "--interrupt",
        "--pin",
        "--url",
        &url,
        "--json",
    ]);
    let run: Value = serde_json::from_str(&sent.stdout).unwrap_or_else(|_| panic!("{sent:?}"));
    let shown =
        |message: &Value| [&message["message"], &message["worker"], &message["interrupt"]].map(Value::to_string);
    let messages: Vec<_> = run["messages"].as_array().unwrap().iter().map(shown).collect();
    assert_eq!(messages, [["\"Hurry.\"", "null", "false"], ["\"Slowly.\"", "\"helper\"", "true"]]);
    assert_eq!(run["messages"][0]["client"], "command line");
    let ended = "the run has ended and takes no more messages; start another run";
    for source in [&["--url", &url][..], &["--store", served.store().to_str().unwrap()]] {
        let refused = |id: &str, text: &str| runs(&[&["send", id, text], source].concat());
        let late = refused(&served.added, "Wait.");
        assert!(late.code == Some(1) && late.stderr.contains(ended), "{late:?}");
        assert!(refused(&served.asking, " ").stderr.contains("empty"), "{source:?}");
        assert!(refused("0000", "Wait.").stderr.contains("unknown run"), "{source:?}");
    }
}

#[test]
fn a_file_that_is_not_of_a_service_is_refused_and_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.db");
    let ended = runs(&["--store", missing.to_str().unwrap()]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("missing.db") && !missing.exists(), "{ended:?}");
    let other = folder.path().join("other.db");
    std::fs::write(&other, "a text of some length, which SQLite cannot read").unwrap();
    let ended = runs(&["--store", other.to_str().unwrap()]);
    assert!(ended.stderr.contains("not an SQLite database"), "{ended:?}");
    assert_eq!(runs(&["--since", "yesterday"]).code, Some(2));
    assert_eq!(runs(&["--state", "asleep"]).code, Some(2));
}
