//! Conversations in a terminal.

use std::fs;
use std::process::Command;

use tempfile::TempDir;

use super::session::{Session, Terminal};
use super::{PROMPT, text};

const WORKER: &str = "---\nname: assistant\nmodel: echo:model\ntools: [filesystem_project]\n---\nYou help.\n";

/// Starts a chat in a new project.
fn chat(folder: &TempDir) -> Session {
    chat_with(folder, WORKER)
}

fn chat_with(folder: &TempDir, worker: &str) -> Session {
    fs::write(folder.path().join("main.worker"), worker).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stock"));
    command.arg("chat").current_dir(folder.path()).env("LLM_DO_CHATS", folder.path().join("chats"));
    // Outside of the project, which could bring an agreement otherwise.
    let state = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder.path().file_name().unwrap());
    command.env("XDG_STATE_HOME", state);
    Terminal::open().run(command)
}

#[test]
fn a_pasted_text_of_several_lines_is_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("with `assistant`; /help lists the commands");
    session.wait_for("\r\n> ");
    session.type_in("one\ntwo\n");
    session.wait_for("echo 1: one");
    session.wait_for("\r\n> ");
    session.type_in("three\n");
    session.wait_for("echo 3: three");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.wait_for("to continue: chat --resume ");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
}

#[test]
fn what_is_typed_while_the_model_works_joins_the_conversation() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("wait one\n");
    session.wait_for("asks echo:model");
    session.type_in("two\n");
    session.wait_for("the model gets your message after what it does now");
    session.wait_for("echo 3: two");
    session.wait_for("\r\n> ");
    session.type_in("hang three\n");
    session.wait_for("asks echo:model");
    session.type_in("/cost\n");
    session.wait_for("commands wait until the answer is complete; Ctrl+C stops it");
    session.type_in("! four\n");
    session.wait_for("the model is interrupted, and gets your message");
    session.wait_for("echo 6: four");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.wait_for("to continue: chat --resume ");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
}

#[test]
fn what_is_typed_before_an_approval_joins_after_the_call_and_does_not_answer_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("wait call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for("asks echo:model");
    session.type_in("y\n");
    session.wait_for("the model gets your message after what it does now");
    session.wait_for(PROMPT);
    assert!(!folder.path().join("b.txt").exists(), "what was typed before does not answer it");
    session.type_in("y\n");
    session.wait_for("echo 4: y");
    session.wait_for("\r\n> ");
    assert_eq!(fs::read_to_string(folder.path().join("b.txt")).unwrap(), "b");
    session.type_in("\u{4}");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
}

#[test]
fn what_is_typed_while_a_tool_runs_joins_after_its_result() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat_with(&folder, &WORKER.replace("[filesystem_project]", "[shell]"));
    session.wait_for("\r\n> ");
    session.type_in("call shell {\"command\":\"sleep 3\"}\n");
    session.wait_for(PROMPT);
    session.type_in("y\n");
    std::thread::sleep(std::time::Duration::from_millis(500));
    session.type_in("two\n");
    session.wait_for("the model gets your message after what it does now");
    session.wait_for("echo 4: two");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
}

#[test]
fn the_user_is_asked_about_a_change_and_the_chat_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for(PROMPT);
    session.type_in("y\n");
    session.wait_for("result: ");
    session.wait_for("\r\n> ");
    assert_eq!(fs::read_to_string(folder.path().join("b.txt")).unwrap(), "b");
    session.type_in("\u{4}");
    let (code, rows) = session.end();
    assert_eq!(code, Some(0), "{}", text(&rows));
}

#[test]
fn an_approval_for_always_is_a_rule_in_a_file_that_the_user_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for(PROMPT);
    session.type_in("a\n");
    session.wait_for("each later call with exactly these arguments:");
    session.wait_for("\"content\": \"b\"");
    session.wait_for("Write it to which file? [policy.json] (n: go back): ");
    session.type_in("n\n");
    session.wait_for(PROMPT);
    session.type_in("a\n");
    session.wait_for("(n: go back): ");
    session.type_in("allowed.json\n");
    session.wait_for("written to allowed.json; to use it, give --policy allowed.json");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();

    let written = fs::read_to_string(folder.path().join("allowed.json")).unwrap();
    assert_eq!(written.matches("pre_approved").count(), 1, "{written}");
    let run = |content: &str| {
        let call = format!("call write_file {{\"path\":\"b.txt\",\"content\":\"{content}\"}}");
        let mut command = Command::new(env!("CARGO_BIN_EXE_stock"));
        command.args(["run", "--policy", "allowed.json", &call]).current_dir(folder.path());
        command.stdin(std::process::Stdio::null()).output().unwrap()
    };
    assert!(run("b").status.success(), "without a terminal, by the rule");
    assert!(!run("c").status.success(), "other arguments need approval");
}

const POLICY: &str = r#"{ "tools": { "project_write_file": "pre_approved" } }"#;

