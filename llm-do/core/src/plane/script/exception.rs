//! Errors of calls as exceptions of the script, and exceptions of the script as errors.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use monty_types::{ExcType, MontyException};
use serde::{Deserialize, Serialize};

use super::program::UNSURE;
use crate::base::error::{BoxError, CallError, Unsure, chain};

/// The effect of a call's error on the script.
pub(super) enum Raised {
    /// An exception, which the script may handle.
    Exception(ExcType, String),
    /// The end of the script: the run is cancelled, a limit is reached, or its journal failed.
    Stop,
}

/// Returns the effect of a call's error on the script.
pub(super) fn raised(error: &CallError) -> Raised {
    let kind = match error.innermost() {
        CallError::Unsure { reason, .. } => {
            return Raised::Exception(ExcType::Exception, format!("{UNSURE}: {reason}"));
        }
        CallError::Cancelled { .. }
        | CallError::Limit { .. }
        | CallError::Journal { .. }
        | CallError::Refused { stops: true, .. } => return Raised::Stop,
        CallError::Denied { .. } | CallError::Blocked { .. } | CallError::Refused { .. } => ExcType::PermissionError,
        CallError::Timeout { .. } => ExcType::TimeoutError,
        CallError::InvalidArguments { .. } => ExcType::ValueError,
        _ => ExcType::RuntimeError,
    };
    let text = error.model_message();
    match error {
        // A journal stores only the text, so the kind is parsed from it, and a replay raises the same kind. The reason
        // of a denial is not parsed, since a person wrote it.
        CallError::Failed { source, .. } if kind != ExcType::PermissionError => {
            match of_text(&chain(source.as_ref())) {
                Some((kind, message)) => Raised::Exception(kind, message),
                None => Raised::Exception(kind, text),
            }
        }
        _ => Raised::Exception(kind, text),
    }
}

/// Finds the last `ValueError: text` with the name of a built-in exception.
fn of_text(text: &str) -> Option<(ExcType, String)> {
    let mut found = None;
    let mut rest = text;
    while let Some((name, message)) = rest.split_once(": ") {
        let is_name = name.ends_with("Error") || name == "Exception";
        if let Some(kind) = Some(name).filter(|_| is_name).and_then(|name| ExcType::from_str(name).ok()) {
            let message = message.rsplit_once(PLACE).map_or(message, |(message, _)| message);
            found = Some((kind, message.to_owned()));
        }
        rest = message;
    }
    found
}

/// An exception that ended a script.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Exception {
    kind: ExcType,
    message: String,
    /// The file and the line of the script.
    place: String,
}

impl From<&MontyException> for Exception {
    fn from(exception: &MontyException) -> Self {
        let place = exception.traceback().iter().rev().find(|frame| !frame.filename.starts_with('<'));
        Self {
            kind: exception.exc_type(),
            message: exception.message().unwrap_or_default().to_owned(),
            place: place.map(|frame| format!("{}:{}", frame.filename, frame.start.line)).unwrap_or_default(),
        }
    }
}

/// Returns the error of an exception that ended a script; `made` are the errors that calls raised in the script.
pub(super) fn ended(exception: &Exception, made: Vec<CallError>) -> BoxError {
    let why = exception.message.strip_prefix(UNSURE).and_then(|text| text.strip_prefix(": "));
    match why.filter(|_| exception.kind == ExcType::Exception) {
        Some(why) => Unsure::new(why).into(),
        None => ScriptError::from_exception(exception, made).into(),
    }
}

/// The text before the place of an exception.
const PLACE: &str = " (in ";

/// An exception that ended a script.
#[derive(Debug)]
pub(crate) struct ScriptError {
    text: String,
    /// The error of the call that raised it, if any.
    source: Option<CallError>,
}

impl ScriptError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), source: None }
    }

    /// Returns the error of an exception; `made` are the errors that calls raised in the script.
    fn from_exception(exception: &Exception, made: Vec<CallError>) -> Self {
        let Exception { kind, message, place } = exception;
        let is_cause = |error: &CallError| match raised(error) {
            Raised::Exception(raised, text) => raised == *kind && text == *message,
            Raised::Stop => false,
        };
        let source = made.into_iter().rev().find(is_cause);
        // The text of the cause follows it.
        let text = if source.is_some() { format!("in {place}") } else { format!("{kind}: {message}{PLACE}{place})") };
        Self { text, source }
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for ScriptError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|error| error as &(dyn Error + 'static))
    }
}
