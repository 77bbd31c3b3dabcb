//! How a command is split and started.

use super::Project;

#[tokio::test]
async fn quotes_are_those_of_a_posix_shell() {
    let answer = Project::plain().approved(r#"printf '%s|' 'a b' "c d" e\ f '$HOME' ''"#).await.unwrap();
    assert_eq!(answer, "exit status: 0\nstdout:\na b|c d|e f|$HOME||");
}

#[tokio::test]
async fn what_only_a_shell_can_do_is_refused_with_advice() {
    let project = Project::plain();
    for command in [
        "cat a | sh",
        "cat a; rm b",
        "cat a && rm b",
        "cat a & rm b",
        "cat > b",
        "cat < a",
        "cat $HOME",
        "cat \"$HOME\"",
        "cat `id`",
        "cat \"`id`\"",
        "cat $(id)",
        "ls *",
        "ls a?",
        "ls [ab]",
        "ls ~",
        "cat a\nrm b",
        "(ls)",
        "A=b ls",
        "ls # a",
    ] {
        let error = project.approved(command).await.unwrap_err();
        assert!(error.contains("separate call for each command"), "{command:?}: {error}");
    }
}

#[tokio::test]
async fn an_invalid_command_is_refused() {
    let project = Project::plain();
    for (command, fault) in
        [("", "is empty"), ("  ", "is empty"), ("''", "is empty"), ("cat 'a", "not closed"), ("cat a\0b", "NUL")]
    {
        let error = project.approved(command).await.unwrap_err();
        assert!(error.contains(fault), "{command:?}: {error}");
    }
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let error = Project::plain().approved("no-such-program --help").await.unwrap_err();
    assert!(error.contains("program not found: `no-such-program`"), "{error}");
}

#[tokio::test]
async fn the_exit_status_or_the_signal_and_both_streams_are_returned() {
    let project = Project::plain();
    let answer = project.approved("sh -c 'echo out; echo err >&2; exit 3'").await.unwrap();
    assert_eq!(answer, "exit status: 3\nstdout:\nout\n\nstderr:\nerr\n");
    assert_eq!(project.approved("sh -c 'kill -TERM $$'").await.unwrap(), "killed by signal 15");
}

#[tokio::test]
async fn secrets_of_the_environment_are_not_passed_on() {
    let project = Project::plain();
    let answer = project.approved("env").await.unwrap();
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !answer.contains("CARGO_MANIFEST_DIR"), "{answer}");
    assert!(answer.contains("PATH="));
}

#[tokio::test]
async fn a_command_has_no_input_and_runs_in_the_project() {
    let project = Project::plain();
    assert_eq!(project.approved("cat").await.unwrap(), "exit status: 0");
    let root = project.root().canonicalize().unwrap();
    assert_eq!(project.approved("pwd -P").await.unwrap(), format!("exit status: 0\nstdout:\n{}\n", root.display()));
}
