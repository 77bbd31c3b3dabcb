//! The input of the user: messages, and commands that begin with `/`.

use llm_do_core::plane::mailbox::RunMessage;
use llm_do_providers::{Message, ResponsePart, UserPart};
use llm_do_worker_file::did_you_mean;

/// The commands, each with a description.
pub(super) const COMMANDS: [(&str, &str); 9] = [
    ("help", "list the commands"),
    ("tools", "list the tools that the worker may call"),
    ("cost", "show the usage and cost of the chat"),
    ("model", "show the model; /model provider:model changes it"),
    ("clear", "begin a new chat; the old one stays saved"),
    ("compact", "replace the old part of the conversation by a summary"),
    ("pin", "keep your last message when the conversation is summarized"),
    ("history", "show the last messages"),
    ("quit", "end the program, like Ctrl+D"),
];

/// What begins a message that interrupts.
const INTERRUPTS: char = '!';

/// The maximum number of characters of a part that `/history` shows.
const SHOWN: usize = 400;

/// The meaning of a line.
#[derive(Debug, PartialEq)]
pub(super) enum Input<'a> {
    Nothing,
    Message(&'a str),
    /// The name of a command, and the rest of the line.
    Command(&'a str, &'a str),
}

impl<'a> Input<'a> {
    /// Parses the input; a message may have several lines, a command has one.
    pub(super) fn parse(text: &'a str) -> Self {
        let text = text.trim();
        let command = text.strip_prefix('/').filter(|rest| {
            let word = rest.split(char::is_whitespace).next().unwrap_or_default();
            // A path such as `/etc/hosts` is not a command.
            !text.contains('\n') && !word.is_empty() && word.chars().all(char::is_alphabetic)
        });
        match (text, command) {
            ("", _) => Self::Nothing,
            (_, Some(command)) => {
                let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
                Self::Command(name, rest.trim())
            }
            (text, None) => Self::Message(text),
        }
    }
}

/// Returns what the user types while an answer is pending as a message to its run; `None` for a command or an empty line.
pub(super) fn steering(text: &str) -> Option<RunMessage> {
    let Input::Message(text) = Input::parse(text) else { return None };
    Some(match text.strip_prefix(INTERRUPTS).map(str::trim_start) {
        Some(rest) if !rest.is_empty() => RunMessage::new(rest).interrupt(),
        _ => RunMessage::new(text),
    })
}

/// Returns the error for an unknown command.
pub(super) fn unknown(name: &str) -> String {
    let hint = did_you_mean(name, COMMANDS.into_iter().map(|(name, _)| name));
    format!("unknown command `/{name}`{}", if hint.is_empty() { "; /help lists the commands" } else { &hint })
}

/// Returns a message as lines.
pub(super) fn shown(message: &Message) -> Vec<String> {
    match message {
        Message::User { parts } => parts.iter().filter_map(of_user).collect(),
        Message::Assistant { parts } => parts.iter().filter_map(of_model).collect(),
        Message::Tool { results } => results
            .iter()
            .map(|result| format!("  result of {}: {}", result.name, shortened(&result.content)))
            .collect(),
        _ => Vec::new(),
    }
}

fn of_user(part: &UserPart) -> Option<String> {
    match part {
        UserPart::Text { text } => Some(format!("you: {}", shortened(text))),
        UserPart::Attachment(_) => Some("you: (a file)".to_owned()),
        UserPart::Pin => Some("  (pinned)".to_owned()),
        _ => None,
    }
}

fn of_model(part: &ResponsePart) -> Option<String> {
    match part {
        ResponsePart::Text { text } => Some(format!("model: {}", shortened(text))),
        ResponsePart::ToolCall(call) => Some(format!("  call of {}: {}", call.name, shortened(&call.arguments))),
        _ => None,
    }
}

fn shortened(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.by_ref().take(SHOWN).collect();
    if letters.next().is_some() { start + " …" } else { start }
}

#[cfg(test)]
mod tests {
    use super::{Input, RunMessage, steering, unknown};

    #[test]
    fn a_message_that_begins_with_an_exclamation_mark_interrupts() {
        assert_eq!(steering("wait\n"), Some(RunMessage::new("wait")));
        assert_eq!(steering("! stop\n"), Some(RunMessage::new("stop").interrupt()));
        assert_eq!(steering("!"), Some(RunMessage::new("!")));
        assert_eq!(steering("/cost"), None);
        assert_eq!(steering(" \n"), None);
    }

    #[test]
    fn a_line_that_begins_with_a_slash_and_a_word_is_a_command() {
        assert_eq!(Input::parse(" /model openai:gpt-5 \n"), Input::Command("model", "openai:gpt-5"));
        assert_eq!(Input::parse("/help"), Input::Command("help", ""));
        for text in ["/etc/hosts", "/", "/ a", "a /help", "/help\nme"] {
            assert_eq!(Input::parse(text), Input::Message(text));
        }
        assert_eq!(Input::parse(" \n "), Input::Nothing);
    }

    #[test]
    fn an_unknown_command_has_a_suggestion() {
        assert_eq!(unknown("hlep"), "unknown command `/hlep`; did you mean `help`?");
        assert_eq!(unknown("xyz"), "unknown command `/xyz`; /help lists the commands");
    }
}