/// Writes a project whose policy approves calls.
fn approving(policy: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manifest = r#"{ "version": 1, "entry": { "agent": "assistant" }, "policy": "policy.json" }"#;
    fs::write(folder.path().join("project.json"), manifest).unwrap();
    fs::write(folder.path().join("policy.json"), policy).unwrap();
    folder
}

const QUESTION: &str = "Run these calls without asking, now and later? [y]es, [n]o: ";

#[test]
fn the_user_decides_once_whether_a_project_may_approve_calls() {
    let folder = approving(POLICY);
    let mut session = chat(&folder);
    session.wait_for("policy.json:1: every call of `project_write_file`");
    session.wait_for(QUESTION);
    session.type_in("y\n");
    for _ in 0..2 {
        session.wait_for("\r\n> ");
        session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
        session.wait_for("result: ");
        session.wait_for("\r\n> ");
        session.type_in("/quit\n");
        assert_eq!(session.end().0, Some(0));
        session = chat(&folder);
    }
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();
    // Another approval is another question.
    fs::write(folder.path().join("policy.json"), POLICY.replace("write", "edit")).unwrap();
    let mut session = chat(&folder);
    session.wait_for(QUESTION);
    session.type_in("\n");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();
}

#[test]
fn a_project_that_may_not_approve_calls_asks_about_each() {
    let folder = approving(POLICY);
    let mut session = chat(&folder);
    session.wait_for(QUESTION);
    session.type_in("n\n");
    session.wait_for("\r\n> ");
    session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for(PROMPT);
    session.type_in("n\n");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();
}

#[test]
fn a_rule_that_the_user_writes_into_the_projects_policy_needs_no_further_question() {
    let folder = approving("{}");
    let path = folder.path().join("policy.json");
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for(PROMPT);
    session.type_in("a\n");
    session.wait_for("(n: go back): ");
    session.type_in("y\n");
    session.wait_for("written to policy.json");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();
    assert!(!folder.path().join("y").exists(), "`y` is not the name of a file");
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o644, "the file keeps its permissions");
    }
    let mut session = chat(&folder);
    session.wait_for("\r\n> ");
    session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
    session.wait_for("result: ");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();
}

#[test]
fn the_user_decides_once_whether_the_servers_of_a_project_start() {
    let folder = tempfile::tempdir().unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/mcp/server.py");
    let servers = |flag: &str| {
        format!(
            r#"{{ "mcpServers": {{ "s": {{ "command": "python3", "args": ["{script}", "starts=started{flag}"] }} }} }}"#
        )
    };
    let started = |flag: &str| folder.path().join(format!("started{flag}")).exists();
    fs::write(folder.path().join(".mcp.json"), servers("1")).unwrap();
    let mut asked = Vec::new();
    // A server starts for the runs that can use it.
    let uses_it = WORKER.replace("[filesystem_project]", "[filesystem_project, mcp__s]");
    for (answer, worker) in [("n\n", WORKER), ("y\n", &uses_it)] {
        let mut session = chat_with(&folder, worker);
        session.wait_for("Files of the project name MCP servers, which run with your rights:");
        session.wait_for("Start them, now and later? [y]es, [n]o: ");
        asked.push(started("1"));
        session.type_in(answer);
        session.wait_for("\r\n> ");
        asked.push(started("1"));
        session.type_in("/quit\n");
        session.end();
    }
    assert_eq!(asked, [false, false, false, true]);
    // The answer is remembered for this command line, and for no other.
    let mut session = chat_with(&folder, &uses_it);
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();
    fs::write(folder.path().join(".mcp.json"), servers("2")).unwrap();
    let mut session = chat(&folder);
    session.wait_for("Start them, now and later? [y]es, [n]o: ");
    session.type_in("n\n");
    session.wait_for("\r\n> ");
    session.type_in("/quit\n");
    session.end();
    assert!(!started("2"));
}

#[cfg(unix)]
#[test]
fn a_rule_is_written_through_no_link_of_the_project_and_into_no_pipe() {
    let outside = tempfile::tempdir().unwrap();
    let precious = outside.path().join("policy.json");
    fs::write(&precious, "{}").unwrap();
    let links = [("it is a link to ", Some(precious.as_path())), ("it is a link to ", Some("/dev/zero".as_ref()))];
    for (fault, target) in links.into_iter().chain([("not a file: ", None)]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        match target {
            Some(target) => std::os::unix::fs::symlink(target, path).unwrap(),
            None => assert!(Command::new("mkfifo").arg(path).status().unwrap().success()),
        }
        let mut session = chat(&folder);
        session.wait_for("\r\n> ");
        session.type_in("call write_file {\"path\":\"b.txt\",\"content\":\"b\"}\n");
        session.wait_for(PROMPT);
        session.type_in("a\n");
        session.wait_for("(n: go back): ");
        session.type_in("\n");
        session.wait_for(&format!("the rule is not written: {fault}"));
        session.wait_for(PROMPT);
        session.type_in("n\n");
        session.wait_for("\r\n> ");
        session.type_in("/quit\n");
        session.end();
    }
    assert_eq!(fs::read_to_string(precious).unwrap(), "{}");
}
