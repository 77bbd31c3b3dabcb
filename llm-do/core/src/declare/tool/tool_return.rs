//! The result of a call: how functions return it, and how typed callers decode it.

use std::borrow::Cow;

use llm_do_providers::Attachment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::Error;
use serde_json::Value;

use super::ResultForm;
use crate::base::error::{BoxError, Fault};
use crate::declare::nesting;
use crate::declare::subtask::SubtaskRequest;

/// The result of a tool: a value, files for the model, and a note for the operator.
///
/// A tool that returns a value alone can return any type that implements `Serialize` instead. The value may be nested at most
/// 128 levels deep; the call fails if it is deeper. A worker that returns a `ToolReturn` returns the model's text and the
/// files that the model generated, such as images; with files, the text may be missing. A call by name
/// ([`CallContext::call_tool`](crate::plane::context::CallContext::call_tool)) returns the value only.
///
/// # Examples
///
/// ```
/// use llm_do::{Attachment, ToolReturn, tool};
///
/// /// Draw a plot.
/// #[tool(effect = read_only)]
/// fn plot(values: &[f64]) -> ToolReturn {
///     let svg = format!("<svg><!-- {} points --></svg>", values.len());
///     let picture = Attachment::new("image/svg+xml", svg).named("plot.svg");
///     ToolReturn::text("Here is the plot.").attach(picture).note("drawn without a scale")
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct ToolReturn {
    pub(crate) content: Content,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) note: Option<String>,
    /// The task whose result replaces the value.
    pub(crate) subtask: Option<Box<SubtaskRequest>>,
}

/// The value of a result.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    Value(Value),
    /// JSON text, in [`ResultForm::Text`]: the caller reads it, and events have it as it is.
    Json(String),
}

impl Default for Content {
    fn default() -> Self {
        Self::Value(Value::Null)
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        self.to_value() == other.to_value()
    }
}

impl Content {
    fn to_value(&self) -> Cow<'_, Value> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            Self::Json(json) => Cow::Owned(serde_json::from_str(json).unwrap_or_default()),
        }
    }

    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Value(value) => value,
            Self::Json(json) => serde_json::from_str(&json).unwrap_or_default(),
        }
    }
}

impl ToolReturn {
    /// Creates a result from a text, which the model reads as it is.
    pub fn text(text: impl Into<String>) -> Self {
        Value::String(text.into()).into()
    }

    /// Creates a result from a value, which the model reads as JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be written as JSON of at most 128 levels of arrays and objects.
    pub fn json(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(nesting::to_value(value).map_err(|fault| serde_json::Error::custom(fault.model_message()))?.into())
    }

    /// Hands the call over to a worker: the worker's answer becomes the tool's result.
    ///
    /// The worker is chosen as by [`CallContext::subtask`](crate::plane::context::CallContext::subtask), among those that the tool may call.
    pub fn subtask(request: SubtaskRequest) -> Self {
        Self { subtask: Some(Box::new(request)), ..Self::default() }
    }

    /// Adds a file for the model. Default: none.
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Adds a note for the operator, which is in the events and not sent to a model. Default: none.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// Returns the value that the model reads.
    #[must_use]
    pub fn value(&self) -> &Value {
        match &self.content {
            Content::Value(value) => value,
            // Who can call this gets a value: a caller that asked for text takes it instead.
            Content::Json(_) => &Value::Null,
        }
    }

    /// Returns the value that the model reads, mutably.
    pub fn value_mut(&mut self) -> &mut Value {
        if let Content::Json(_) = &self.content {
            self.content = Content::Value(std::mem::take(&mut self.content).into_value());
        }
        let Content::Value(value) = &mut self.content else { unreachable!("text was replaced by its value") };
        value
    }

    /// Returns the value as JSON text.
    pub(crate) fn into_json(self) -> String {
        match self.content {
            Content::Value(value) => value.to_string(),
            Content::Json(json) => json,
        }
    }

