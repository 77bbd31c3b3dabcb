//! Agreements: asked for once, kept outside of the project, and for exactly these files.

use std::fs;

use super::{ASSISTANT, Place, USES_SERVER, is_refused, worker};
use crate::terminal::session::{COLUMNS, Session, Terminal};

const SERVER: &str = "import sys, pathlib\npathlib.Path('started').write_text('1')\n";

/// Starts a run in a terminal.
pub(super) fn session(place: &Place, arguments: &[&str]) -> Session {
    let mut command = place.command(env!("CARGO_BIN_EXE_stock"));
    command.args(arguments);
    Terminal::open().run(command)
}

/// Answers the question of a run, which is expected.
pub(super) fn answer(place: &Place, arguments: &[&str], answer: &str) -> Option<i32> {
    let mut session = session(place, arguments);
    session.wait_for("[y]es, [n]o");
    session.type_in(answer);
    session.end().0
}

fn with_model() -> Place {
    let file = worker("w", "model: openai:gpt-5");
    Place::new(&[("main.worker", ASSISTANT), ("workers/w.worker", &file), ("AGENTS.md", "Be brief.")])
}

pub(super) const RUN: [&str; 2] = ["run", "hello"];

#[test]
fn a_user_is_asked_once_and_again_when_a_file_changes() {
    let place = with_model();
    assert_eq!(answer(&place, &RUN, "y\n"), Some(0));
    assert_eq!(place.run(&RUN).output(), "echo 1: hello\n", "without a terminal, by the agreement");
    place.write("workers/w.worker", &worker("w", "model: openai:gpt-5\nmax_turns: 3"));
    let changed = place.run(&RUN);
    assert!(changed.err.contains("changed since you agreed: workers/w.worker"), "{changed:?}");
    is_refused(changed, "`openai:gpt-5`");
    assert_eq!(answer(&place, &RUN, "yes\n"), Some(0));
    place.write("tools/look.tool", "type: function\nfunction: project_list_files\n");
    is_refused(place.run(&RUN), "changed since you agreed: tools/look.tool");
}

#[test]
fn without_an_agreement_nothing_is_run_and_nothing_is_kept() {
    let place = with_model();
    for answer_of_user in ["n\n", "\n", "x\n"] {
        assert_eq!(answer(&place, &RUN, answer_of_user), Some(2));
    }
    is_refused(place.run(&RUN), "`openai:gpt-5`");
    place.run(&["run", "--trust-project", "hello"]).output();
    is_refused(place.run(&RUN), "`openai:gpt-5`");
}

#[test]
fn a_program_of_the_project_that_changed_is_asked_about_again() {
    let servers = r#"{ "mcpServers": { "s": { "command": "python3", "args": ["own/server.py"] } } }"#;
    let place = Place::new(&[("main.worker", USES_SERVER), (".mcp.json", servers), ("own/server.py", SERVER)]);
    // The program does not speak MCP, so the command fails after it started.
    assert_eq!(answer(&place, &RUN, "y\n"), Some(1));
    assert_eq!(fs::read_to_string(place.path().join("started")).unwrap(), "1");
    fs::remove_file(place.path().join("started")).unwrap();
    place.write("own/server.py", &format!("{SERVER}# changed\n"));
    is_refused(place.run(&RUN), "changed since you agreed: own/server.py");
    assert!(!place.path().join("started").exists());
}

#[test]
fn a_program_that_changes_while_the_user_is_asked_is_not_started() {
    let servers = r#"{ "mcpServers": { "s": { "command": "python3", "args": ["own/server.py"] } } }"#;
    let place = Place::new(&[("main.worker", USES_SERVER), (".mcp.json", servers), ("own/server.py", SERVER)]);
    let mut session = session(&place, &RUN);
    session.wait_for("[y]es, [n]o");
    place.write("own/server.py", &format!("{SERVER}# changed\n"));
    session.type_in("y\n");
    session.wait_for("`own/server.py` changed since the project was read");
    assert_eq!(session.end().0, Some(1));
    assert!(!place.path().join("started").exists());
}

#[test]
fn a_worker_file_that_changes_while_the_user_is_asked_runs_as_it_was_read() {
    let place = with_model();
    let mut session = session(&place, &RUN);
    session.wait_for("[y]es, [n]o");
    place.write("main.worker", &worker("assistant", "model: echo:model\nserver_side_tools: [web_search]"));
    session.type_in("y\n");
    session.wait_for("echo 1: hello");
    assert_eq!(session.end().0, Some(0));
    is_refused(place.run(&RUN), "its tool `web_search`");
}

#[test]
fn a_project_cannot_bring_an_agreement() {
    let place = with_model();
    assert_eq!(answer(&place, &RUN, "y\n"), Some(0));
    let kept = fs::read_to_string(place.state.path().join("llm-do/agreed.json")).unwrap();
    place.write(".state/llm-do/agreed.json", &kept);
    let inside = place.path().join(".state");
    let inside = inside.to_str().unwrap();
    is_refused(place.run_in(&[("XDG_STATE_HOME", inside)], &RUN), "`openai:gpt-5`");
    #[cfg(unix)]
    {
        // As if only the user could read it: an archive keeps such permissions.
        let file = place.path().join(".state/llm-do/agreed.json");
        fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        is_refused(place.run_in(&[("XDG_STATE_HOME", inside)], &RUN), "`openai:gpt-5`");
    }
    place.run(&RUN).output();
}

