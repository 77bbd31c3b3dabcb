//! The guide for production: its commands are run.

use std::path::Path;
use std::process::Command;

use super::engine::{installed, script};

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

#[test]
fn each_command_of_the_guide_is_one_that_a_script_runs() {
    let guide = read("../llm-do/docs/production.md");
    let scripts = [read("restate/production"), read("restate/lost-node")];
    let commands = guide.split("```sh\n").skip(1).flat_map(|rest| rest.split("```").next().unwrap().lines());
    let commands: Vec<_> = commands.collect();
    assert!(commands.len() > 10, "{commands:?}");
    for command in commands {
        let mut lines = scripts.iter().flat_map(|script| script.lines());
        assert!(lines.any(|line| line.trim() == command), "no script runs: {command}");
    }
    let settings = read("restate/haproxy.cfg");
    let (_, settings) = settings.split_once('\n').unwrap();
    assert!(guide.contains(settings), "the guide has the settings of the balancer");
}

#[test]
fn the_commands_of_the_guide_do_what_it_states() {
    let Some(installed) = installed() else { return };
    let output = Command::new(script("production")).arg(installed).arg(env!("CARGO_BIN_EXE_app")).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", text(&output.stdout), text(&output.stderr));
}
