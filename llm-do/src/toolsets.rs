//! Toolsets that are ready to be declared, each behind a feature of its name.

mod made_worker;

pub use self::made_worker::{Input, worker_call, worker_create, workers};
