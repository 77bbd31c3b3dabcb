//! Programs of a project that servers run: a changed one is asked about again, however the command names it.

use super::agreement::{RUN, session};
use super::{ASSISTANT, Place, USES_SERVER, is_refused};

/// A program and its arguments.
type Command<'a> = (&'a str, &'a [&'a str]);

const ANY: &str = "it may run any file of the project";

/// A project with a server of this command, which does not speak MCP.
fn place(command: &str, arguments: &[&str]) -> Place {
    let servers = serde_json::json!({ "mcpServers": { "s": { "command": command, "args": arguments } } });
    Place::new(&[("main.worker", USES_SERVER), (".mcp.json", &servers.to_string()), ("own/run.py", "print(1)\n")])
}

/// Agrees to the project; the command fails after the start of its server.
fn agree(place: &Place) {
    let mut session = session(place, &RUN);
    session.wait_for("[y]es, [n]o");
    session.type_in("y\n");
    let is_clipped = place.read(".mcp.json").len() > 2000;
    if is_clipped {
        session.wait_for("All of it:");
        session.wait_for("[y]es, [n]o: ");
        session.type_in("y\n");
    }
    assert_eq!(session.end().0, Some(1));
    place.run(&RUN).fails(1, "MCP server");
}

#[test]
fn a_changed_program_is_asked_about_however_the_command_names_it() {
    let many = format!("true {}; python3 own/run.py", "x ".repeat(2000));
    let commands: &[Command<'_>] = &[
        ("python3", &["own/run.py"]),
        ("env", &["python3", "own/run.py"]),
        ("timeout", &["9", "python3", "own/run.py"]),
        ("sh", &["-c", "python3 own/r?n.py"]),
        ("sh", &["-c", "python3 own/r\"u\"n.py"]),
        ("sh", &["-c", "cd own; python3 run.py"]),
        ("sh", &["-c", &many]),
        ("python3", &["-c", "import runpy; runpy.run_path('own/' + 'run' + '.py')"]),
    ];
    for (command, arguments) in commands {
        let place = place(command, arguments);
        agree(&place);
        place.write("own/run.py", "print(2)\n");
        is_refused(place.run(&RUN), "changed since you agreed: own/run.py");
        place.write("own/run.py", "print(1)\n");
        place.write("own/added.py", "print(1)\n");
        is_refused(place.run(&RUN), "changed since you agreed: own/added.py");
    }
}

