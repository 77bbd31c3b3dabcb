//! Converts a history to a form that every provider accepts.
//!
//! A provider refuses a whole request because of one call without a result, one duplicate id, or one tool name that the
//! model invented, and each request contains the whole history. So all providers send the [`steps`] of a history, and
//! the ids, names and arguments of calls that this module returns. These depend only on earlier messages, so a message
//! is sent in the same form each time.

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

/// The text of the user message that is inserted where a provider requires one and the history has none.
pub(crate) const CONTINUE: &str = "Continue.";
/// The text of the user message that is inserted before a history that begins with an answer, for providers that refuse
/// that.
pub(crate) const BEGINNING: &str = "(the beginning of the conversation is missing)";
/// The text of an empty user message, which servers refuse.
pub(crate) const EMPTY: &str = "(empty message)";
