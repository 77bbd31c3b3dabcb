//! Rules from decisions: the smallest policy that would have decided as people did.

mod cover;
mod decision;
mod gate;
mod hull;
mod proposal;
mod proposer;
mod shape;
mod split;

pub use self::proposal::{PolicyProposal, ProposedRule};
pub use self::proposer::PolicyProposer;
