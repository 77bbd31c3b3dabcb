//! The declarations of users, with their checks: tools, workers, toolsets, arguments, schemas and worker files.

pub mod argument;
pub mod flow;
#[doc(hidden)]
pub mod nesting;
pub mod partial;
pub mod prompt;
pub mod question;
pub mod refine;
#[doc(hidden)]
pub mod schema;
pub mod subtask;
pub mod tool;
pub mod toolset;
pub mod worker_file;
pub mod worker_spec;
