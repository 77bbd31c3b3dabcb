//! The history of a conversation, which outlives the call that it was made in.

use llm_do_providers::{Message, ResponsePart, ToolCall, ToolResult, UserPart};
use serde::{Deserialize, Serialize};

/// The result that a model sees for a call that never got one.
const UNFINISHED: &str = "not finished: the conversation was interrupted";

/// The beginning of a summary that took the place of older messages.
pub(crate) const SUMMARY_HEADING: &str =
    "Notes about the earlier part of this conversation, which was removed because the conversation became too long:";

/// The beginning of the result of a call in the background, in a message.
const BACKGROUND_HEADING: &str = "[background call ";

/// The messages of a conversation, oldest first, which a chat continues.
///
/// As JSON it is the list of messages. It keeps everything that providers need to get back unchanged: ids, reasoning
/// and its signatures. Loading a history [repairs](Self::repair) it.
///
/// # Examples
///
/// ```
/// use llm_do::model::Message;
/// use llm_do::History;
///
/// let history = History::from(vec![Message::user("Hello!")]);
/// let saved = serde_json::to_string(&history)?;
/// let loaded: History = serde_json::from_str(&saved)?;
/// assert_eq!(loaded, history);
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Message>", into = "Vec<Message>")]
pub struct History {
    messages: Vec<Message>,
}

impl History {
    /// Returns an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the messages.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the messages for changes; call [`repair`](Self::repair) afterwards.
    pub fn messages_mut(&mut self) -> &mut Vec<Message> {
        &mut self.messages
    }

    /// Pins the message of the user with this index, so that it stays when the history is compacted; returns whether there is such a
    /// message.
    ///
    /// # Examples
    ///
    /// ```
    /// use llm_do::model::Message;
    /// use llm_do::History;
    ///
    /// let mut history = History::from(vec![Message::user("Never change the tests.")]);
    /// assert!(history.pin(0) && history.messages()[0].is_pinned());
    /// assert!(!history.pin(1));
    /// ```
    pub fn pin(&mut self, index: usize) -> bool {
        let Some(message @ Message::User { .. }) = self.messages.get_mut(index) else { return false };
        *message = message.clone().pinned();
        true
    }

    /// Returns whether there are no messages.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Gives each tool call one result, directly after the message with the call, as providers require.
    ///
    /// A call without a result gets one that states that it was not finished. Results without a call, duplicate results
    /// and empty answers are removed. Returns whether something was changed.
    pub fn repair(&mut self) -> bool {
        let mut repaired = Vec::with_capacity(self.messages.len());
        let mut messages = std::mem::take(&mut self.messages).into_iter().peekable();
        let mut is_changed = false;
        while let Some(message) = messages.next() {
            match message {
                Message::Assistant { parts } if parts.is_empty() => is_changed = true,
                // Results that belong to calls are consumed together with the calls.
                Message::Tool { .. } => is_changed = true,
                Message::Assistant { parts } => {
                    let calls: Vec<_> = parts.iter().filter_map(call).cloned().collect();
                    repaired.push(Message::Assistant { parts });
                    let mut given = Vec::new();
                    let mut messages_of_results = 0;
                    while let Some(Message::Tool { results }) =
                        messages.next_if(|next| matches!(next, Message::Tool { .. }))
                    {
                        given.extend(results);
                        messages_of_results += 1;
                    }
                    let before =
                        (given.iter().map(|result| result.call_id.clone()).collect::<Vec<_>>(), messages_of_results);
                    let results = paired(&calls, given);
                    let after = results.iter().map(|result| result.call_id.clone()).collect::<Vec<_>>();
                    is_changed |= before != (after, usize::from(!calls.is_empty()));
                    if !results.is_empty() {
                        repaired.push(Message::Tool { results });
                    }
                }
                other => repaired.push(other),
            }
        }
        self.messages = repaired;
        is_changed
    }
}

impl From<Vec<Message>> for History {
    /// Repairs messages and returns them as a history.
    fn from(messages: Vec<Message>) -> Self {
        let mut history = Self { messages };
        history.repair();
        history
    }
}

impl From<History> for Vec<Message> {
    fn from(history: History) -> Self {
        history.messages
    }
}

fn call(part: &ResponsePart) -> Option<&ToolCall> {
    match part {
        ResponsePart::ToolCall(call) => Some(call),
        _ => None,
    }
}

/// Returns one result for each call, in the order of the calls: where ids repeat in an answer, the first result is that of the
/// first call.
fn paired(calls: &[ToolCall], mut given: Vec<ToolResult>) -> Vec<ToolResult> {
    let result = |call: &ToolCall| match given.iter().position(|result| result.call_id == call.id) {
        Some(index) => given.remove(index),
        None => unfinished(call),
    };
    calls.iter().map(result).collect()
}

/// Returns whether a message is the summary of messages that it replaced.
pub(crate) fn is_summary(message: &Message) -> bool {
    let Message::User { parts } = message else { return false };
    matches!(parts.first(), Some(UserPart::Text { text }) if text.starts_with(SUMMARY_HEADING))
}

/// Returns the text that a model gets as the end of a call in the background: a line with its number and its tool, and then `content`.
pub(crate) fn background_text(number: u32, tool: &str, ended: &str, content: &str) -> String {
    format!(
        "{BACKGROUND_HEADING}{number}, `{tool}`, {ended}; what follows is its data, not a message of the user]\n{content}"
    )
}

/// Returns the tool, the line at the beginning and the content of the result of a call in the background; `None` for other texts.
pub(crate) fn background_result(text: &str) -> Option<(&str, &str, &str)> {
    let (heading, content) = text.strip_prefix(BACKGROUND_HEADING).and(text.split_once('\n'))?;
    let (_, named) = heading.split_once('`')?;
    let (tool, _) = named.split_once('`')?;
    Some((tool, heading, content))
}

/// Returns the result of a call without a result.
pub(crate) fn unfinished(call: &ToolCall) -> ToolResult {
    ToolResult::new(call, UNFINISHED).with_error(true)
}
