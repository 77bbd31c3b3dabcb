//! The runtime of llm-do: the tool plane, its declarations and observers, and the applications on top of it.
//!
//! Applications depend on `llm-do`, which documents the parts and has the public paths. This crate is for `llm-do` and
//! the other crates of its family, which are pinned to one version: its own paths may change in any version.

// The attributes generate paths of `llm-do`.
extern crate self as llm_do;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
pub mod app;
pub mod base;
pub mod declare;
pub mod observe;
pub mod plane;
pub mod session;
