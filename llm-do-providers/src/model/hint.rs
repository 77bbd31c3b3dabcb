//! Information about a request that is not sent to providers.

use serde_json::Value;

/// Information about a [`Request`](crate::Request) for models that make up their answers, such as `TestModel`; it is
/// not sent to providers.
///
/// Other models ignore it, and recordings do not contain it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestHint<'a> {
    /// The number of answers since the prompt. User messages after an answer are questions of tools to the user, or
    /// reasons for a retry.
    pub answers: u32,
    /// The JSON schema of the answer's text, if only the instructions ask the model for it.
    pub prompted_output: Option<&'a Value>,
}

impl<'a> RequestHint<'a> {
    /// Creates the hint for an unanswered prompt with a free text answer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of answers since the prompt. Default: 0.
    #[must_use]
    pub fn answers(self, answers: u32) -> Self {
        Self { answers, ..self }
    }

    /// Sets the schema that the instructions ask for. Default: none.
    #[must_use]
    pub fn prompted_output(self, schema: Option<&'a Value>) -> Self {
        Self { prompted_output: schema, ..self }
    }
}