    /// Returns the value as a model reads it: a text as it is, everything else as JSON.
    pub(crate) fn into_text(self) -> String {
        match self.content {
            Content::Value(Value::String(text)) => text,
            Content::Value(value) => value.to_string(),
            // A text is written with quotes and escapes.
            Content::Json(json) if json.starts_with('"') => serde_json::from_str(&json).unwrap_or(json),
            Content::Json(json) => json,
        }
    }

    /// Returns a copy of the value, however it was written.
    #[cfg(feature = "mcp")]
    pub(crate) fn to_value(&self) -> Value {
        self.as_value().into_owned()
    }

    /// Returns the value, which is read if it was written as text.
    pub(crate) fn as_value(&self) -> Cow<'_, Value> {
        self.content.to_value()
    }

    /// Returns the value, however it was written.
    pub(crate) fn into_value(self) -> Value {
        self.content.into_value()
    }

    /// Returns the files for the model, mutably.
    pub fn attachments_mut(&mut self) -> &mut Vec<Attachment> {
        &mut self.attachments
    }

    /// Returns the files for the model.
    #[must_use]
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }
}

impl From<Value> for ToolReturn {
    fn from(value: Value) -> Self {
        Self { content: Content::Value(value), ..Self::default() }
    }
}

/// A type that a tool may return, alone or in a `Result`: one that implements `Serialize`, or a [`ToolReturn`].
#[diagnostic::on_unimplemented(
    message = "a tool or entry cannot return `{Self}`",
    label = "cannot be converted to JSON",
    note = "put `#[llm_do::data]` on the type, or derive `serde::Serialize` for it, or return a `ToolReturn`",
    note = "if it is a future, write `async fn` and return its output"
)]
pub trait ToolOutput {
    #[doc(hidden)]
    fn into_return(self, form: ResultForm) -> Result<ToolReturn, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {
    fn into_return(self, form: ResultForm) -> Result<ToolReturn, BoxError> {
        if form == ResultForm::Text
            && let Some(json) = nesting::to_text(&self)
        {
            return Ok(ToolReturn { content: Content::Json(json), ..ToolReturn::default() });
        }
        Ok(nesting::into_value(self).map_err(|fault| unwritten(&fault))?.into())
    }
}

#[diagnostic::do_not_recommend]
impl ToolOutput for ToolReturn {
    fn into_return(mut self, _: ResultForm) -> Result<ToolReturn, BoxError> {
        *self.value_mut() = shallow(std::mem::take(self.value_mut()))?;
        Ok(self)
    }
}

/// Returns the value, or an error if it is nested too deep.
pub(super) fn shallow(value: Value) -> Result<Value, BoxError> {
    nesting::shallow(value).map_err(|fault| unwritten(&fault))
}

/// Returns the error of a function whose result cannot be passed on as JSON.
fn unwritten(fault: &Fault) -> BoxError {
    format!("invalid result: {}", fault.model_message()).into()
}

/// A type that the result of a typed call can be decoded as: one that implements `DeserializeOwned`, or a [`ToolReturn`].
#[diagnostic::on_unimplemented(
    message = "the result of this call cannot be read back as `{Self}`",
    label = "neither `DeserializeOwned` nor `ToolReturn`",
    note = "a result is passed as JSON: return a type that implements `serde::Deserialize` and owns its data, or call \
            the tool by name with `ctx.call_tool(\"name\", json)`"
)]
pub trait FromReturn: Sized {
    #[doc(hidden)]
    fn from_return(returned: ToolReturn) -> Result<Self, serde_json::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromReturn for T {
    fn from_return(returned: ToolReturn) -> Result<Self, serde_json::Error> {
        serde_json::from_value(returned.into_value())
    }
}

#[diagnostic::do_not_recommend]
impl FromReturn for ToolReturn {
    fn from_return(returned: ToolReturn) -> Result<Self, serde_json::Error> {
        Ok(returned)
    }
}
