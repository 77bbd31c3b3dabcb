//! The names of called tools.

use std::borrow::Cow;

/// The maximum length of a name: OpenAI's, which is the lowest
/// (<https://platform.openai.com/docs/api-reference/chat/create>, read 2026-11-28).
const MAX_LENGTH: usize = 64;
/// The name of a call that has none.
const UNNAMED: &str = "unnamed_tool";

/// Returns the name of a called tool as every provider accepts it: `^[a-zA-Z0-9_-]{1,64}$`.
///
/// All tools have such names; a model invents other names, such as `multi_tool_use.parallel`. The result of the call
/// states the name that the model wrote.
pub(crate) fn tool_name(name: &str) -> Cow<'_, str> {
    let is_valid = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if name.is_empty() {
        UNNAMED.into()
    } else if name.len() <= MAX_LENGTH && name.chars().all(is_valid) {
        name.into()
    } else {
        let letters = name.chars().map(|letter| if is_valid(letter) { letter } else { '_' });
        letters.take(MAX_LENGTH).collect()
    }
}
