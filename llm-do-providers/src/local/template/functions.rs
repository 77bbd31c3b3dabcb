//! The functions that templates call, as they are described for those who write templates
//! (<https://huggingface.co/docs/transformers/main/en/chat_templating_writing>).

use jiff::Timestamp;
use jiff::fmt::strtime;
use minijinja::{Error, ErrorKind};

/// Fails with the words of the template.
pub(super) fn raise_exception(words: &str) -> Result<String, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, words.to_owned()))
}

/// Returns the time in UTC, as `format` says in the terms of C.
pub(super) fn strftime_now(format: &str) -> Result<String, Error> {
    strtime::format(format, Timestamp::now()).map_err(|error| {
        Error::new(ErrorKind::InvalidOperation, format!("no time can be written as `{format}`: {error}"))
    })
}
