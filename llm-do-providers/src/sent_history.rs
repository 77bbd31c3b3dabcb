//! A history in a form that every provider accepts.
//!
//! A provider refuses a whole request for one call without a result, one id that it has seen before, or one name that a model
//! made up; and the history is sent again with every message. So all providers write a history by its [`steps`], and the ids,
//! names and arguments of calls as this module returns them. Each depends on the earlier messages only, so that what was sent
//! once is sent unchanged afterwards.

mod arguments;
mod call_id;
mod outline;
mod steps;
#[cfg(test)]
mod tests;
mod tool_name;

pub(crate) use self::arguments::{Arguments, arguments, is_plain_json};
pub(crate) use self::call_id::{IdRule, call_id};
pub(crate) use self::outline::{Outline, Repeats};
pub(crate) use self::steps::{Answered, Step, steps};
pub(crate) use self::tool_name::tool_name;

/// The text for the user where a provider wants the user's turn, and the history has none.
pub(crate) const CONTINUE: &str = "Continue.";
/// The text for the user before a history that begins with an answer, where a provider refuses that.
pub(crate) const BEGINNING: &str = "(the beginning of the conversation is missing)";
/// The text of a user's message without content, which servers refuse.
pub(crate) const EMPTY: &str = "(empty message)";
