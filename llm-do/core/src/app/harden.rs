//! Hardening: replaces a worker with code, based on its recorded inputs and answers.

mod cases;
mod compare;
mod gate;
#[cfg(feature = "learn")]
mod learn;
#[cfg(feature = "script")]
mod paths;
#[cfg(feature = "script")]
mod propose;
mod ranking;
mod recorded;
#[cfg(any(feature = "learn", feature = "script"))]
mod signature;
mod status;
#[cfg(any(feature = "learn", feature = "script"))]
mod subject;

pub use llm_do_bounds::{Guarantee, InvalidGuarantee};

pub use self::cases::{Answer, Case, Cases};
pub use self::compare::{Compared, Report, Summary, Verdict, compare, compare_one};
pub use self::gate::{Gate, Judgment};
#[cfg(feature = "learn")]
pub use self::learn::{FewRules, LearnError, LearnReport, LearnedProposal, Learner};
#[cfg(feature = "script")]
pub use self::paths::{CallPath, Runs};
#[cfg(feature = "script")]
pub use self::propose::{
    Attempt, ChangedResults, Chosen, Contradiction, Parts, PathScore, Proposal, ProposalEnd, ProposalReport,
    ProposeError, Proposer, Score,
};
pub use self::ranking::{Ranking, WorkerUsage};
pub use self::recorded::RecordedCalls;
pub use self::status::hybrid_status;
pub use crate::base::agreement::Agreement;
pub use crate::plane::dispatch::Shadow;
pub use crate::plane::guarantee::HybridStatus;
