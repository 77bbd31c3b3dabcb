#![doc = include_str!("../../../docs/shell.md")]

mod command;
mod environment;
mod fault;
mod output;
mod process;
mod read_only;
mod rules;
mod run;
mod sandbox;
mod settings;
mod tools;
mod tree;
mod watch;

pub use self::settings::{Sandbox, Shell};
pub use self::tools::{shell, shell_asked};
