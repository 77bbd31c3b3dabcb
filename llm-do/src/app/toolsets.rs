//! Built-in toolsets, each behind the feature of its name.
//!
//! | feature | toolset | for |
//! |---|---|---|
//! | `filesystem` | `filesystem_project`, `filesystem_cwd` and their read-only variants | the files of one folder |
//! | `shell` | `shell` | commands |
//! | `workers` | `workers` | workers that models create |
#![cfg_attr(feature = "workers", doc = "\n", doc = include_str!("../../docs/runtime_workers.md"))]

#[cfg(feature = "filesystem")]
pub mod filesystem;
#[cfg(feature = "workers")]
mod runtime_worker;
#[cfg(feature = "shell")]
pub mod shell;

#[cfg(feature = "workers")]
pub use self::runtime_worker::{Input, worker_call, worker_create, workers};
