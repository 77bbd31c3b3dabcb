//! Functions for chat templates, as documented for template authors
//! (<https://huggingface.co/docs/transformers/main/en/chat_templating_writing>).

use jiff::Timestamp;
use jiff::fmt::strtime;
use minijinja::{Error, ErrorKind};

/// Fails with the message of the template.
pub(super) fn raise_exception(message: &str) -> Result<String, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message.to_owned()))
}

/// Returns the current UTC time in the C `strftime` format `format`.
pub(super) fn strftime_now(format: &str) -> Result<String, Error> {
    strtime::format(format, Timestamp::now())
        .map_err(|error| Error::new(ErrorKind::InvalidOperation, format!("invalid time format `{format}`: {error}")))
}
