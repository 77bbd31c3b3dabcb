//! The parts of an answer, as they arrive.

use std::collections::VecDeque;

use serde_json::{Map, Value, json};

use crate::attachment::Attachment;
use crate::gemini::wire::{AnswerBlob, AnswerPart, FunctionCallPart, Kind, ServerTool};
use crate::gemini::{PROVIDER, tool_uses};
use crate::message::{ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall};
use crate::model::StreamEvent;

/// The parts of an answer so far.
#[derive(Debug, Default)]
pub(super) struct AnswerContent {
    /// The length of the history, for the ids of calls that have none.
    turn: usize,
    pub(super) parts: Vec<ResponsePart>,
    /// The number of calls.
    pub(super) calls: usize,
    /// Whether Google's tools report their requests as parts, so that the grounding metadata repeats them.
    pub(super) has_uses: bool,
    pub(super) fault: Option<&'static str>,
}

impl AnswerContent {
    /// Returns the content of an answer after `turn` messages: calls without an id get one that is unique in the conversation.
    pub(super) fn after(turn: usize) -> Self {
        Self { turn, ..Self::default() }
    }

    pub(super) fn used(&mut self, used: ServerSideToolUse) {
        self.parts.push(ResponsePart::ServerSideTool(used));
    }

    /// Adds a part, or a delta of one, and adds its events to `events`.
    pub(super) fn grow(&mut self, piece: AnswerPart, events: &mut VecDeque<StreamEvent>) {
        let AnswerPart { kind, thought, signature } = piece;
        match kind {
            Kind::Text(more) if thought => self.think(more, signature, events),
            Kind::Text(more) => self.push_text(more, signature, events),
            Kind::Call(call) => self.call(call, signature, events),
            // Drafts of an image are not part of the answer.
            Kind::Media(_) if thought => {}
            Kind::Media(blob) => self.show(blob, signature),
            Kind::ServerTool(own, value) => self.use_tool(own, value, signature, events),
            Kind::Unknown(fields) => self.keep(fields, thought, signature),
        }
    }

    fn think(&mut self, more: String, signature: Option<String>, events: &mut VecDeque<StreamEvent>) {
        let data = signature.map(|signature| signed(&signature));
        match self.parts.last_mut() {
            // A signature is only valid for its own part.
            Some(ResponsePart::Thinking(thought)) if thought.provider_data.is_none() && data.is_none() => {
                thought.text.push_str(&more);
            }
            _ if more.is_empty() && data.is_none() => {}
            _ => {
                let thought = Thinking { provider_data: data, ..Thinking::new(more.clone()) };
                self.parts.push(ResponsePart::Thinking(thought));
            }
        }
        if !more.is_empty() {
            events.push_back(StreamEvent::Thinking(more));
        }
    }

    fn push_text(&mut self, more: String, signature: Option<String>, events: &mut VecDeque<StreamEvent>) {
        match self.parts.last_mut() {
            Some(ResponsePart::Text { text }) if signature.is_none() => text.push_str(&more),
            _ if more.is_empty() => {}
            _ => self.parts.push(ResponsePart::Text { text: more.clone() }),
        }
        if let Some(signature) = signature {
            self.sign(&signature, more.is_empty());
        }
        if !more.is_empty() {
            events.push_back(StreamEvent::Text(more));
        }
    }

    /// Keeps a signature after its part, or as a part without other content.
    fn sign(&mut self, signature: &str, alone: bool) {
        let data = if alone {
            ProviderData::new(PROVIDER, json!({"part": {"text": "", "thoughtSignature": signature}}))
        } else {
            signed(signature)
        };
        self.parts.push(ResponsePart::Opaque(data));
    }

    fn call(&mut self, mut call: FunctionCallPart, signature: Option<String>, events: &mut VecDeque<StreamEvent>) {
        if call.will_continue.0 || call.partial_args.is_some() {
            self.fault = Some("the answer streams the arguments of a tool call, which was not requested");
        }
        let arguments = call.take_arguments();
        let Some(name) = call.name.filter(|name| !name.is_empty()) else {
            self.fault = Some("the answer calls a tool without a name");
            return;
        };
        let event =
            StreamEvent::ToolCall { index: self.calls, name: name.as_str().into(), arguments: arguments.clone() };
        events.push_back(event);
        let own = call.id.filter(|id| !id.is_empty());
        let id = own.clone().unwrap_or_else(|| format!("call_{}_{}", self.turn, self.calls));
        self.calls += 1;
        let mut data = Map::new();
        data.extend(own.map(|id| ("id".to_owned(), Value::String(id))));
        data.extend(signature.map(|signature| ("thoughtSignature".to_owned(), Value::String(signature))));
        let provider_data = (!data.is_empty()).then(|| ProviderData::new(PROVIDER, Value::Object(data)));
        self.parts.push(ResponsePart::ToolCall(ToolCall { provider_data, ..ToolCall::new(id, name, arguments) }));
    }

    fn show(&mut self, blob: AnswerBlob, signature: Option<String>) {
        let Some(file) = Attachment::from_base64(blob.mime_type.unwrap_or_default(), &blob.data.unwrap_or_default())
        else {
            self.fault = Some("the answer has a file that is not base64");
            return;
        };
        self.parts.push(ResponsePart::Attachment(file));
        if let Some(signature) = signature {
            self.sign(&signature, false);
        }
    }

    fn use_tool(
        &mut self,
        own: ServerTool,
        value: Value,
        signature: Option<String>,
        events: &mut VecDeque<StreamEvent>,
    ) {
        self.has_uses |= matches!(own, ServerTool::ToolCall | ServerTool::ToolResponse);
        let Some(used) = tool_uses::take(own, value, signature, &mut self.parts) else {
            // The last part now has its result.
            if let Some(ResponsePart::ServerSideTool(used)) = self.parts.last() {
                events.push_back(used.done());
            }
            return;
        };
        events.extend((!used.is_result_alone()).then(|| used.begun()));
        self.used(used);
    }

    /// Keeps a part of an unknown kind unchanged; an empty one is dropped.
    fn keep(&mut self, mut fields: Map<String, Value>, thought: bool, signature: Option<String>) {
        if fields.is_empty() {
            if let Some(signature) = signature {
                self.sign(&signature, true);
            }
            return;
        }
        if thought {
            fields.insert("thought".to_owned(), Value::Bool(true));
        }
        fields.extend(signature.map(|signature| ("thoughtSignature".to_owned(), Value::String(signature))));
        self.parts.push(ResponsePart::Opaque(ProviderData::new(PROVIDER, json!({ "part": fields }))));
    }
}

fn signed(signature: &str) -> ProviderData {
    ProviderData::new(PROVIDER, json!({ "thoughtSignature": signature }))
}
