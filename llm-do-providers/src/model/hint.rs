//! What is known of a request, and told to no provider.

use serde_json::Value;

/// What the asker knows of a [`Request`](crate::Request) and no provider is told: for models that make their answers up, such
/// as `TestModel`.
///
/// A model that asks somebody ignores it, and no recording holds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestHint<'a> {
    /// How many answers there were since the prompt: what stands behind them as the user's is what a tool asked the user, or why
    /// the model is to try again.
    pub answers: u32,
    /// The JSON schema that the answer's text is to follow, where nothing but the instructions tells the model of it.
    pub prompted_output: Option<&'a Value>,
}

impl<'a> RequestHint<'a> {
    /// Returns what is known of a prompt that was not answered yet, and that free text may answer.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says how many answers there were since the prompt. Default: none.
    #[must_use]
    pub fn answers(self, answers: u32) -> Self {
        Self { answers, ..self }
    }

    /// Says which schema the instructions ask the answer's text to follow. Default: none.
    #[must_use]
    pub fn prompted_output(self, schema: Option<&'a Value>) -> Self {
        Self { prompted_output: schema, ..self }
    }
}
