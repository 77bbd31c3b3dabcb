//! Built-in toolsets, each behind the feature of its name.
//!
//! | feature | toolset | for |
//! |---|---|---|
//! | `filesystem` | `filesystem_project`, `filesystem_cwd` and their read-only variants | the files of one folder |
//! | `http` | `http` | pages and files of the web |
//! | `shell` | `shell` | commands; `shell_readonly` only those that read |
//! | `user_input` | `user_input` | questions to the user |
//! | `workers` | `workers` | workers that models create |
#![cfg_attr(feature = "workers", doc = "\n", doc = include_str!("../docs/runtime_workers.md"))]

// The attributes generate paths of `llm-do`.
extern crate llm_do_core as llm_do;

#[cfg(feature = "filesystem")]
pub mod filesystem;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "user_input")]
mod questions;
#[cfg(feature = "workers")]
mod runtime_worker;
#[cfg(feature = "shell")]
pub mod shell;
#[cfg(any(feature = "filesystem", feature = "http", feature = "user_input"))]
mod short_names;

#[cfg(feature = "user_input")]
pub use self::questions::{ask_user, user_input};
#[cfg(feature = "workers")]
pub use self::runtime_worker::{Input, worker_call, worker_create, worker_list, worker_replace, workers};
