#![doc = include_str!("../docs/filesystem.md")]

pub mod cwd;
mod diff;
mod edit;
mod fault;
mod files;
mod line_ends;
mod list;
mod locate;
mod open;
mod path;
mod previewed;
pub mod project;
mod read;
mod replace;
mod root;
mod rules;
mod search;
mod settings;
mod short_names;
mod text;
mod tools;
mod transfer;
mod walk;
mod write;

pub use self::settings::Filesystem;
pub use self::short_names::{filesystem_cwd, filesystem_cwd_ro, filesystem_project, filesystem_project_ro};
