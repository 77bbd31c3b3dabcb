#![doc = include_str!("../docs/shell.md")]

mod arguments;
mod command;
mod environment;
mod fault;
mod fingerprint;
mod folder_lock;
mod git;
mod output;
mod process;
mod program;
mod read_only;
mod repositories;
mod repository_check;
mod rules;
mod run;
mod sandbox;
mod settings;
mod starters;
mod tools;
mod tree;
mod watch;

pub use self::settings::{Sandbox, SandboxKind, Shell};
pub use self::tools::{shell, shell_asked, shell_readonly};
