//! Which messages stay when the old part of a history becomes notes.

use std::collections::BTreeSet;

use llm_do_providers::{Message, ResponsePart};

use crate::plane::history::{History, SUMMARY_HEADING, is_summary};

/// What a call needs of its history.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Needed<'a> {
    /// The prompt of the call.
    pub(crate) prompt: Option<usize>,
    /// The ids of calls that have started and have no result yet, some of which may wait for approval.
    pub(crate) calls: &'a [String],
}

/// Which messages of a history go.
#[derive(Debug)]
pub(crate) struct Cut {
    /// The first message of the last part, which stays as it is.
    pub(crate) tail: usize,
    /// The messages before it that go, in order.
    goes: Vec<usize>,
    /// How many tokens go, without earlier notes.
    tokens: usize,
}

impl Cut {
    /// Returns where to cut a history of messages of these sizes, so that about `keep` tokens stay; `None` if nothing but earlier notes
    /// would go.
    pub(crate) fn find(messages: &[Message], sizes: &[usize], keep: usize, needed: Needed<'_>) -> Option<Self> {
        let always = always(messages, needed.prompt);
        let needs = always.iter().map(|place| sizes[*place]).sum();
        let tail = tail(messages, sizes, keep.saturating_sub(needs).max(keep / 4))?;
        let stays: BTreeSet<_> =
            always.into_iter().chain(last_of_user(messages, tail)).chain(turns_of(messages, needed.calls)).collect();
        let goes: Vec<_> = (0..tail).filter(|place| !stays.contains(place)).collect();
        let new: Vec<_> =
            goes.iter().filter(|place| !is_summary(&messages[**place])).map(|place| sizes[*place]).collect();
        let tokens = new.iter().sum();
        (!new.is_empty()).then_some(Self { tail, goes, tokens })
    }

    /// Returns whether enough goes to summarize it: a summary takes tokens too.
    pub(crate) fn is_worth(&self, max: usize) -> bool {
        self.tokens * 4 > max
    }

    /// Replaces what goes by notes, at the beginning.
    pub(crate) fn replace_by(&self, notes: &str, history: &mut History) {
        let messages = history.messages_mut();
        let old = std::mem::take(messages).into_iter().enumerate();
        let stays = old.filter(|(place, _)| self.goes.binary_search(place).is_err()).map(|(_, message)| message);
        let notes = Message::user(format!("{SUMMARY_HEADING}\n\n{notes}"));
        messages.extend([notes].into_iter().chain(stays));
    }
}

/// Returns the messages that stay wherever they are: the first one of the user, the prompt, and those that are pinned.
fn always(messages: &[Message], prompt: Option<usize>) -> BTreeSet<usize> {
    let pinned = (0..messages.len()).filter(|place| messages[*place].is_pinned());
    pinned.chain(prompt.filter(|place| *place < messages.len())).chain(messages.iter().position(is_of_user)).collect()
}

/// Returns the last message of the user before `tail`, unless the last part begins with one.
fn last_of_user(messages: &[Message], tail: usize) -> Option<usize> {
    let is_last = !matches!(messages[tail], Message::User { .. });
    messages[..tail].iter().rposition(is_of_user).filter(|_| is_last)
}

fn is_of_user(message: &Message) -> bool {
    matches!(message, Message::User { .. }) && !is_summary(message)
}

/// Returns the answers with one of `calls`, and their results.
fn turns_of(messages: &[Message], calls: &[String]) -> impl Iterator<Item = usize> {
    let is_open = move |part: &ResponsePart| matches!(part, ResponsePart::ToolCall(call) if calls.contains(&call.id));
    let has_open = move |message: &Message| match message {
        Message::Assistant { parts } => parts.iter().any(is_open),
        _ => false,
    };
    let answers = (0..messages.len()).filter(move |place| !calls.is_empty() && has_open(&messages[*place]));
    answers.flat_map(|place| [place, place + 1])
}

/// Returns the index of the first message of the last part, which has about `keep` tokens; `None` if that is the whole history.
fn tail(messages: &[Message], sizes: &[usize], keep: usize) -> Option<usize> {
    let mut kept = 0;
    let mut cut = messages.len();
    for index in (1..messages.len()).rev() {
        kept += sizes[index];
        if kept > keep && cut < messages.len() {
            break;
        }
        if may_start(messages, index) {
            cut = index;
        }
    }
    (cut < messages.len()).then_some(cut)
}

/// Returns whether a history may start with this message. Results stay with their calls. The answers between two
/// messages of the user stay together if no result separates them.
fn may_start(messages: &[Message], index: usize) -> bool {
    match (&messages[index], index.checked_sub(1).map(|before| &messages[before])) {
        (Message::User { .. }, _) => true,
        (Message::Assistant { .. }, before) => !matches!(before, Some(Message::Assistant { .. })),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use llm_do_providers::{Message, ResponsePart, ToolCall, ToolResult};

    use super::{Cut, Needed};
    use crate::plane::history::History;

    fn turn(id: &str) -> [Message; 2] {
        let call = ToolCall::new(id, "look", "{}");
        let result = ToolResult::new(&call, "seen");
        [Message::Assistant { parts: vec![ResponsePart::ToolCall(call)] }, Message::Tool { results: vec![result] }]
    }

    fn conversation() -> Vec<Message> {
        let users = ["first", "second", "third"].map(Message::user);
        let [first, second, third] = users;
        let turns = ["a", "b", "c", "d"].map(turn);
        let [a, b, c, d] = turns;
        [&[first][..], &a, &[second.pinned()], &b, &[third], &c, &d].concat()
    }

    /// Compacts with sizes of one token each; returns the texts that are left, in short.
    fn compacted(messages: Vec<Message>, keep: usize, needed: Needed<'_>) -> Option<History> {
        let sizes = vec![1; messages.len()];
        let cut = Cut::find(&messages, &sizes, keep, needed)?;
        let mut history = History::from(messages);
        cut.replace_by("notes", &mut history);
        Some(history)
    }

    #[test]
    fn the_first_the_pinned_and_the_last_message_of_the_user_stay() {
        let all = conversation();
        let history = compacted(all.clone(), 2, Needed::default()).unwrap();
        let left: Vec<_> = history.messages()[1..].to_vec();
        assert_eq!(left, [&all[..1], &all[3..4], &all[6..7], &all[9..]].concat());
    }

    #[test]
    fn the_prompt_and_the_turns_of_open_calls_stay() {
        let all = conversation();
        let needed = Needed { prompt: Some(6), calls: &["b".to_owned()] };
        let history = compacted(all.clone(), 2, needed).unwrap();
        assert_eq!(history.messages()[1..], [&all[..1], &all[3..7], &all[9..]].concat());
    }

    #[test]
    fn what_is_compacted_is_not_compacted_again() {
        let all = conversation();
        for keep in 0..all.len() {
            for (prompt, calls) in [(None, &[][..]), (Some(6), &["a".to_owned()][..])] {
                let Some(history) = compacted(all.clone(), keep, Needed { prompt, calls }) else { continue };
                let prompt = prompt.and_then(|place| history.messages().iter().position(|left| *left == all[place]));
                let again = compacted(history.messages().to_vec(), keep, Needed { prompt, calls });
                assert!(again.is_none(), "{keep}: {again:?}");
            }
        }
    }
}
