//! New projects and applications, and what is made from the commands.

use std::process::Command;

use super::Place;

#[test]
fn a_new_project_is_checked_and_runs() {
    let place = Place::new(&[]);
    let out = place.run(&["init", "notes"]).output();
    assert!(out.starts_with("notes/main.worker\nnotes/AGENTS.md\nnotes/project.json\nnext:\n  cd notes\n"), "{out}");
    assert_eq!(
        place.run(&["check", "--project", "notes", "--model", "echo:model"]).output(),
        "ok (entries: 0, workers: 1, tools: 24)\n"
    );
    let list = place.run(&["run", "--project", "notes", "--model", "echo:model", "call list_files {}"]).output();
    assert_eq!(list, "result: AGENTS.md\nmain.worker\nproject.json\n");
}

#[test]
fn no_file_is_overwritten() {
    let place = Place::new(&[("AGENTS.md", "mine")]);
    place.run(&["init"]).fails(1, "nothing is written, since files exist: ./AGENTS.md");
    assert_eq!(place.read("AGENTS.md"), "mine");
    assert!(!place.path().join("main.worker").exists());
}

#[test]
fn a_new_application_has_the_name_of_its_folder() {
    let place = Place::new(&[]);
    place.run(&["init", "--app", "My Tools"]).output();
    assert!(place.read("My Tools/Cargo.toml").contains("name = \"my-tools\"\n"));
    // This workspace builds the same file as the program `init_app`.
    assert_eq!(place.read("My Tools/src/main.rs"), include_str!("../../../../llm-do/cli/templates/main.rs"));
    let output =
        Command::new(env!("CARGO_BIN_EXE_init_app")).args(["call", "shout", "--text", "hello"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "HELLO\n");
}

#[test]
fn completions_and_the_manual_page_contain_every_command() {
    let place = Place::new(&[]);
    for words in [&["completions", "bash"][..], &["completions", "zsh"], &["completions", "fish"], &["man"]] {
        let out = place.run(words).output();
        for command in ["run", "call", "chat", "tools", "check", "config", "init", "journal", "harden"] {
            assert!(out.contains(command), "{words:?}: no `{command}`");
        }
    }
}

/// Each shell that is installed reads its script without running it.
#[test]
fn shells_accept_their_completions() {
    let place = Place::new(&[]);
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        place.write(shell, &place.run(&["completions", shell]).output());
        let Ok(output) = Command::new(shell).arg(check).arg(place.path().join(shell)).output() else { continue };
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
    }
}

/// Where `groff` is installed, it formats the page without a warning.
#[test]
fn the_manual_page_is_formatted_without_warnings() {
    let place = Place::new(&[]);
    let page = place.run(&["man"]).output();
    assert!(page.contains(".TH stock 1"), "{page}");
    place.write("stock.1", &page);
    let groff = ["-man", "-Tutf8", "-ww", "-z", "stock.1"];
    let Ok(output) = Command::new("groff").args(groff).current_dir(place.path()).output() else { return };
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    let place = Place::new(&[]);
    for folder in ["app", "outside"] {
        std::fs::create_dir(place.path().join(folder)).unwrap();
    }
    std::os::unix::fs::symlink(place.path().join("outside"), place.path().join("app/src")).unwrap();
    let answer = place.run(&["init", "--app", "app"]);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert!(answer.err.contains("cannot write app/src/main.rs: it is a link to "), "{answer:?}");
    assert!(!place.path().join("outside/main.rs").exists());
}
