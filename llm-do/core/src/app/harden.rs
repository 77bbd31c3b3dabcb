//! Hardening: replaces a worker with code, based on its recorded inputs and answers.

mod cases;
mod compare;
#[cfg(feature = "script")]
mod propose;
mod ranking;
mod recorded;

pub use self::cases::{Answer, Case, Cases};
pub use self::compare::{Compared, Report, Summary, Verdict, compare, compare_one};
#[cfg(feature = "script")]
pub use self::propose::{
    Attempt, Chosen, Contradiction, Parts, Proposal, ProposalEnd, ProposalReport, ProposeError, Proposer, Score,
};
pub use self::ranking::{Ranking, WorkerUsage};
pub use self::recorded::RecordedCalls;
pub use crate::base::agreement::Agreement;
pub use crate::plane::dispatch::Shadow;
