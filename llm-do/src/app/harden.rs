#![doc = include_str!("../../docs/hardening.md")]

mod cases;
mod compare;
mod ranking;

pub use self::cases::{Answer, Case, Cases};
pub use self::compare::{Compared, Report, Summary, Verdict, compare, compare_one};
pub use self::ranking::{Ranking, WorkerUsage};
pub use crate::base::agreement::Agreement;
pub use crate::plane::dispatch::Shadow;
