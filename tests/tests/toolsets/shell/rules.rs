//! Which commands need approval.

use llm_do::toolsets::shell::{Sandbox, Shell};
use proptest::prelude::*;

use super::Project;

#[tokio::test]
async fn reading_commands_need_no_approval() {
    let project = Project::plain();
    for command in [
        "cat a.txt",
        "cat -n a.txt",
        "head -n 1 a.txt",
        "head -1 a.txt",
        "tail -n1 a.txt",
        "wc -l a.txt",
        "ls -la",
        "grep -rn 'o|t' .",
        "sort -r a.txt",
        "sort -t , -k 1 a.txt",
        "uniq -c a.txt",
        "pwd",
        "find . -name '*.txt' -size -5k",
    ] {
        assert!(project.unasked(command).await.is_ok(), "{command}");
    }
}

#[tokio::test]
async fn options_that_write_or_run_need_approval() {
    let project = Project::plain();
    for command in [
        "sort -o b a.txt",
        "sort -ob a.txt",
        "sort -ro b a.txt",
        "sort a.txt -o b",
        "sort --output=b a.txt",
        "sort --outp=b a.txt",
        "sort -k 1 --compress-program=sh a.txt",
        "sort -t -o b",
        "sort -T . a.txt",
        "uniq a.txt b",
        "uniq -c a.txt b",
        "uniq -- a.txt b",
        "find . -delete",
        "find . -exec rm {} +",
        "find . -execdir rm {} +",
        "find . -ok rm {} +",
        "find . -okdir rm {} +",
        "find . -fprint b",
        "find . -fprintf b x",
        "find . -fls b",
        "find . -name -delete",
        "tail -f a.txt",
        "/tmp/cat a.txt",
        "./cat a.txt",
    ] {
        assert!(project.needs_approval(command).await, "{command}");
    }
}

#[tokio::test]
async fn programs_that_run_programs_need_approval() {
    let project = Project::plain();
    for command in
        ["sh -c id", "env cat a.txt", "xargs cat", "awk 1 a.txt", "sed -n 1p a.txt", "tar -cf b a.txt", "nice ls"]
    {
        assert!(project.needs_approval(command).await, "{command}");
    }
}

#[tokio::test]
async fn without_a_sandbox_reading_elsewhere_needs_approval() {
    let project = Project::plain();
    for command in [
        "cat ../secret.txt",
        "cat /etc/passwd",
        "ls ..",
        "grep -f/etc/passwd a.txt",
        "grep --include=/etc/x -r a",
        "git log",
    ] {
        assert!(project.needs_approval(command).await, "{command}");
    }
}

#[tokio::test]
async fn an_allowed_command_runs_with_further_arguments_unless_it_runs_programs() {
    let settings = Shell::new().sandbox(Sandbox::Off).allow("touch b").allow("sh run.sh").allow("sort");
    let project = Project::new(settings);
    assert!(project.unasked("touch b c").await.is_ok());
    assert!(project.needs_approval("touch c").await, "the words must be those of the rule");
    assert!(project.unasked("sh run.sh").await.is_ok());
    assert!(project.needs_approval("sh run.sh --more").await);
    assert!(project.needs_approval("sort -o b a.txt").await, "options of listed programs are still checked");
}

/// Returns the texts in code quotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns whether a command needs approval where this rule allows commands.
async fn is_asked_despite(rule: &str, command: &str) -> bool {
    Project::new(Shell::new().sandbox(Sandbox::Off).allow(rule)).needs_approval(command).await
}

#[tokio::test]
async fn each_documented_program_and_option_that_starts_a_program_needs_approval() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../llm-do/toolsets/docs/shell.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, section) = page.split_once("only exactly the words of a rule are allowed:\n").unwrap();
    let (runners, table) = section.split_once("\n\n").unwrap();
    let mut checked = 0;
    for program in quoted(runners) {
        // Reading with `find` needs no rule.
        let argument = if program == "find" { "-delete" } else { "x" };
        assert!(is_asked_despite(&program, &format!("{program} {argument}")).await, "{program}");
        checked += 1;
    }
    let (table, _) = table.split_once("\n\n`NAME=VALUE`").unwrap();
    for row in table.lines().filter(|line| line.starts_with("| `")).map(quoted) {
        for option in &row[1..] {
            let command = format!("{} {option} x", row[0]);
            assert!(is_asked_despite(&row[0], &command).await, "{command}");
            checked += 1;
        }
    }
    assert!(checked > 250, "{checked}");
}

