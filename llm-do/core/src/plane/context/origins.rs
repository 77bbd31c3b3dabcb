//! What a call has read, for decisions about the calls that it makes.

use std::sync::Arc;

use llm_do_providers::{Message, ToolResult, UserPart};
use serde::Serialize;
use serde_json::Value;

use super::{CallContext, CallFrame};
use crate::declare::flow::Untrusted;
use crate::declare::nesting;
#[cfg(feature = "script")]
use crate::observe::event::Caller;
use crate::observe::event::{EventKind, GuardHook, Label, Labels};
use crate::plane::history::{background_result, is_summary};
#[cfg(feature = "script")]
use crate::plane::origin::RepeatedCall;
use crate::plane::origin::{OriginNotes, OriginQuery, Origins, ReadResult, Reading, RootCall};

impl<S> CallContext<S> {
    /// Returns whether anybody may decide about calls of the run, so that calls note what they read.
    pub(crate) fn tracks_origins(&self) -> bool {
        self.scope.host.tracks_origins()
    }

    /// Returns whether values are labelled.
    pub(crate) fn has_flow(&self) -> bool {
        self.scope.host.has_flow()
    }

    /// Returns an untrusted value as one that may steer calls of this call and below it, for a reason that an event records.
    ///
    /// Use it where code has made sure of the value, such as by comparing it with a list of the user's; its texts and numbers then steer
    /// as the user's own words do. A private value stays private.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use llm_do::flow::Untrusted;
    /// use llm_do::prelude::*;
    ///
    /// /// Read the sender of the newest mail.
    /// #[tool(effect = read_only)]
    /// fn newest_sender() -> Untrusted<String> {
    ///     Untrusted::new("ann@example.org".to_owned())
    /// }
    ///
    /// /// Answer a mail.
    /// #[tool(effect = destructive, approval = pre_approved)]
    /// fn answer(to: &str) -> String {
    ///     format!("Answered {to}.")
    /// }
    ///
    /// /// Answers the newest mail, if it is from Ann.
    /// #[entry(toolsets = [newest_sender, answer])]
    /// async fn answer_ann(ctx: &CallContext<Self>) -> Result<String> {
    ///     let sender = ctx.call(newest_sender {}).await?;
    ///     if sender.as_data() != "ann@example.org" {
    ///         return Ok("No mail from Ann.".into());
    ///     }
    ///     let to = ctx.endorse(sender, "it is the address of Ann");
    ///     ctx.call(answer { to }).await
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// let runtime = Runtime::builder().build()?;
    /// assert_eq!(runtime.run(answer_ann {}).await?, "Answered ann@example.org.");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn endorse<T: Serialize>(&self, value: Untrusted<T>, reason: &str) -> T {
        let value = value.into_data();
        // What cannot be written cannot be an argument.
        let written = nesting::to_value(&value).unwrap_or_default();
        if self.has_flow() {
            self.origin_notes().endorse(&written);
        }
        self.emit(|| EventKind::Endorsed { value: written, reason: reason.to_owned() });
        value
    }

    /// Returns what this call noted, to add to it.
    pub(crate) fn origin_notes(&self) -> &OriginNotes {
        &self.frame().extras_or_default().origins
    }

    /// Returns what this call noted, if it noted anything.
    pub(crate) fn noted(&self) -> Option<&OriginNotes> {
        notes_of(self.frame())
    }

    /// Notes the root call of the run, which is what the user or a client asked for; this is its own context.
    pub(crate) fn note_root(&self, arguments: Arc<Value>, is_of_client: bool, label: Label) {
        if let Some(user) = self.caller() {
            let name = Arc::clone(&self.frame().name);
            user.origin_notes().set_root(RootCall { name, arguments, is_of_client, label });
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

    /// Notes a message to the run, which is the words of the user, or of the client that made the root call.
    pub(crate) fn note_message(&self, text: &str) {
        if !self.tracks_origins() {
            return;
        }
        let user = self.frames().last().and_then(notes_of);
        match user.and_then(OriginNotes::root_call).filter(|root| root.is_of_client) {
            Some(root) => self.origin_notes().add(Reading::of_message(text, Labels::public(root.label))),
            None => self.note_answer(text),
        }
    }

    /// Notes that files are in the conversation of this call: anyone may have written them.
    pub(crate) fn note_files(&self) {
        if self.has_flow() {
            self.origin_notes().join(Labels::public(Label::Untrusted));
        }
    }

    /// Notes that a guard changed or refused what this call gets, or its caller: it may be from what guards have read.
    pub(crate) fn note_guarded(&self, hook: GuardHook) {
        let gets = match hook {
            GuardHook::BeforeCall | GuardHook::AfterCall => self.frames().nth(1),
            GuardHook::BeforeRequest | GuardHook::AfterResponse => Some(self.frame()),
        };
        let Some(notes) = gets.and_then(notes_of) else { return };
        for reading in notes.readings_of_guards() {
            // The result of the call, and for its caller where it came from.
            self.origin_notes().join(reading.labels());
            notes.add(reading);
        }
    }

    /// Notes for the caller that it gets a text about this call from a model that saw the call, such as the reason of a reviewer.
    pub(crate) fn note_reason(&self, reason: &str) {
        if !self.has_flow() {
            return;
        }
        if let Some(caller) = self.caller() {
            caller.origin_notes().add(Reading::of_message(reason, Labels::public(Label::Untrusted)));
        }
    }

    /// Notes the messages of the conversation that this call continues; `known` are the labels of all of them, if they are known.
    pub(crate) fn note_conversation(&self, messages: &[Message], known: Option<Labels>) {
        if messages.is_empty() || !self.tracks_origins() {
            return;
        }
        let (notes, host) = (self.origin_notes(), self.host());
        let labels_of = |result: &ToolResult| {
            let by_tool = host.earlier_labels(&self.declaring(), Some(result.name.as_str()));
            known.map_or(by_tool, |known| by_tool.meet(known))
        };
        let results = messages.iter().flat_map(|message| match message {
            Message::Tool { results } => results.as_slice(),
            _ => &[],
        });
        let all = known.unwrap_or_else(|| {
            let other = host.earlier_labels(&self.declaring(), None);
            let later = messages.iter().flat_map(texts).filter_map(background_result);
            let later = later.map(|(tool, _, _)| host.earlier_labels(&self.declaring(), Some(tool)));
            let all = results.clone().map(&labels_of).chain(later).fold(other, Labels::join);
            // A message may be a summary of what is not in the conversation any more.
            let is_lost = messages.iter().any(|message| is_summary(message) || has_files(message));
            if is_lost { all.join(host.unknown_labels()) } else { all }
        });
        notes.join(all);
        for result in results {
            let tool: Arc<str> = result.name.as_str().into();
            let summary = format!("{tool}, earlier in the conversation").into();
            let read = ReadResult::new(None, tool, summary, [].into()).labelled(labels_of(result));
            notes.add(Reading::of_result(read, &content(&result.content)).with_schema(None));
        }
        for text in messages.iter().flat_map(texts) {
            notes.add(Reading::of_message(text, all));
        }
    }

    /// Returns the labels of the conversation of this call, to keep them with its messages; `None` if values are not labelled.
    pub(crate) fn labels_to_keep(&self) -> Option<Labels> {
        self.has_flow().then(|| self.noted().map(OriginNotes::labels).unwrap_or_default())
    }

    /// Returns what the caller noted.
    pub(crate) fn caller_notes(&self) -> Option<&OriginNotes> {
        self.caller()?.noted()
    }

    /// Returns what is known about this call, which its caller is about to make; `toolsets` are those of the tool.
    pub(crate) fn origins(&self, arguments: &Value, schema: &Value, toolsets: Vec<Arc<str>>) -> Origins {
        if !self.tracks_origins() {
            return Origins::default();
        }
        let caller = self.caller_notes();
        let code = caller.and_then(OriginNotes::code);
        let labels = caller.map(OriginNotes::labels).unwrap_or_default();
        let query = OriginQuery { by: self.frame().by, code, labels, arguments, schema, toolsets };
        let callers = self.frames().skip(1).filter_map(notes_of);
        // Guards of this call may have put what they read into its arguments.
        Origins::of_call(query, callers, self.noted())
    }

    /// Returns what is known about a call that the code of this call made in another process.
    #[cfg(feature = "script")]
    pub(crate) fn origins_of_code(&self, call: &RepeatedCall<'_>, schema: &Value, toolsets: Vec<Arc<str>>) -> Origins {
        let (by, code, arguments) = (Caller::Code, Some(call.code), call.arguments);
        let query = OriginQuery { by, code, labels: self.origin_notes().labels(), arguments, schema, toolsets };
        Origins::of_call(query, self.frames().filter_map(notes_of), None)
    }

    /// Returns what is known about the values that the code of this call makes.
    #[cfg(feature = "script")]
    pub(crate) fn own_origins(&self) -> Origins {
        let notes = self.origin_notes();
        let (arguments, schema, toolsets) = (&Value::Null, &Value::Null, Vec::new());
        let (by, code, labels) = (Caller::Code, notes.code(), notes.labels());
        let query = OriginQuery { by, code, labels, arguments, schema, toolsets };
        Origins::of_call(query, self.frames().filter_map(notes_of), None)
    }
}

/// Returns what a frame noted, if it noted anything.
fn notes_of(frame: &CallFrame) -> Option<&OriginNotes> {
    frame.extras().map(|extras| &extras.origins)
}

/// Lists the texts of a message that is not the model's.
fn texts(message: &Message) -> impl Iterator<Item = &str> {
    user_parts(message).iter().filter_map(|part| match part {
        UserPart::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

/// Returns whether a message has files: of the user, or with results.
pub(crate) fn has_files(message: &Message) -> bool {
    let has_files = |result: &ToolResult| !result.attachments.is_empty();
    let is_file = |part: &UserPart| !matches!(part, UserPart::Text { .. });
    user_parts(message).iter().any(is_file)
        || matches!(message, Message::Tool { results } if results.iter().any(has_files))
}

fn user_parts(message: &Message) -> &[UserPart] {
    match message {
        Message::User { parts } => parts,
        _ => &[],
    }
}

/// Returns the content of a tool's result: JSON as its value.
fn content(text: &str) -> Value {
    let is_json = text.starts_with(['{', '[']);
    let read = Some(text).filter(|_| is_json).and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_else(|| text.into())
}
