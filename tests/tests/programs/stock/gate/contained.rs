//! No path, link or convention leads outside of the folder of a project.

#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::{ASSISTANT, Place, worker};

const SECRET: &str = "the-secret-of-the-user";

/// A project in a folder of a user, beside what must not be read.
fn place() -> Place {
    let skill = format!("---\nname: private\ndescription: {SECRET}\n---\n{SECRET}\n");
    Place::new(&[
        ("secret.txt", SECRET),
        ("private/SKILL.md", &skill),
        ("other/w.worker", &worker(SECRET, "model: echo:model")),
        ("other/AGENTS.md", SECRET),
        ("AGENTS.md", SECRET),
        ("mcp.json", r#"{ "mcpServers": { "outside": { "command": "the-secret-of-the-user" } } }"#),
        ("config.yaml", "model: openai:the-secret-of-the-user\n"),
        ("policy.json", r#"{ "tools": { "project_write_file": "pre_approved" } }"#),
        (
            "hello.py",
            "def hello() -> str:\n    \"\"\"the-secret-of-the-user\"\"\"\n    return 'the-secret-of-the-user'\n",
        ),
        ("project/main.worker", ASSISTANT),
    ])
}

/// Asserts that the secret of the user is not shown, and that a command does not hang.
fn is_contained(place: &Place, what: &str) {
    for command in [&["run", "--project", "project", "hello"][..], &["check", "--project", "project"]] {
        let answer = place.run(command);
        let texts = answer.out.clone() + &answer.err;
        assert!(!texts.contains(SECRET), "{what}: {answer:?}");
        let is_named =
            answer.err.contains("outside of the project's folder") || answer.err.contains("link to a folder");
        assert!(is_named, "{what}: {answer:?}");
    }
}

#[test]
fn links_lead_nowhere_outside() {
    for (link, target) in [
        ("project/w.worker", "../other/w.worker"),
        ("project/workers", "../other"),
        ("project/tools", ".."),
        ("project/tools/hello.py", "../../hello.py"),
        ("project/skills", ".."),
        ("project/skills/private", "../../private"),
        ("project/.claude/skills/private", "../../../private"),
        ("project/.claude/agents", "../../other"),
        ("project/.mcp.json", "../mcp.json"),
        ("project/.llm-do/config.yaml", "../../config.yaml"),
        ("project/.llm-do", ".."),
        ("project/project.json", "../policy.json"),
        ("project/workers/inner", "../../other"),
    ] {
        let place = place();
        let link = place.path().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        is_contained(&place, target);
        std::fs::remove_file(&link).unwrap();
        // By way of another link, and by an absolute path.
        let real = link.parent().unwrap().join(target).canonicalize().unwrap();
        let first = place.path().join("project/first-link");
        symlink(real, &first).unwrap();
        symlink(&first, &link).unwrap();
        is_contained(&place, target);
    }
}

#[test]
fn paths_lead_nowhere_outside() {
    let manifest = |keys: &str| format!(r#"{{ "version": 1, "entry": {{ "agent": "assistant" }}, {keys} }}"#);
    let place = place();
    let absolute = |name: &str| place.path().join(name).display().to_string();
    let up = "../project/../other/w.worker";
    for keys in [
        format!(r#""agent_files": ["main.worker", "{up}"]"#),
        format!(r#""agent_files": ["main.worker", "{}"]"#, absolute("other/w.worker")),
        r#""policy": "../policy.json""#.to_owned(),
        format!(r#""policy": "{}""#, absolute("policy.json")),
        r#""generated_agents_dir": "../made""#.to_owned(),
        r#""generated_agents_dir": "made/../../made""#.to_owned(),
        format!(r#""generated_agents_dir": "{}""#, absolute("made")),
        r#""generated_agents_dir": "~/made""#.to_owned(),
    ] {
        place.write("project/project.json", &manifest(&keys));
        is_contained(&place, &keys);
    }
    std::fs::remove_file(place.path().join("project/project.json")).unwrap();
    for script in ["../../hello.py".to_owned(), absolute("hello.py")] {
        place.write("project/tools/t.tool", &format!("type: script\nname: t\nscript: {script}\n"));
        is_contained(&place, &script);
    }
}

#[test]
fn an_agents_md_above_the_root_is_not_read() {
    let place = place();
    let file = worker("assistant", "model: echo:model\ncontext: agents_md");
    place.write("project/main.worker", &file);
    for command in [&["run", "--project", "project", "hello"][..], &["run", "project/main.worker", "hello"]] {
        place.run(command).fails(1, "no `AGENTS.md` in the folder of this file");
    }
    symlink("../AGENTS.md", place.path().join("project/AGENTS.md")).unwrap();
    is_contained(&place, "AGENTS.md");
}

#[test]
fn attachments_of_a_manifest_stay_inside() {
    let place = place();
    let absolute = place.path().join("secret.txt").display().to_string();
    symlink("../secret.txt", place.path().join("project/link.txt")).unwrap();
    for path in ["../secret.txt", &absolute, "link.txt"] {
        let entry = format!(r#"{{ "agent": "assistant", "args": {{ "input": "a", "attachments": ["{path}"] }} }}"#);
        place.write("project/project.json", &format!(r#"{{ "version": 1, "entry": {entry} }}"#));
        let answer = place.run(&["run", "--project", "project"]);
        assert_eq!(answer.code, Some(1), "{path}: {answer:?}");
        assert!(!answer.err.contains(SECRET), "{path}: {answer:?}");
    }
}

/// Runs a worker with tools of the working directory, from the folder of the user.
fn of_working_directory(place: &Place, path: &str, options: &[&str]) -> String {
    let call = format!("call read_file {{\"path\":\"{path}\"}}");
    let answer = place.run(&[&["run", "--project", "project", &call], options].concat());
    answer.out + &answer.err
}

#[test]
fn tools_of_the_working_directory_use_the_root_of_the_project_or_the_folder_of_the_user() {
    for tools in ["filesystem_cwd_ro", "filesystem_cwd"] {
        let place = place();
        place.write("project/main.worker", &worker("assistant", &format!("model: echo:model\ntools: [{tools}]")));
        place.write("project/own.txt", "own text");
        place.write(".ssh/id", SECRET);
        assert!(of_working_directory(&place, "own.txt", &[]).contains("own text"));
        for path in ["secret.txt", ".ssh/id", "../.ssh/id", "../secret.txt"] {
            let answer = of_working_directory(&place, path, &[]);
            assert!(!answer.contains(SECRET), "{answer}");
        }
        // By its path, as a single file.
        let call = "call read_file {\"path\":\".ssh/id\"}";
        let answer = place.run(&["run", "project/main.worker", call]);
        assert!(!(answer.out + &answer.err).contains(SECRET));
        let given = of_working_directory(&place, "secret.txt", &["--files", "."]);
        assert!(given.contains(SECRET), "the user names the folder: {given}");
    }
}

#[test]
fn special_and_huge_files_are_errors_without_waiting() {
    let fifo = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    for name in
        ["w.worker", "workers/w.worker", "project.json", ".mcp.json", ".llm-do/config.yaml", "t.tool", "AGENTS.md"]
    {
        let place = Place::new(&[("main.worker", &worker("assistant", "model: echo:model\ncontext: agents_md"))]);
        place.write("workers/x.txt", "");
        place.write(".llm-do/x.txt", "");
        fifo(&place.path().join(name));
        let answer = place.run(&["run", "hello"]);
        assert_ne!(answer.code, Some(0), "{name}: {answer:?}");
        std::fs::remove_file(place.path().join(name)).unwrap();
        std::fs::File::create(place.path().join(name)).unwrap().set_len(1 << 40).unwrap();
        let answer = place.run(&["run", "hello"]);
        assert_ne!(answer.code, Some(0), "{name}: {answer:?}");
    }
}

#[test]
fn values_that_are_given_twice_are_faults() {
    let place = Place::new(&[("main.worker", ASSISTANT)]);
    for (path, text) in [
        ("w.worker", "---\nname: w\nmodel: echo:model\nmodel: openai:gpt-5\n---\nGo.\n"),
        ("project.json", r#"{ "version": 1, "entry": { "agent": "assistant" }, "policy": {}, "policy": "p.json" }"#),
        (".llm-do/config.yaml", "model: echo:model\nmodel: openai:x\n"),
    ] {
        place.write(path, text);
        let answer = place.run(&["run", "hello"]);
        assert_ne!(answer.code, Some(0), "{path}");
        assert!(answer.err.contains("duplicate"), "{path}: {answer:?}");
        std::fs::remove_file(place.path().join(path)).unwrap();
    }
    // A file of other programs is left out.
    place.write(".mcp.json", r#"{ "mcpServers": {}, "mcpServers": { "s": { "command": "evil" } } }"#);
    let answer = place.run(&["run", "hello"]);
    assert!(answer.err.contains("warning: .mcp.json") && answer.err.contains("duplicate"), "{answer:?}");
    assert_eq!(answer.output(), "echo 1: hello\n");
}
