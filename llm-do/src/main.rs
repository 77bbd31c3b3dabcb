//! The program `llm-do`: runs projects of files, with the toolsets of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    llm_do::cli::Cli::new().application("llm-do", env!("CARGO_PKG_VERSION")).run_projects().main()
}
