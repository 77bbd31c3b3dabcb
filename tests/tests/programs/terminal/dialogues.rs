//! Complete dialogues that a new user of the command line sees.

use std::process::Command;

use super::session::{Session, Terminal};
use super::{PROMPT, text};

/// The application, in an environment that sets no model.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_first_use"));
    command.args(arguments).env_remove("LLM_DO_MODEL").env_remove("FORGET_STATE");
    command
}

fn start(command: Command) -> Session {
    Terminal::open().run(command)
}

/// Asserts the exit code and the complete contents of the terminal.
#[track_caller]
fn ends(session: Session, code: i32, transcript: &str) {
    let (actual, rows) = session.end();
    assert_eq!((actual, text(&rows).as_str()), (Some(code), transcript.trim_start()));
}

#[test]
fn after_a_denial_by_the_user_the_error_does_not_advise_approve_all() {
    let mut session = start(command(&["run", "buy", "tea"]));
    session.wait_for(PROMPT);
    session.type_in("n\n");
    ends(
        session,
        1,
        r#"
`buy` wants to call order(article="tea")
Approve? [y]es, [s]ession, [a]lways, [n]o and why, s[t]op, [e]dit, [d]etails: n
error: `buy` failed: call to `order` denied: the user answered no"#,
    );
}

#[test]
fn after_a_denial_by_the_user_the_run_is_not_offered_to_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join("j");
    let run = ["run", "--journal", journal.to_str().unwrap(), "buy", "tea"];
    let mut session = start(command(&run));
    session.wait_for(PROMPT);
    session.type_in("n\n");
    let (code, rows) = session.end();
    let shown = text(&rows).replace('\n', "");
    assert_eq!(code, Some(1));
    assert!(shown.contains("the answer is recorded in `") && !shown.contains("resume"), "{shown}");

    let (code, rows) = start(command(&run)).end();
    let shown = text(&rows).replace('\n', "");
    assert_eq!(code, Some(1), "without a question");
    assert!(shown.contains("call to `order` denied: the user answered no"), "{shown}");
}

#[test]
fn with_reject_all_the_error_does_not_advise_approve_all() {
    let session = start(command(&["run", "--reject-all", "buy", "tea"]));
    ends(
        session,
        1,
        r"
error: `buy` failed: call to `order` denied: the approval mode rejects every cal
l that needs approval",
    );
}

#[test]
fn without_a_model_the_error_explains_where_to_set_one() {
    let session = start(command(&["run", "advertise", "tea"]));
    ends(
        session,
        1,
        r"
error: no model for the worker `praise`: set `LLM_DO_MODEL` or the option `--mod
el` to `provider:model`, or `model` of the runtime or the worker; nothing ran, s
ince `advertise` may call `praise`",
    );
}

#[test]
fn without_state_the_error_names_the_type_and_where_to_set_it() {
    let mut forgetful = command(&["run", "buy", "tea"]);
    forgetful.env("FORGET_STATE", "1");
    let session = start(forgetful);
    ends(
        session,
        1,
        r"
error: missing state; set it with `Cli::new().configure(|builder| builder.state(
..))`:
  `Stock` for `price`",
    );
}

#[test]
fn a_tool_named_in_place_of_an_entry_is_an_error_that_names_the_option_and_then_the_arguments() {
    for (arguments, transcript) in [
        (&["run", "price"][..], "error: `price` is a tool: use `--tool price`"),
        (&["run", "price", "tea"], "error: `price` is a tool: use `--tool price`"),
        (&["run", "praise", "tea"], "error: `praise` is a worker: use `--tool praise`"),
        (
            &["run", "--tool", "price", "tea"],
            r#"
error: `price` takes several arguments: use --input-json '{"article":"…","count"
:1}'"#,
        ),
    ] {
        ends(start(command(arguments)), 2, transcript);
    }
    let json = r#"{"article":"tea","count":2}"#;
    ends(start(command(&["run", "--tool", "price", "--input-json", json])), 0, "700");
}
