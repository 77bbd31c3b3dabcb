//! Decisions that are learned from recorded cases, without a language model.
//!
//! A [`Learner`] learns from [`Example`]s, each an input and the output that was recorded for it, a function from JSON to a choice: a text
//! of a small set, a flag, or an object of these. It abstains where it is not sure enough: [`Learned`] answers only if its confidence
//! reaches a threshold, the lowest at which at most a given share of its answers is wrong, with a given confidence.
//!
//! - **Features**: words, pairs of words and runs of characters of texts, ranges of numbers, choices and flags, each by its path in the
//!   input, and pairs of the last three. Identifiers and dates are left out, as are longer numbers in texts.
//! - **Model**: a linear support vector machine for each choice against the rest, trained by dual coordinate descent (C.-J. Hsieh et al.,
//!   "A Dual Coordinate Descent Method for Large-scale Linear SVM", ICML 2008), the choices side by side.
//! - **Calibration**: each case is judged by a model that has not seen it, nor a case with the same features (cross-fitting). Thresholds
//!   are tried from the strictest on, each at the full confidence, up to the first that fails (fixed-sequence testing: A. Angelopoulos
//!   et al., "Learn then Test: Calibrating Predictive Algorithms to Achieve Risk Control", 2021), by the exact bound of Clopper and
//!   Pearson.
//! - **Unlike anything seen**: an input with a field, a choice or a number that no case has had, or with more unknown words than cases
//!   have, is not answered. What nothing speaks for is not either.
//!
//! The same cases give the same file on every machine. This crate has no stable API: depend on `llm-do` instead.
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "counts of cases, labels and features are below 2^24, weights are rounded on purpose; shares are not negative"
)]

mod answers;
mod case;
mod crossfit;
mod edges;
mod encoder;
mod error;
mod evidence;
mod fields;
mod file;
mod learned;
mod learner;
mod leaves;
mod linear;
mod part;
mod random;
mod short;
mod table;
mod text;
mod threshold;

pub use case::Example;
pub use error::{FileFault, LearnError};
pub use evidence::{Evidence, LabelEvidence};
pub use fields::LeftOut;
pub use file::MAX_FILE;
pub use learned::Learned;
pub use learned::{Decision, Explanation, Spoke, Unsure};
pub use learner::Learner;
pub use short::Short;
