//! Where the values of a call's arguments came from.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::label::{Label, Labels};

/// Where one value of a call's arguments came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArgumentOrigin {
    /// The place of the value: the name of the argument, and below it the names of fields and the 0-based positions of items, with
    /// `/` between them, such as `lines/0/text`.
    pub argument: String,
    /// Where the value came from.
    #[serde(flatten)]
    pub origin: ValueOrigin,
    /// Whose text the value may carry; without [sources](crate::plane::approval::Policy::source), all values are trusted.
    #[serde(default, skip_serializing_if = "Label::is_trusted")]
    pub label: Label,
    /// Whether it may carry what a [private source](crate::plane::approval::Policy::private) returned.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_private: bool,
}

/// Where a value came from.
///
/// As JSON: `{"from": "user"}`, or `{"from": "result", "call": 3, "tool": "read_file", "summary": "read_file(path=\"a.txt\")"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ValueOrigin {
    /// The arguments of the run's root call contain it, or an answer of the user to a question of the run.
    User,
    /// The arguments of the run's root call contain it, which a client made that may be a model: the call is
    /// [gated](crate::session::runtime::Start::gated), as those of MCP clients are. So does a message of that client to the run.
    Client,
    /// A model wrote it into code before it had read untrusted text; only with [sources](crate::plane::approval::Policy::source).
    Literal,
    /// It is the default of the argument.
    #[serde(rename = "default")]
    ArgumentDefault,
    /// Code made the call, and nothing that was read contains the value.
    Code,
    /// The approver gave it, in place of the caller's value.
    Approver,
    /// A result contains it that the caller had read, or a call above the caller.
    Result(ResultOrigin),
    /// An earlier message of the conversation contains it, which may be the user's or a summary.
    Conversation,
    /// A model made the call, and nothing that is known contains the value: the model wrote it, or changed what it read.
    Unknown,
}

/// The result that a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ResultOrigin {
    /// The id of the call, as in its events; `None` for a call of an earlier run of the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u64>,
    /// The registered name of the tool, worker or entry.
    pub tool: Arc<str>,
    /// The call in one line, such as `read_file(path="bill.txt")`.
    pub summary: Arc<str>,
    /// The place of the field that is the value, as in [`ArgumentOrigin::argument`]; `None` if the value is a part of a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Whether the value is a number, which carries no text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_number: bool,
    /// Whether only a part of the value is from the result: at least one line or sentence of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_part: bool,
}

impl ArgumentOrigin {
    /// Creates the origin of a trusted value at a place.
    #[must_use]
    pub fn new(argument: impl Into<String>, origin: ValueOrigin) -> Self {
        Self { argument: argument.into(), origin, label: Label::Trusted, is_private: false }
    }

    /// Returns it for a value with these labels.
    pub(crate) fn labelled(self, labels: Labels) -> Self {
        Self { label: labels.integrity, is_private: labels.is_private, ..self }
    }

    /// Returns the labels of the value.
    #[doc(hidden)]
    #[must_use]
    pub fn labels(&self) -> Labels {
        Labels { integrity: self.label, is_private: self.is_private }
    }
}

impl ResultOrigin {
    /// Creates the origin of a text in a result of a tool, for tests of a decider; `summary` is the call in one line.
    #[must_use]
    pub fn new(tool: impl Into<Arc<str>>, summary: impl Into<Arc<str>>) -> Self {
        let (tool, summary) = (tool.into(), summary.into());
        Self { call: None, tool, summary, field: None, is_number: false, is_part: false }
    }
}

impl ValueOrigin {
    /// Returns whether the value is from the program, the user or the approver, and not from a client, a model or from what was read.
    #[must_use]
    pub fn is_own(&self) -> bool {
        matches!(self, Self::User | Self::ArgumentDefault | Self::Code | Self::Approver)
    }
}

impl fmt::Display for ValueOrigin {
    /// Writes it for a person who decides about the call.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::User => f.write_str("in your request"),
            Self::Client => f.write_str("in the client's call"),
            Self::ArgumentDefault => f.write_str("the default"),
            Self::Code => f.write_str("from the code of the program"),
            Self::Approver => f.write_str("from the approver"),
            Self::Literal => f.write_str("written by the model before it read untrusted text, not in your request"),
            Self::Result(result) => result.fmt(f),
            Self::Conversation => f.write_str("from an earlier message of the conversation, not in your request"),
            Self::Unknown => f.write_str("neither in your request nor in what was read"),
        }
    }
}

impl fmt::Display for ResultOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.is_part { "partly " } else { "" };
        write!(f, "{part}from `{}`", self.summary)?;
        if let Some(field) = self.field.as_ref().filter(|field| !field.is_empty()) {
            write!(f, ", field `{field}`")?;
        }
        f.write_str(", not in your request")
    }
}
