//! The declarations of users, with their checks: tools, workers, toolsets, arguments, schemas and worker files.

pub(crate) mod argument;
pub(crate) mod nesting;
pub(crate) mod prompt;
pub(crate) mod question;
pub(crate) mod schema;
pub(crate) mod subtask;
pub(crate) mod tool;
pub(crate) mod toolset;
pub(crate) mod worker_file;
pub(crate) mod worker_spec;
