//! Detects from a server's message that the conversation exceeds the model's context.
//!
//! Only some servers have a code for it. Their messages differ, but all state that a part of the request (its prompt,
//! its input, its tokens) exceeds a limit of the model (its context, its maximum).

#[cfg(test)]
mod tests;

use serde_json::Value;

use super::words::messages;

/// Names that are used only for the model's context.
const CONTEXT: [&str; 13] = [
    "context length",
    "context limit",
    "context overflow",
    "context size",
    "context window",
    "context_length",
    "context_window",
    "max_model_len",
    "max_seq_len",
    "maximum input length",
    "maximum model length",
    "maximum prompt length",
    "model token limit",
];
/// Phrases for an excess, or for its fix.
const TOO_MUCH: [&str; 21] = [
    "beyond",
    "but the request",
    "exceed",
    "fewer",
    "greater than",
    "however",
    "is not enough",
    "larger than",
    "longer than",
    "maximum",
    "more than",
    "not fit",
    "only support",
    "overflow",
    "reached",
    "reduce",
    "shorten",
    "shorter",
    "too large",
    "too long",
    "too many",
];
/// The subjects of an excess: the words that start such a statement, and the words that follow shortly after.
const SUBJECTS: [&str; 14] = [
    "conversation",
    "history",
    "input",
    "inputs",
    "length",
    "message",
    "messages",
    "prompt",
    "request",
    "sequence",
    "text",
    "token",
    "tokens",
    "transcript",
];
const STATEMENTS: [&[&str]; 10] = [
    &["too", "long"],
    &["too", "large"],
    &["longer", "than"],
    &["larger", "than"],
    &["exceed"],
    &["exceeds"],
    &["exceeded"],
    &["exceeding"],
    &["must", "have", "less"],
    &["must", "have", "at", "most"],
];
/// Statements that are about the conversation only after a mention of its tokens or its length: validators use them for
/// any field.
const BOUNDS: [&[&str]; 9] = [
    &["greater", "than"],
    &["only", "support", "up", "to"],
    &["only", "supports", "up", "to"],
    &["should", "be", "1"],
    &["must", "be", "between", "1"],
    &["should", "be", "less"],
    &["should", "be", "at", "most"],
    &["must", "be", "less"],
    &["must", "be", "at", "most"],
];
/// Phrases for a minimum.
const MINIMUM: [&str; 4] = ["be greater than", "be larger than", "be longer than", "be more than"];
/// The words before a minimum.
const REQUIRED: [&str; 2] = ["must ", "should "];
/// The prefix of TGI's message for any invalid request.
const PREFIX: &str = "input validation error:";
/// The maximum number of words between a subject and its statement.
const BETWEEN: usize = 10;
/// Words of a rate limit.
const RATE: [&str; 11] = [
    "per minute",
    "per min",
    "per day",
    "per hour",
    "per second",
    "rate limit",
    "ratelimit",
    "rate-limit",
    "quota",
    "(tpm)",
    "(rpm)",
];
/// Words for the memory of the server's machine, which is too small for the context.
const MACHINE: [&str; 2] = ["memory", "vram"];
/// Words that indicate that an error is about a part of the request, not the whole conversation.
const OTHER: [&str; 25] = [
    "array",
    "attachment",
    "audio",
    "authorization",
    "batch",
    "bearer",
    "bytes",
    "description",
    "document",
    "enum",
    "file",
    "function",
    "image",
    "images",
    "jwt",
    "logprobs",
    "mb",
    "name",
    "names",
    "pdf",
    "property",
    "schema",
    "stop",
    "string",
    "tool",
];
/// The names of the limit on the answer.
const OUTPUT: [&str; 6] =
    ["max_tokens", "max_completion_tokens", "max_new_tokens", "max_output_tokens", "maxoutputtokens", "num_predict"];

/// Returns whether the text of an error reports a full context.
pub(super) fn is_reported(error: &Value) -> bool {
    let is_of_output = error["param"].as_str().is_some_and(|param| OUTPUT.contains(&param));
    !is_of_output && messages(error).iter().any(|message| reports(message))
}

/// Returns whether a message, in lower case, reports a full context.
fn reports(message: &str) -> bool {
    let message = without_quotes(message);
    let message = message.strip_prefix(PREFIX).unwrap_or(&message);
    let is_of_other = RATE.iter().chain(&MACHINE).any(|phrase| message.contains(phrase));
    if is_of_other || limits_output(message) {
        return false;
    }
    let message = without_minimum(message);
    let names_context = CONTEXT.iter().any(|phrase| message.contains(phrase));
    if names_context && TOO_MUCH.iter().any(|phrase| message.contains(phrase)) {
        return true;
    }
    let text = message.split_once(": ").filter(|(path, _)| !path.contains(' ') && path.contains('.'));
    states(text.map_or(&*message, |(_, text)| text))
}

