//! Recorded requests.

use crate::message::{Message, UserPart};
use crate::model::{OutputSchema, Request, ToolChoice, ToolSpec};
use crate::server_side::ServerSideTool;
use crate::settings::Settings;

/// A request recorded by a [`ScriptedModel`](super::ScriptedModel): the fields of a [`Request`] except its hint.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The instructions; empty if there were none.
    pub instructions: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that the model might call.
    pub tools: Vec<ToolSpec>,
    /// The tools that the model had to find.
    pub deferred_tools: Vec<ToolSpec>,
    /// The server-side tools that the provider might run.
    pub server_side_tools: Vec<ServerSideTool>,
    /// The schema of the answer.
    pub output: Option<OutputSchema>,
    /// The settings.
    pub settings: Settings,
    tool_choice: OwnedToolChoice,
}

/// An owned [`ToolChoice`].
#[derive(Clone, Debug, PartialEq)]
enum OwnedToolChoice {
    Auto,
    Required,
    Tool(String),
    None,
}

impl RecordedRequest {
    pub(super) fn from_request(request: Request<'_>) -> Self {
        Self {
            instructions: request.instructions.unwrap_or_default().to_owned(),
            messages: request.messages.to_vec(),
            tools: request.tools.to_vec(),
            deferred_tools: request.deferred_tools.to_vec(),
            server_side_tools: request.server_side_tools.to_vec(),
            output: request.output.cloned(),
            settings: request.settings.clone(),
            tool_choice: match request.tool_choice {
                ToolChoice::Auto => OwnedToolChoice::Auto,
                ToolChoice::Required => OwnedToolChoice::Required,
                ToolChoice::Tool(name) => OwnedToolChoice::Tool(name.to_owned()),
                ToolChoice::None => OwnedToolChoice::None,
            },
        }
    }

    /// Returns whether the model might, must or must not call a tool.
    #[must_use]
    pub fn tool_choice(&self) -> ToolChoice<'_> {
        match &self.tool_choice {
            OwnedToolChoice::Auto => ToolChoice::Auto,
            OwnedToolChoice::Required => ToolChoice::Required,
            OwnedToolChoice::Tool(name) => ToolChoice::Tool(name),
            OwnedToolChoice::None => ToolChoice::None,
        }
    }

    /// Returns the names of [`tools`](Self::tools).
    #[must_use]
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| &*tool.name).collect()
    }

    /// Returns the text of the last message: its text parts or tool results, one per line.
    #[must_use]
    pub fn last_text(&self) -> String {
        let lines: Vec<&str> = match self.messages.last() {
            Some(Message::User { parts }) => parts
                .iter()
                .filter_map(|part| match part {
                    UserPart::Text { text } => Some(text.as_str()),
                    UserPart::Attachment(_) | UserPart::Pin => None,
                })
                .collect(),
            Some(Message::Tool { results }) => results.iter().map(|result| result.content.as_str()).collect(),
            _ => Vec::new(),
        };
        lines.join("\n")
    }
}
