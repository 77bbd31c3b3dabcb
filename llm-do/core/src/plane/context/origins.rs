//! What a call has read, for decisions about the calls that it makes.

use std::sync::Arc;

use llm_do_providers::{Message, ToolResult, UserPart};
use serde_json::Value;

use super::CallContext;
use crate::observe::event::Label;
use crate::plane::history::{background_result, is_summary};
use crate::plane::origin::{OriginNotes, OriginQuery, Origins, ReadResult, Reading, RootCall};

impl<S> CallContext<S> {
    /// Returns whether anybody may decide about calls of the run, so that calls note what they read.
    pub(crate) fn tracks_origins(&self) -> bool {
        self.scope.host.tracks_origins()
    }

    /// Returns what this call noted, to add to it.
    pub(crate) fn origin_notes(&self) -> &OriginNotes {
        &self.frame().extras_or_default().origins
    }

    /// Notes the root call of the run, which is what the user or a client asked for; this is its own context.
    pub(crate) fn note_root(&self, arguments: Arc<Value>, is_of_client: bool) {
        if let Some(user) = self.caller() {
            let name = Arc::clone(&self.frame().name);
            user.origin_notes().set_root(RootCall { name, arguments, is_of_client });
        }
    }

    /// Notes an answer of the user.
    pub(crate) fn note_answer(&self, answer: &str) {
        if !self.tracks_origins() {
            return;
        }
        if let Some(user) = self.frames().last() {
            user.extras_or_default().origins.add_answer(answer);
        }
    }

    /// Notes the messages of the conversation that this call continues.
    pub(crate) fn note_conversation(&self, messages: &[Message]) {
        if messages.is_empty() || !self.tracks_origins() {
            return;
        }
        let (notes, host) = (self.origin_notes(), self.host());
        let label_of = |result: &ToolResult| host.earlier_label(&self.declaring(), Some(result.name.as_str()));
        let results = messages.iter().flat_map(|message| match message {
            Message::Tool { results } => results.as_slice(),
            _ => &[],
        });
        // A message may be a summary of messages that are no longer in the conversation.
        let texts = messages.iter().flat_map(user_texts);
        let in_messages = texts.clone().filter_map(background_result);
        let label_in = |(tool, _, _): (&str, &str, &str)| host.earlier_label(&self.declaring(), Some(tool));
        let labels = results.clone().map(label_of).chain(in_messages.map(label_in));
        let mut label = labels.fold(host.earlier_label(&self.declaring(), None), Label::join);
        if messages.iter().any(is_summary) {
            label = label.join(Label::Untrusted);
        }
        for result in results {
            let tool: Arc<str> = result.name.as_str().into();
            let summary = format!("{tool}, earlier in the conversation").into();
            let read = ReadResult { call: None, tool, summary, through: [].into(), label: label_of(result) };
            notes.add(Reading::of_result(read, &content(&result.content)));
        }
        for text in texts {
            notes.add(Reading::of_message(text, label));
        }
    }

    /// Notes for the caller that it has read the result of this call; `label` is that of its tool, or of its arguments.
    pub(crate) fn note_result(&self, summary: Arc<str>, content: &Value, label: Label) {
        let Some(caller) = self.caller() else { return };
        let (notes, read_by) = (caller.origin_notes(), self.frame().extras().map(|extras| &extras.origins));
        let through = read_by.map(OriginNotes::through).unwrap_or_default().into();
        let (call, tool) = (Some(self.frame().call), Arc::clone(&self.frame().name));
        let label = label.join(read_by.map(OriginNotes::label).unwrap_or_default());
        let label = if has_text(content) { label } else { label.min(Label::Bounded) };
        // The variables of the code hold them for the code that follows.
        let in_variables = read_by.filter(|notes| notes.is_model_code());
        let in_variables = in_variables.into_iter().flat_map(OriginNotes::readings);
        let own = Reading::of_result(ReadResult { call, tool, summary, through, label }, content);
        let readings = in_variables.chain([Arc::new(own)]);
        match self.frame().in_background().filter(|background| background.is_of_model()) {
            // The model reads it later.
            Some(background) => readings.for_each(|reading| background.add_reading(reading)),
            None => readings.for_each(|reading| notes.add(reading)),
        }
    }

    /// Returns what the caller noted.
    pub(crate) fn caller_notes(&self) -> Option<&OriginNotes> {
        self.caller()?.frame().extras().map(|extras| &extras.origins)
    }

    /// Returns what is known about this call, which its caller is about to make.
    pub(crate) fn origins(&self, arguments: &Value, schema: &Value) -> Origins {
        if !self.tracks_origins() {
            return Origins::default();
        }
        let by = self.frame().by;
        let caller = self.caller_notes();
        let is_model_code = caller.is_some_and(OriginNotes::is_model_code);
        let label = caller.map(OriginNotes::label).unwrap_or_default();
        let query = OriginQuery { by, is_model_code, label, arguments, schema };
        let notes = self.frames().skip(1).filter_map(|frame| frame.extras().map(|extras| &extras.origins));
        Origins::of_call(&query, notes)
    }
}

/// Returns the texts of a message of the user.
fn user_texts(message: &Message) -> impl Iterator<Item = &str> + Clone {
    let parts = match message {
        Message::User { parts } => parts.as_slice(),
        _ => &[],
    };
    parts.iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

/// Returns whether a value can carry text: names of fields can as well.
fn has_text(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(_) | Value::Object(_) => true,
        Value::Array(items) => items.iter().any(has_text),
    }
}

/// Returns the content of a tool's result: JSON as its value.
fn content(text: &str) -> Value {
    let is_json = text.starts_with(['{', '[']);
    let read = Some(text).filter(|_| is_json).and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_else(|| text.into())
}