#[tokio::test]
async fn programs_that_start_programs_are_known_by_any_spelling() {
    for (rule, command) in [
        ("/usr/bin/env", "/usr/bin/env touch b"),
        ("python3.11", "python3.11 -c pass"),
        ("/usr/bin/perl5.36", "/usr/bin/perl5.36 -e 1"),
        ("./tool", "./tool touch b"),
        ("/usr/bin/sort", "/usr/bin/sort -o b a.txt"),
        ("/usr/bin/sort", "/usr/bin/sort --compress-program=sh a.txt"),
        ("/usr/bin/find", "/usr/bin/find . -exec touch b +"),
        ("/usr/bin/git", "/usr/bin/git -c core.pager=sh log"),
        ("tar", "tar -cf b --checkpoint=1 --checkpoint-action=exec=sh a.txt"),
    ] {
        let project = Project::new(Shell::new().sandbox(Sandbox::Off).allow(rule));
        std::os::unix::fs::symlink("/usr/bin/env", project.root().join("tool")).unwrap();
        assert!(project.needs_approval(command).await, "{command}");
    }
}

#[tokio::test]
async fn a_rule_allows_the_same_program_by_its_path_and_no_other_of_its_name() {
    let project = Project::new(Shell::new().sandbox(Sandbox::Off).allow("touch b"));
    let path = std::env::var_os("PATH").unwrap();
    let touch = std::env::split_paths(&path).map(|folder| folder.join("touch")).find(|file| file.exists()).unwrap();
    assert!(project.unasked(&format!("{} b", touch.display())).await.is_ok());
    std::fs::copy(touch, project.root().join("touch")).unwrap();
    assert!(project.needs_approval("./touch b").await);
}

#[tokio::test]
async fn a_rule_refuses_a_program_by_any_spelling() {
    for (rule, command) in [
        ("python", "python3.11 a.py"),
        ("python3", "/usr/bin/python3.12 a.py"),
        ("/bin/rm", "rm a.txt"),
        ("rm", "./remove a.txt"),
    ] {
        let project = Project::new(Shell::new().sandbox(Sandbox::Off).deny(rule));
        std::os::unix::fs::symlink("/bin/rm", project.root().join("remove")).unwrap();
        let error = project.approved(command).await.unwrap_err();
        assert!(error.contains(&format!("refuses commands that begin with `{rule}`")), "{error}");
    }
    let project = Project::new(Shell::new().sandbox(Sandbox::Off).deny("python3"));
    assert!(!project.approved("pythonic").await.unwrap_err().contains("refuses"));
}

#[tokio::test]
async fn a_refused_command_does_not_run_even_if_all_calls_are_approved() {
    let project = Project::new(Shell::new().sandbox(Sandbox::Off).deny("rm"));
    for command in ["rm a.txt", "/bin/rm a.txt", "'r'm -f a.txt"] {
        let error = project.approved(command).await.unwrap_err();
        assert!(error.contains("refuses commands that begin with `rm`"), "{error}");
    }
    assert!(project.root().join("a.txt").exists());
}

#[tokio::test]
async fn without_a_sandbox_each_command_needs_approval_unless_the_application_turned_it_off() {
    // The root of the file system has no sandbox.
    let project = Project::new(Shell::new().root("/").allow("touch b"));
    assert!(project.needs_approval("cat a.txt").await && project.needs_approval("touch b").await);
    assert!(project.approved("/bin/cat /etc/hostname").await.is_ok());
}

#[tokio::test]
async fn a_required_sandbox_that_does_not_work_fails_each_command() {
    let project = Project::new(Shell::new().root("/").sandbox(Sandbox::Required));
    let error = project.approved("cat a.txt").await.unwrap_err();
    assert!(error.contains("requires a sandbox"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_quoted_word_reaches_the_program_as_it_is(word in "[^\\x00'\r]{0,40}") {
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = tokio.block_on(Project::plain().approved(&format!("printf '%s.' '{word}'"))).unwrap();
        prop_assert_eq!(answer, format!("exit status: 0\nstdout:\n{word}."));
    }

    #[test]
    fn no_command_that_needs_no_approval_changes_a_file(
        program in "sort|uniq|cat|find|grep|tail",
        words in proptest::collection::vec("(-o|-ob|--output=b|--out=b|-t|-k|-rob|--|-|b|a\\.txt|-fprint|-delete|-f|-[a-z]{1,3})", 0..5),
    ) {
        let project = Project::plain();
        let command = format!("{program} {}", words.join(" "));
        let tokio = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        drop(tokio.block_on(project.unasked(&command)));
        let names = std::fs::read_dir(project.root()).unwrap().count();
        let content = std::fs::read_to_string(project.root().join("a.txt")).unwrap();
        prop_assert_eq!((names, content.as_str()), (2, "two\none\n"), "{}", command);
    }
}
