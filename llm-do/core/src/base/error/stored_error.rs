//! A tool's error that keeps its type in a journal.

use std::error::Error;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::cause::{RecordedError, Wrapped, actual};
use super::error_type::ErrorTypes;
use super::{BoxError, CallError, chain};

/// An error of a type that a tool declares, with its outer errors.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredError {
    /// The registered name of the tool that declares the type.
    of: String,
    /// The outer errors, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    within: Vec<Layer>,
    /// The error, as its type serializes it.
    error: Value,
    /// Its text with its causes. The type may have another text when it is read back.
    text: String,
}

/// An outer error.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Layer {
    /// The failure of a call of this tool.
    Call(String),
    /// An error of another type, with this text.
    Text(String),
}

impl StoredError {
    /// Finds the first error in a failed call that has the type declared by its tool, or by an outer tool.
    pub(super) fn from_error(failed: &CallError, types: &dyn ErrorTypes) -> Option<Self> {
        let CallError::Failed { tool, source } = failed else { return None };
        let mut tools = vec![tool];
        let mut error: &(dyn Error + 'static) = source.as_ref();
        let mut within = Vec::new();
        loop {
            let write = |tool: &&String| Some((String::clone(tool), types.error_type(tool)?.write(actual(error))?));
            if let Some((of, stored)) = tools.iter().rev().find_map(write) {
                return Some(Self { of, within, error: stored, text: chain(error) });
            }
            match error.downcast_ref() {
                Some(CallError::Failed { tool, .. }) => {
                    tools.push(tool);
                    within.push(Layer::Call(tool.clone()));
                }
                _ => within.push(Layer::Text(error.to_string())),
            }
            error = error.source()?;
        }
    }

    /// Rebuilds the error of a call to `tool`.
    pub(super) fn into_error(self, tool: String, types: &dyn ErrorTypes) -> CallError {
        let Self { of, within, error, text } = self;
        let innermost = types.error_type(&of).and_then(|kind| kind.read(error));
        let innermost: BoxError = match innermost {
            Some(error) if chain(error.as_ref()) == text => error,
            // A model has read this text.
            Some(error) => RecordedError { text, cause: CallError::Other(error) }.into(),
            None => text.into(),
        };
        let source = within.into_iter().rev().fold(innermost, |source, layer| match layer {
            Layer::Call(tool) => CallError::Failed { tool, source }.into(),
            Layer::Text(text) => Wrapped { text, source }.into(),
        });
        CallError::Failed { tool, source }
    }
}
