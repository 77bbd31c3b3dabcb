//! A worker with the file and shell tools edits a small project, and the user decides about each change.

use std::fs;
use std::process::Command;

use super::session::Terminal;
use super::{PROMPT, text};

#[test]
fn the_user_approves_for_the_session_denies_with_a_reason_and_edits() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    fs::create_dir(project.join("src")).unwrap();
    fs::write(project.join("src/greet.txt"), "Hello,\nworld!\n").unwrap();
    fs::write(project.join("LICENSE"), "free\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coder"));
    command.args(["run", "--tool", "coder", "-v", "Greet politely."]).current_dir(project).env_remove("LLM_DO_MODEL");
    let mut session = Terminal::open().run(command);

    session.wait_for("edit src/greet.txt");
    session.wait_for("-Hello,");
    session.wait_for("+Good day,");
    session.wait_for(PROMPT);
    assert_eq!(fs::read_to_string(project.join("src/greet.txt")).unwrap(), "Hello,\nworld!\n", "not before the answer");
    session.type_in("y\n");

    session.wait_for("run touch built");
    session.wait_for("WITHOUT a sandbox");
    session.wait_for(PROMPT);
    session.type_in("s\n");

    // The second, equal command is not asked about.
    session.wait_for("delete LICENSE");
    session.wait_for("-free");
    session.wait_for(PROMPT);
    session.type_in("n the license stays\n");

    session.wait_for("write notes.md");
    session.wait_for("+draft");
    session.wait_for(PROMPT);
    session.type_in("e\n");
    session.wait_for("(empty: go back): ");
    session.type_in("{\"path\":\"NOTES.md\",\"content\":\"final\\n\"}\n");

    let (code, rows) = session.end();
    let shown = text(&rows);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("The project is edited."), "{shown}");
    assert!(shown.replace('\n', "").contains("denied: the license stays"), "the model learns the reason: {shown}");
    assert_eq!(shown.matches("Approve?").count(), 4, "{shown}");
    assert_eq!(fs::read_to_string(project.join("src/greet.txt")).unwrap(), "Good day,\nworld!\n");
    assert!(project.join("built").exists() && project.join("LICENSE").exists());
    assert_eq!(fs::read_to_string(project.join("NOTES.md")).unwrap(), "final\n");
    assert!(!project.join("notes.md").exists());
}

#[test]
fn the_user_stops_the_run_and_sees_the_effects_that_it_made() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path();
    fs::create_dir(project.join("src")).unwrap();
    fs::write(project.join("src/greet.txt"), "Hello,\nworld!\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_coder"));
    command.args(["run", "--tool", "coder", "Greet politely."]).current_dir(project).env_remove("LLM_DO_MODEL");
    let mut session = Terminal::open().run(command);

    session.wait_for("edit src/greet.txt");
    session.wait_for(PROMPT);
    session.type_in("y\n");
    session.wait_for("run touch built");
    session.wait_for(PROMPT);
    session.type_in("t not here\n");

    let (code, rows) = session.end();
    let shown = text(&rows).replace('\n', "");
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("denied: not here"), "{shown}");
    let (_, effects) = shown.split_once("effects that the run made:").expect("the list follows the error");
    assert!(effects.contains("edit_file {") && effects.contains("Good day"), "{effects}");
    assert!(!effects.contains("touch built") && !effects.contains("read_file"), "{effects}");
    assert!(!project.join("built").exists());
}
