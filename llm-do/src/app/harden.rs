#![doc = include_str!("../../docs/hardening.md")]

mod cases;
mod compare;

pub use self::cases::{Answer, Case, Cases};
pub use self::compare::{Compared, Report, Summary, Verdict, compare, compare_one};
pub use crate::base::agreement::Agreement;
pub use crate::plane::dispatch::Shadow;
