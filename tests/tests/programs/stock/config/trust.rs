//! The file of a project comes with the project, which may be untrusted: it can only make settings stricter.

use super::super::{ASSISTANT, Place};
use super::{SHOW, User, shown};

const WRITE: &str = r#"call write_file {"path":"b.txt","content":"b"}"#;
const FILE: &str = ".llm-do/config.yaml";

fn project(settings: &str) -> Place {
    Place::new(&[("main.worker", ASSISTANT), (FILE, settings)])
}

#[test]
fn the_file_of_a_project_cannot_approve_calls() {
    let place = project("approval_mode: approve_all\nend_on_denial: false\n");
    let user = User::new("end_on_denial: true\n");
    place.run(&["run", WRITE]).fails(1, "denied: no terminal to ask the user");
    assert!(!place.path().join("b.txt").exists());
    let text = ".llm-do/config.yaml:1: `approval_mode` has no effect: the value in effect is stricter (default), and a \
                project's file cannot loosen it";
    for command in [&["check"][..], &SHOW] {
        let answer = user.run(&place, command);
        assert!(answer.err.contains(text) && answer.err.contains(":2: `end_on_denial`"), "{}", answer.err);
        answer.output();
    }
    assert_eq!(shown(place.run(&SHOW), "approval_mode"), ("prompt".into(), "default".to_owned()));
}

#[test]
fn the_file_of_a_project_can_deny_what_the_user_or_the_manifest_approves() {
    let place = project("approval_mode: reject_all\n");
    let user = User::new("approval_mode: approve_all\n");
    let run = ["run", "--end-on-denial", WRITE];
    user.run(&place, &run).fails(1, "the approval mode rejects every call that needs approval");
    let manifest =
        r#"{ "version": 1, "entry": { "agent": "assistant" }, "runtime": { "approval_mode": "approve_all" } }"#;
    place.write("project.json", manifest);
    place.run(&run).fails(1, "the approval mode rejects every call that needs approval");
    place.run(&["run", "--approve-all", WRITE]).output();
    assert_eq!(place.read("b.txt"), "b", "an option comes first");
}

#[test]
fn the_mode_of_the_user_holds_against_that_of_the_manifest() {
    let manifest =
        r#"{ "version": 1, "entry": { "agent": "assistant" }, "runtime": { "approval_mode": "approve_all" } }"#;
    let place = Place::new(&[("main.worker", ASSISTANT), ("project.json", manifest)]);
    assert_eq!(shown(place.run(&SHOW), "approval_mode"), ("approve_all".into(), "project.json".to_owned()));
    User::new("approval_mode: prompt\n").run(&place, &["run", WRITE]).fails(1, "no terminal to ask the user");
    place.run(&["run", "--trust-project", WRITE]).output();
    assert_eq!(place.read("b.txt"), "b");
}

#[test]
fn of_the_limits_of_the_project_and_the_user_the_lower_one_holds() {
    let limits = |count: u64| {
        ["limit_requests", "max_depth", "max_concurrent_calls", "limit_cost", "timeout"]
            .map(|key| format!("{key}: {count}\n"))
            .concat()
    };
    let place = project(&limits(9));
    let read = "call list_files {}";
    let user = User::new(&limits(1));
    for (setting, value) in [
        ("limit_requests", serde_json::json!(1)),
        ("max_depth", 1.into()),
        ("max_concurrent_calls", 1.into()),
        ("limit_cost", "$1.00".into()),
        ("timeout", "1s".into()),
    ] {
        assert_eq!(shown(user.run(&place, &SHOW), setting).0, value);
        assert_eq!(shown(User::new(&limits(10)).run(&place, &SHOW), setting).1.split(':').next(), Some(FILE));
    }
    let user = User::new("limit_requests: 1\n");
    user.run(&project("limit_requests: 9\n"), &["run", read]).fails(1, "`requests` is limited to 1");
    let user = User::new("limit_requests: 9\n");
    user.run(&project("limit_requests: 1\n"), &["run", read]).fails(1, "`requests` is limited to 1");
    user.run(&project("limit_requests: 8\n"), &["run", read]).output();
}

#[test]
fn the_file_of_a_project_cannot_add_rules_workers_or_folders() {
    for setting in ["policy: allow.json", "flow: off", "worker_dir: workers", "chats: chats", "content: true"] {
        let key = setting.split(':').next().unwrap();
        let fault = format!(".llm-do/config.yaml:2: `{key}` cannot be set in the file of a project");
        project(&format!("verbose: 0\n{setting}\n")).run(&["run", "hello"]).fails(2, &fault);
    }
}

/// Runs the application whose code sets a maximum depth of 2.
#[test]
fn the_user_may_raise_a_limit_of_the_application_and_a_project_may_not() {
    let deeper = ["run", "--tool", "deeper", "1"];
    let place = Place::new(&[(FILE, "max_depth: 3\n")]);
    let run = |user: &User, arguments: &[&str]| {
        let mut command = place.command(env!("CARGO_BIN_EXE_app"));
        Place::answer(command.args(arguments).env("LLM_DO_CONFIG", &user.file), "")
    };
    let none = User::new("");
    run(&none, &deeper).fails(1, "the maximum depth is 2");
    assert_eq!(shown(run(&none, &SHOW), "max_depth"), (2.into(), "application".to_owned()));
    assert_eq!(run(&User::new("max_depth: 3\n"), &deeper).output(), "Hello!\n");
}
