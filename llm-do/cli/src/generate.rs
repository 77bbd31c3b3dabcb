//! `completions` and `man`: texts that are generated from the commands and options.

use std::io;

use clap::CommandFactory;
use clap_complete::Shell;

use super::args::Arguments;
use super::{CommandError, print_raw, program_name};

/// Returns the commands, under the name of the running program.
fn command() -> clap::Command {
    let name = program_name();
    Arguments::command().name(name.clone()).bin_name(name)
}

/// Prints the completions of a shell.
pub(super) fn completions(shell: Shell) -> Result<(), CommandError> {
    let mut command = command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    print_bytes(&script)
}

/// Prints the manual page.
pub(super) fn manual() -> Result<(), CommandError> {
    let mut page = Vec::new();
    let written: io::Result<()> = clap_mangen::Man::new(command()).render(&mut page);
    written.map_err(CommandError::from_error)?;
    print_bytes(&page)
}

fn print_bytes(bytes: &[u8]) -> Result<(), CommandError> {
    print_raw(String::from_utf8_lossy(bytes).trim_end())
}