/// Returns a message without its statements about a minimum.
fn without_minimum(message: &str) -> String {
    let phrases = REQUIRED.into_iter().flat_map(|required| MINIMUM.map(|minimum| [required, minimum].concat()));
    phrases.fold(message.to_owned(), |message, phrase| message.replace(&phrase, ""))
}

/// Returns whether a text reports that the request has too many tokens.
fn states(text: &str) -> bool {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    if words.iter().any(|word| OTHER.contains(word)) {
        return false;
    }
    let is_of_tokens =
        words.iter().any(|word| matches!(*word, "token" | "tokens" | "context" | "prompt" | "input" | "inputs"));
    is_of_tokens
        && (too_many_tokens(&words)
            || bounds_inputs(text)
            || words.iter().enumerate().any(|(place, _)| begins(&words[place..])))
}

/// Whether a text is TGI's message for long inputs, which contains a comparison operator instead of a word.
fn bounds_inputs(text: &str) -> bool {
    text.split_once("inputs").is_some_and(|(_, rest)| rest.contains("must be <="))
}

/// Whether the words contain "too many tokens", with at most a few words in between.
fn too_many_tokens(words: &[&str]) -> bool {
    words.windows(2).enumerate().any(|(place, pair)| {
        pair == ["too", "many"] && words[place + 2..].iter().take(3).any(|word| word.starts_with("token"))
    })
}

/// Whether the words start with a subject that a statement follows.
fn begins(words: &[&str]) -> bool {
    let is_subject = words.first().is_some_and(|word| SUBJECTS.contains(word));
    is_subject
        && (1..words.len().min(BETWEEN + 2)).any(|place| {
            let (before, rest) = words.split_at(place);
            let has_amount = before.iter().any(|word| matches!(*word, "token" | "tokens" | "length"));
            begin_with(rest, &STATEMENTS) || (has_amount && begin_with(rest, &BOUNDS))
        })
}

fn begin_with(words: &[&str], statements: &[&[&str]]) -> bool {
    statements.iter().any(|statement| words.starts_with(statement))
}

/// Whether only the limit on the answer is too high, not its sum with the input.
fn limits_output(message: &str) -> bool {
    let Some((name, place)) =
        OUTPUT.iter().filter_map(|name| Some((name, message.find(name)?))).min_by_key(|(_, at)| *at)
    else {
        return false;
    };
    let (before, after) = (&message[..place], &message[place + name.len()..]);
    let stands_with_input = ["input", "prompt", "message", "and ", "+"].iter().any(|word| before.contains(word));
    // Up to the end of the sentence, so that the statement is about the same limit.
    let sentence = after.split(". ").next().unwrap_or(after);
    let is_too_high =
        ["too large", "too high", "must be", "should be", "exceed", "cannot be", " > ", "at most", "less than"];
    !stands_with_input && is_too_high.iter().any(|words| sentence.contains(words))
}

/// Returns a message without quoted sentences, which may be part of the prompt; quoted words are names of fields.
fn without_quotes(message: &str) -> String {
    let mut text = message.to_owned();
    for mark in ['"', '`', '\''] {
        let parts = split_at_quotes(&text, mark);
        let kept = parts.iter().enumerate().map(|(place, part)| {
            let is_sentence = place % 2 == 1 && place + 1 < parts.len() && part.split_whitespace().count() > 3;
            if is_sentence { "" } else { part }
        });
        text = kept.collect::<Vec<_>>().join(" ");
    }
    // The text after "got:" or "received:" is quoted from the request.
    match text.find(" received: ").or_else(|| text.find(" got: ")) {
        Some(place) => text[..place].to_owned(),
        None => text,
    }
}

/// Splits a text at its quotation marks; an apostrophe, which follows a letter, does not count.
fn split_at_quotes(text: &str, mark: char) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (place, _) in text.match_indices(mark) {
        let (before, after) = (&text[..place], &text[place + mark.len_utf8()..]);
        let (is_closing, is_within) = (parts.len() % 2 == 1, after.starts_with(char::is_alphanumeric));
        let is_apostrophe = mark == '\'' && before.ends_with(char::is_alphanumeric) && (!is_closing || is_within);
        if !is_apostrophe {
            parts.push(&text[start..place]);
            start = place + mark.len_utf8();
        }
    }
    parts.push(&text[start..]);
    parts
}
