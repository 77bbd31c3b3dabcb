//! Parses a stream of the Gemini API, piece by piece; an unstreamed answer is one piece.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::convert::{self, CandidateFinish};
use super::wire::{AnswerBlob, AnswerPart, Candidate, Chunk, FunctionCallPart, Kind, ServerTool, Tokens};
use super::{PROVIDER, tool_uses};
use crate::attachment::Attachment;
use crate::lenient::Word;
use crate::message::{FinishReason, ProviderData, ResponsePart, ServerSideToolUse, Thinking, ToolCall};
use crate::model::StreamEvent;
use crate::response::Response;

/// The answer so far.
#[derive(Debug, Default)]
pub(crate) struct GeminiAccumulator {
    /// The requested model, in case the server does not name it.
    requested_model: Arc<str>,
    /// The length of the history, for calls without an id of the server.
    turn: usize,
    model: Option<String>,
    parts: Vec<ResponsePart>,
    calls: usize,
    begun: bool,
    finish: Option<CandidateFinish>,
    tokens: Tokens,
    /// The metadata of web search and of page reading.
    grounding: Map<String, Value>,
    fetched: Map<String, Value>,
    /// Whether Google's tools report their requests as parts, so that the grounding metadata repeats them.
    has_uses: bool,
    fault: Option<&'static str>,
}

impl GeminiAccumulator {
    /// Returns the empty answer of the model `requested_model`; calls without ids get ids that are unique in
    /// a conversation as long as `turn` grows.
    pub(super) fn new(requested_model: Arc<str>, turn: usize) -> Self {
        Self { requested_model, turn, ..Self::default() }
    }

    /// Takes one piece and adds its events to `events`.
    pub(super) fn take(&mut self, chunk: Chunk<'_>, events: &mut VecDeque<StreamEvent>) {
        let model = chunk.model_version.as_ref().map(Word::as_str).filter(|model| !model.is_empty());
        if let (None, Some(model)) = (&self.model, model) {
            self.model = Some(model.to_owned());
        }
        if let Some(tokens) = chunk.usage_metadata {
            self.tokens.update(*tokens);
        }
        for candidate in chunk.candidates.unwrap_or_default() {
            if candidate.index.unwrap_or(0) == 0 {
                self.begun = true;
                self.choose(candidate, events);
            }
        }
    }

    /// Whether a part of the answer, or its end, has arrived.
    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether a valid call has arrived.
    pub(super) fn has_call(&self) -> bool {
        self.calls > 0
    }

    /// Returns the number of its parts so far.
    pub(super) fn count(&self) -> usize {
        self.parts.len()
    }

    /// Why the answer ended, if it has.
    pub(super) fn finish_reason(&self) -> Option<CandidateFinish> {
        self.finish
    }

    /// Returns the fault of the answer, if any.
    pub(super) fn has_fault(&self) -> Option<&'static str> {
        if !self.begun {
            return Some("the answer is empty");
        }
        let stopped = self.finish == Some(CandidateFinish::As(FinishReason::Other)) && self.parts.is_empty();
        self.fault.or(stopped.then_some("the model stopped before it wrote anything"))
    }

    /// Returns the whole answer.
    pub(super) fn into_response(mut self) -> Response {
        if self.finish == Some(CandidateFinish::As(FinishReason::Length)) {
            // The limit may have cut it off.
            self.parts.pop_if(|part| matches!(part, ResponsePart::ToolCall(_)));
        }
        let finish = self.finish;
        let response = self.response();
        match finish {
            // The parts show whether there are calls.
            Some(
                CandidateFinish::As(FinishReason::Stop) | CandidateFinish::Malformed | CandidateFinish::UnexpectedCall,
            ) => response,
            Some(CandidateFinish::As(reason)) => response.with_finish(reason),
            None => response.without_reason(),
        }
    }

    /// Returns the parts of an answer that broke off, without calls, since they must not run.
    pub(super) fn into_arrived(mut self) -> Response {
        self.parts.retain(|part| !matches!(part, ResponsePart::ToolCall(_)));
        self.response().with_finish(FinishReason::Other)
    }

    fn response(mut self) -> Response {
        self.note();
        let usage = convert::usage(&self.tokens);
        Response::new(self.model.unwrap_or_else(|| self.requested_model.to_string()), self.parts, usage)
    }

    /// Adds the metadata of Google's tools, which is not in the parts.
    fn note(&mut self) {
        let (grounding, fetched) = (mem::take(&mut self.grounding), mem::take(&mut self.fetched));
        if self.has_uses {
            if !grounding.is_empty() {
                // Which sentence is from which page: for display, and never sent.
                let data = ProviderData::new(PROVIDER, json!({ "groundingMetadata": grounding }));
                self.parts.push(ResponsePart::Opaque(data));
            }
            return;
        }
        if let Some(urls) = tool_uses::urls(&fetched) {
            let error = tool_uses::unread(&fetched);
            self.used(ServerSideToolUse::new("web_fetch", urls, Value::Object(fetched)).with_error(error));
        }
        if let Some(queries) = tool_uses::queries(&grounding) {
            self.used(ServerSideToolUse::new("web_search", queries, Value::Object(grounding)));
        }
    }

    fn used(&mut self, used: ServerSideToolUse) {
        self.parts.push(ResponsePart::ServerSideTool(used));
    }

    fn choose(&mut self, candidate: Candidate<'_>, events: &mut VecDeque<StreamEvent>) {
        for piece in candidate.content.and_then(|content| content.parts).unwrap_or_default() {
            self.grow(piece, events);
        }
        if let Some(notes) = candidate.url_context_metadata {
            self.notes(*notes, events, "web_fetch", tool_uses::urls, |answer| &mut answer.fetched);
        }
        if let Some(notes) = candidate.grounding_metadata {
            self.notes(*notes, events, "web_search", tool_uses::queries, |answer| &mut answer.grounding);
        }
        self.finish =
            candidate.finish_reason.as_ref().map(Word::as_str).and_then(convert::parse_finish).or(self.finish);
    }

    /// Takes the metadata of Google's tools, which may arrive in pieces; the first that has a tool's request is an event.
    fn notes(
        &mut self,
        notes: Map<String, Value>,
        events: &mut VecDeque<StreamEvent>,
        name: &str,
        asked: fn(&Map<String, Value>) -> Option<Value>,
        place: fn(&mut Self) -> &mut Map<String, Value>,
    ) {
        let known = place(self);
        let was_asked = asked(known).is_some();
        known.extend(notes);
        let input = asked(known).filter(|_| !was_asked && !self.has_uses);
        events.extend(input.map(|input| StreamEvent::ServerSideTool { name: name.into(), input }));
    }

    fn grow(&mut self, piece: AnswerPart, events: &mut VecDeque<StreamEvent>) {
        let AnswerPart { kind, thought, signature } = piece;
        match kind {
            Kind::Text(more) if thought => self.think(more, signature, events),
            Kind::Text(more) => self.push_text(more, signature, events),
            Kind::Call(call) => self.call(call, signature, events),
            // The drafts of an image, which are not part of the answer.
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
            // The last part has its result now.
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