#[test]
fn a_clipped_list_is_shown_whole_before_the_user_can_agree() {
    let place = with_model();
    let long = worker("long", &format!("settings: {{ extra_body: {{ x: \"{}end-of-it\" }} }}", "x".repeat(3000)));
    place.write("workers/long.worker", &long);
    let mut session = session(&place, &RUN);
    session.wait_for("[y]es, [n]o, [d]etails: ");
    session.type_in("y\n");
    session.wait_for("All of it:");
    session.wait_for("[y]es, [n]o: ");
    session.type_in("y\n");
    session.wait_for("echo 1: hello");
    assert_eq!(session.end().0, Some(0));
}

#[cfg(unix)]
#[test]
fn the_agreement_is_to_the_folder_that_a_link_leads_to() {
    let place = with_model();
    let link = place.chats.path().join("link");
    std::os::unix::fs::symlink(place.path(), &link).unwrap();
    let run = ["run", "--project", link.to_str().unwrap(), "hello"];
    assert_eq!(answer(&place, &run, "y\n"), Some(0));
    place.run(&RUN).output();
    // A nested project is a project of its own.
    place.write("nested/main.worker", &worker("w", "model: openai:gpt-5"));
    is_refused(place.run(&["run", "--project", "nested", "hello"]), "`openai:gpt-5`");
}

#[test]
fn a_part_of_one_demand_does_not_look_like_another_demand() {
    let place = |argument: &str| {
        let servers = format!(r#"{{ "mcpServers": {{ "x": {{ "command": "sh", "args": ["{argument}"] }} }} }}"#);
        Place::new(&[("main.worker", ASSISTANT), (".mcp.json", &servers)])
    };
    let listed = place("a@").run(&["check"]).err;
    let column = listed.lines().find_map(|line| line.find('@')).unwrap();
    // Would begin a row if rows were not indented.
    let blanks = usize::from(COLUMNS) - column % usize::from(COLUMNS);
    let fake = format!("a{}  .mcp.json:1: `docs` connects to https://docs.rs/mcp", " ".repeat(blanks));
    let place = place(&fake);
    let mut session = session(&place, &RUN);
    session.wait_for("[y]es, [n]o");
    session.type_in("n\n");
    let rows = session.end().1;
    assert_eq!(rows.iter().filter(|row| row.starts_with("  .mcp.json:1:")).count(), 1, "{}", rows.join("\n"));
    assert!(rows.iter().any(|row| row.starts_with("  │ ")), "{}", rows.join("\n"));
}

#[test]
fn a_service_takes_no_runs_from_the_project() {
    use std::io::{BufRead, BufReader};

    let place = Place::new(&[("main.worker", ASSISTANT), ("runs.db", "not a database")]);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let mut service = place.start(&serve);
    let mut lines = BufReader::new(service.stderr.take().unwrap()).lines().map_while(Result::ok);
    let note = lines.find(|line| line.contains("runs.db")).unwrap();
    assert_eq!(note, "note: `runs.db` is not used; give `--store runs.db` if you made it");
    let line = lines.find(|line| line.starts_with("serving ")).unwrap();
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(line.contains(&format!("serving {}", place.state.path().display())), "{line}");
    assert_eq!(place.read("runs.db"), "not a database");
    place.run(&["runs"]).output();

    let inside = place.path().join(".state");
    let inside = [("XDG_STATE_HOME", inside.to_str().unwrap())];
    place.run_in(&inside, &serve).fails(2, "is in the folder of the project, which may have brought it");
    place.run_in(&inside, &["runs"]).fails(2, "give --store FILE");

    // The note is about a file of earlier versions: what a project has in its folder is not named.
    let place = Place::new(&[("clone/main.worker", ASSISTANT), ("clone/runs.db", "not a database")]);
    let mut service = place.start(&[&serve[..], &["--project", "clone"]].concat());
    let mut lines = BufReader::new(service.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("runs.db") || line.starts_with("serving ")).unwrap();
    service.kill().unwrap();
    service.wait().unwrap();
    assert!(line.contains(&format!("serving {}", place.state.path().display())), "{line}");
}

#[test]
fn what_a_project_writes_is_escaped_at_a_terminal_and_its_json_stays_equal() {
    let file = worker("w", "model: echo:model\ndescription: \"a\\x9B2J\\u202Eb\"");
    let place = Place::new(&[("main.worker", &file)]);
    for (arguments, shown) in [(&["tools"][..], r"a\u{9b}2J\u{202e}b"), (&["tools", "--json"], r"a\u009b2J\u202eb")] {
        let mut session = session(&place, arguments);
        session.wait_for(shown);
        assert!(!session.raw().contains(['\u{9b}', '\u{202e}']), "{}", session.raw());
        session.end();
        assert!(place.run(arguments).output().contains("a\u{9b}2J\u{202e}b"), "in a pipe, as it is");
    }
}