#[test]
fn a_command_of_another_form_is_named_as_one_that_may_run_any_file() {
    let commands: [Command<'_>; 3] =
        [("env", &["sh", "own/lib.inc"]), ("make", &["-f", "own/x"]), ("sh", &["-c", ". own/lib.inc"])];
    for (command, arguments) in commands {
        is_refused(place(command, arguments).run(&RUN), ANY);
    }
    let servers =
        r#"{ "mcpServers": { "s": { "command": "python3", "args": ["own/run.py"], "env": { "PYTHONPATH": "x" } } } }"#;
    let place = place("python3", &["own/run.py"]);
    let of_known_form = place.run(&RUN);
    assert!(!of_known_form.err.contains(ANY), "{of_known_form:?}");
    is_refused(of_known_form, "`own/run.py`; changes of other files that it loads are not noticed");
    place.write(".mcp.json", servers);
    is_refused(place.run(&RUN), ANY);
}

#[test]
fn data_of_a_server_is_not_asked_about() {
    let commands: [Command<'_>; 2] =
        [("python3", &["own/run.py", "own/notes.db"]), ("env", &["python3", "own/run.py", "own/notes.db"])];
    for (command, arguments) in commands {
        let place = place(command, arguments);
        place.write("own/notes.db", "1");
        agree(&place);
        place.write("own/notes.db", "2");
        place.write("own/log.txt", "new");
        place.run(&RUN).fails(1, "MCP server");
    }
}

#[test]
fn a_published_package_runs_no_file_of_the_project_unless_the_project_has_it() {
    let published: [Command<'_>; 3] = [
        ("npx", &["-y", "@scope/notes@1.2", "."]),
        ("uvx", &["notes@latest", "--db", "own/notes.db"]),
        ("docker", &["run", "-i", "--rm", "-e", "A_KEY", "example.org/notes:1"]),
    ];
    for (command, arguments) in published {
        let place = place(command, arguments);
        let found = place.run(&["check"]);
        assert!(found.err.contains("`s` runs the program"), "{found:?}");
        assert!(!found.err.contains("run any file") && !found.err.contains("these files"), "{found:?}");
    }
    for path in ["node_modules/.bin/notes", "node_modules/@scope/notes/index.js", ".npmrc"] {
        let place = place("npx", &["-y", "@scope/notes"]);
        place.write(path, "");
        is_refused(place.run(&RUN), ANY);
    }
    let own: [Command<'_>; 4] = [
        ("npx", &["./own"]),
        ("npx", &["own.tgz"]),
        ("uvx", &["--from", "./own", "notes"]),
        ("docker", &["run", "-v", ".:/x", "a"]),
    ];
    for (command, arguments) in own {
        is_refused(place(command, arguments).run(&RUN), ANY);
    }
    let place = place("npx", &["notes"]);
    place.write("package.json", r#"{ "name": "notes", "b\u0069n": "own/run.py" }"#);
    is_refused(place.run(&RUN), ANY);
}

#[test]
fn npx_finds_programs_by_the_argument_as_it_is_written_and_in_folders_above() {
    for (argument, path) in [
        ("server@latest", "node_modules/.bin/server@latest"),
        ("@scope/notes", "node_modules/.bin/@scope/notes"),
        ("notes@1.2", "node_modules/other/index.js"),
    ] {
        let place = place("npx", &["-y", argument]);
        assert!(!place.run(&["check"]).err.contains(ANY));
        place.write(path, "");
        is_refused(place.run(&RUN), ANY);
    }
    for path in ["node_modules/.bin/notes", "package.json", ".npmrc"] {
        let servers = r#"{ "mcpServers": { "s": { "command": "npx", "args": ["-y", "notes"] } } }"#;
        let place = Place::new(&[("clone/main.worker", ASSISTANT), ("clone/.mcp.json", servers), (path, "{}")]);
        is_refused(place.run(&["run", "--project", "clone", "hello"]), ANY);
    }
}

#[test]
fn a_published_package_that_runs_a_file_of_the_project_is_named_as_one_that_may_run_any_file() {
    let commands: [Command<'_>; 4] = [
        ("npx", &["-y", "notes", "own/run.py"]),
        ("npx", &["-y", "notes", "--import=./own/run.py"]),
        ("npx", &["tsx", "watch", "own"]),
        ("uvx", &["python@3.12", "-m", "own.run"]),
    ];
    for (command, arguments) in commands {
        is_refused(place(command, arguments).run(&RUN), ANY);
    }
}

#[cfg(unix)]
mod links {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_outside_that_a_link_leads_to_is_named_and_compared() {
        let outside = tempfile::tempdir().unwrap();
        let program = outside.path().canonicalize().unwrap().join("program");
        fs::write(&program, "exit 1\n").unwrap();
        let place = place("sh", &["own/a.sh"]);
        symlink(&program, place.path().join("own/a.sh")).unwrap();
        is_refused(place.run(&RUN), &format!("`{}`", program.display()));
        agree(&place);
        fs::write(&program, "exit 2\n").unwrap();
        is_refused(place.run(&RUN), &format!("changed since you agreed: {}", program.display()));
    }

    /// The reason why an agreement is not remembered.
    const EACH_TIME: &str = "you are asked about it for each command, since 1 of the files and folders";

    /// Agrees, which holds for one command.
    fn agree_once(place: &Place) {
        let mut session = session(place, &RUN);
        session.wait_for("for this command? [y]es, [n]o");
        session.type_in("y\n");
        assert_eq!(session.end().0, Some(1));
    }

    #[test]
    fn what_cannot_be_compared_does_not_fail_and_is_asked_about_for_each_command() {
        for (link, target, named) in [
            ("own/a.sh", "/proc/self/cwd/own/run.py", "`own/a.sh` (it leads to `/proc`"),
            ("own/a.sh", "/proc/self/cwd/missing", "`own/a.sh` (it leads to `/proc`"),
            ("own/folder", "/usr", "`own/folder` (it is a link to a folder outside of the project's folder)"),
        ] {
            let commands: [Command<'_>; 2] = [("sh", &["own/a.sh"]), ("env", &["sh", "own/a.sh"])];
            for (command, arguments) in commands {
                let place = place(command, arguments);
                symlink(target, place.path().join(link)).unwrap();
                assert_eq!(place.run(&["check"]).code, Some(0), "the project opens");
                is_refused(place.run(&RUN), named);
                agree_once(&place);
                assert!(!place.state.path().join("llm-do/agreed.json").exists(), "an answer for one command was kept");
                is_refused(place.run(&RUN), EACH_TIME);
                place.run(&["run", "--trust-project", "hello"]).fails(1, "MCP server");
            }
        }
    }

    #[test]
    fn a_link_to_the_empty_device_and_the_files_of_a_repository_are_not_compared() {
        let place = place("env", &["python3", "own/run.py"]);
        symlink("/dev/null", place.path().join("own/masked.sh")).unwrap();
        place.write(".git/hooks/pre-commit.sh", "1");
        agree(&place);
        place.write(".git/hooks/pre-commit.sh", "2");
        place.run(&RUN).fails(1, "MCP server");
    }

    #[test]
    fn an_executable_file_is_a_program_unless_it_is_data_by_its_name_and_text() {
        use std::os::unix::fs::PermissionsExt;
        let place = place("env", &["python3", "own/run.py"]);
        let write = |name: &str, text: &str| {
            place.write(name, text);
            fs::set_permissions(place.path().join(name), PermissionsExt::from_mode(0o755)).unwrap();
        };
        write("own/notes.db", "SQLite format 3");
        write("own/tool.x", "#!/bin/sh\n");
        write("own/tool", "true\n");
        agree(&place);
        write("own/notes.db", "SQLite format 3, changed");
        place.run(&RUN).fails(1, "MCP server");
        write("own/tool.x", "#!/bin/sh\nfalse\n");
        is_refused(place.run(&RUN), "changed since you agreed: own/tool.x");
        write("own/tool.x", "#!/bin/sh\n");
        write("own/tool", "false\n");
        is_refused(place.run(&RUN), "changed since you agreed: own/tool");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn programs_with_names_that_are_not_text_are_compared_separately() {
        let place = place("sh", &["-c", "for f in own/*.sh; do . ./$f; done"]);
        let path = |name: &[u8]| place.path().join("own").join(OsStr::from_bytes(name));
        for name in [&b"\xfe.sh"[..], b"\xff.sh", "\u{fffd}.sh".as_bytes(), br"\xfe.sh"] {
            fs::write(path(name), "true\n").unwrap();
        }
        agree(&place);
        fs::write(path(b"\xfe.sh"), "false\n").unwrap();
        is_refused(place.run(&RUN), "changed since you agreed: own/\\xfe.sh");
    }

    /// Changes a project while the user is asked, and asserts that the server is not started.
    fn is_not_started(place: &Place, change: impl FnOnce()) {
        let mut session = session(place, &RUN);
        session.wait_for("[y]es, [n]o");
        change();
        session.type_in("y\n");
        session.wait_for("changed since the project was read, so it is not started; run the command again");
        assert_eq!(session.end().0, Some(1));
        assert!(!place.path().join("started").exists());
    }

    #[test]
    fn a_program_that_takes_the_place_of_another_is_not_started() {
        const EVIL: &str = "open('started', 'w').close()\n";
        let swapped = place("python3", &["link/run.py"]);
        swapped.write("evil/run.py", EVIL);
        let link = swapped.path().join("link");
        symlink("own", &link).unwrap();
        is_not_started(&swapped, || {
            fs::remove_file(&link).unwrap();
            symlink("evil", &link).unwrap();
        });
        let added = place("python3", &["-m", "own"]);
        is_not_started(&added, || added.write("own/__main__.py", EVIL));
    }
}
