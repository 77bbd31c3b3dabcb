//! A request, kept.

use crate::message::{Message, UserPart};
use crate::model::{OutputSchema, Request, ToolChoice, ToolSpec};
use crate::server_side::ServerSideTool;
use crate::settings::Settings;

/// A request as a [`ScriptedModel`](super::ScriptedModel) kept it: the fields of a [`Request`], but for its hint.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AskedRequest {
    /// The instructions; empty, if there were none.
    pub instructions: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that were offered.
    pub tools: Vec<ToolSpec>,
    /// The tools that the provider might run.
    pub server_side_tools: Vec<ServerSideTool>,
    /// The schema that the answer was to follow.
    pub output: Option<OutputSchema>,
    /// Settings.
    pub settings: Settings,
    choice: Choice,
}

/// A [`ToolChoice`] that borrows nothing.
#[derive(Clone, Debug, PartialEq)]
enum Choice {
    Auto,
    Required,
    Tool(String),
    None,
}

impl AskedRequest {
    pub(super) fn of(request: Request<'_>) -> Self {
        Self {
            instructions: request.instructions.unwrap_or_default().to_owned(),
            messages: request.messages.to_vec(),
            tools: request.tools.to_vec(),
            server_side_tools: request.server_side_tools.to_vec(),
            output: request.output.cloned(),
            settings: request.settings.clone(),
            choice: match request.tool_choice {
                ToolChoice::Auto => Choice::Auto,
                ToolChoice::Required => Choice::Required,
                ToolChoice::Tool(name) => Choice::Tool(name.to_owned()),
                ToolChoice::None => Choice::None,
            },
        }
    }

    /// Returns whether it might, must or must not call a tool.
    #[must_use]
    pub fn tool_choice(&self) -> ToolChoice<'_> {
        match &self.choice {
            Choice::Auto => ToolChoice::Auto,
            Choice::Required => ToolChoice::Required,
            Choice::Tool(name) => ToolChoice::Tool(name),
            Choice::None => ToolChoice::None,
        }
    }

    /// Returns the names of the tools that were offered.
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| &*tool.name).collect()
    }

    /// Returns what it said last: the texts of the last message, or the results of tools in it, a line for each.
    #[must_use]
    pub fn last_text(&self) -> String {
        let lines: Vec<&str> = match self.messages.last() {
            Some(Message::User { parts }) => parts
                .iter()
                .filter_map(|part| match part {
                    UserPart::Text { text } => Some(text.as_str()),
                    UserPart::Attachment(_) => None,
                })
                .collect(),
            Some(Message::Tool { results }) => results.iter().map(|result| result.content.as_str()).collect(),
            _ => Vec::new(),
        };
        lines.join("\n")
    }
}
