//! Programs that models write and providers run, and whose tool calls run here: which of them are sent back to the
//! provider.
//!
//! A provider accepts a program that waits for the results of its calls, and a finished one. It refuses, or does not
//! document, other cases: a call whose program is no longer in the history, or a program that waits when the user
//! writes the next message. Such calls are sent as the model's own.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::attachment::Attachment;
use crate::message::{Message, ResponsePart};

/// The relation of a part to the program with this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link<'a> {
    Starts(&'a str),
    Calls(&'a str),
    Ends(&'a str),
}

/// The programs of a turn that are sent back to the provider.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Programs<'a> {
    /// The ids of the finished programs; `None` if all programs of the turn are sent back.
    finished: Option<Vec<&'a str>>,
}

impl<'a> Programs<'a> {
    /// All programs are sent back.
    pub(crate) const ALL: Self = Self { finished: None };

    /// Returns which programs of a turn are sent back: none if the request does not offer programs.
    ///
    /// The turn begins at `place` and ends before the next user message. In the last turn, programs may wait for results.
    pub(crate) fn in_turn<L>(
        messages: &'a [Message],
        place: usize,
        are_taken: bool,
        links: impl Fn(&'a ResponsePart) -> L,
    ) -> Self
    where
        L: IntoIterator<Item = Link<'a>>,
    {
        let after = &messages[place + 1..];
        let length = after.iter().position(|message| matches!(message, Message::User { .. }));
        let turn = &messages[place..=place + length.unwrap_or(after.len())];
        let parts = turn.iter().flat_map(|message| match message {
            Message::Assistant { parts } => parts.as_slice(),
            _ => &[],
        });
        let (mut started, mut called, mut ended) = (Vec::new(), Vec::new(), Vec::new());
        for link in parts.flat_map(links) {
            match link {
                Link::Starts(id) => started.push(id),
                Link::Calls(id) => called.push(id),
                Link::Ends(id) => ended.push(id),
            }
        }
        if !are_taken && [&started, &called, &ended].iter().any(|ids| !ids.is_empty()) {
            return Self { finished: Some(Vec::new()) };
        }
        let are_known = called.iter().chain(&ended).all(|id| started.contains(id));
        if are_known && (length.is_none() || started.iter().all(|id| ended.contains(id))) {
            return Self::ALL;
        }
        started.retain(|id| ended.contains(id));
        Self { finished: Some(started) }
    }

    /// Whether all programs of the turn are sent back, so that the JSON of a message does not depend on later messages.
    pub(crate) fn are_all(&self) -> bool {
        self.finished.is_none()
    }

    /// Whether the program `id` is sent back.
    pub(crate) fn has(&self, id: &str) -> bool {
        self.finished.as_ref().is_none_or(|finished| finished.contains(&id))
    }
}

/// Returns a result for a program, which reads only text. JSON stays unchanged; other text names the files that are
/// left out.
pub(crate) fn text_for_program<'a>(text: &'a str, attachments: &[Attachment]) -> Cow<'a, str> {
    if attachments.is_empty() || serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return text.into();
    }
    let files: Vec<_> = attachments.iter().map(Attachment::described).collect();
    format!("{text}\n(not passed to code, which reads only text: {}; call the tool directly for it)", files.join(", "))
        .into()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Link, Programs, text_for_program};
    use crate::attachment::Attachment;
    use crate::message::{Message, ProviderData, ResponsePart};

    /// An answer whose parts are links: `+a` starts the program `a`, `.a` calls from it, `-a` ends it.
    fn answer(links: &str) -> Message {
        let part = |link: &str| ResponsePart::Opaque(ProviderData::new("p", json!(link)));
        Message::Assistant { parts: links.split_whitespace().map(part).collect() }
    }

    fn link(part: &ResponsePart) -> Option<Link<'_>> {
        let ResponsePart::Opaque(data) = part else { return None };
        let (kind, id) = data.data.as_str()?.split_at(1);
        Some(match kind {
            "+" => Link::Starts(id),
            "." => Link::Calls(id),
            _ => Link::Ends(id),
        })
    }

    fn results() -> Message {
        Message::Tool { results: Vec::new() }
    }

    #[test]
    fn a_program_goes_back_while_it_waits_and_once_it_has_finished() {
        let turns = [
            (vec![answer("+a .a"), results()], true),
            (vec![answer("+a .a"), results(), answer(".a"), results()], true),
            (vec![answer("+a .a"), results(), answer("-a"), Message::user("more")], true),
            (vec![answer("+a .a"), results(), Message::user("more")], false),
            (vec![answer(".a"), results()], false),
            (vec![answer("-a")], false),
        ];
        for (turn, goes_back) in turns {
            let messages: Vec<_> = [Message::user("hi")].into_iter().chain(turn).collect();
            let programs = Programs::in_turn(&messages, 0, true, link);
            assert_eq!((programs.are_all(), programs.has("a")), (goes_back, goes_back), "{messages:?}");
        }
    }

    #[test]
    fn of_an_interrupted_turn_only_finished_programs_go_back() {
        let messages = [answer("+a .a"), results(), answer("-a +b .b"), results(), Message::user("more"), answer("+c")];
        let programs = Programs::in_turn(&messages, 0, true, link);
        assert!(programs.has("a") && !programs.has("b") && !programs.are_all(), "{programs:?}");
        assert!(Programs::in_turn(&messages, 4, true, link).are_all());
        assert!(!Programs::in_turn(&messages, 0, false, link).has("a"));
    }

    #[test]
    fn code_gets_text_that_states_which_files_are_missing() {
        let files = [Attachment::new("image/png", "hi!").named("a.png")];
        let text = text_for_program("see the files", &files).into_owned();
        assert!(text.starts_with("see the files\n(not passed to code") && text.contains("`a.png`"), "{text}");
        assert_eq!(text_for_program(r#"{"a":1}"#, &files), r#"{"a":1}"#);
    }
}
