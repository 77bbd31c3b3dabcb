//! Styles of text at a terminal.

use std::process::Command;

use super::session::Terminal;

/// Returns the help as the terminal gets it.
fn help(variable: Option<(&str, &str)>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stock"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(name);
    }
    command.args(["run", "--help"]).env("TERM", "xterm").envs(variable);
    let mut session = Terminal::open().run(command);
    session.wait_for("record the run, or resume it");
    session.raw()
}

#[test]
fn help_is_styled_unless_no_color_is_set() {
    assert!(help(None).contains('\u{1b}'));
    assert!(!help(Some(("NO_COLOR", "1"))).contains('\u{1b}'));
}
