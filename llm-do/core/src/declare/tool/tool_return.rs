//! The result of a call: how functions return it, and how typed callers decode it.

use llm_do_providers::Attachment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde::ser::Error;
use serde_json::Value;

use crate::base::error::{BoxError, Fault};
use crate::base::json::Json;
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
    pub(crate) content: Json,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) note: Option<String>,
    /// The task whose result replaces the value.
    pub(crate) subtask: Option<Box<SubtaskRequest>>,
}

impl ToolReturn {
    /// Creates a result from a text, which the model reads unchanged.
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

    /// Creates a result from JSON.
    pub(crate) fn from_json(content: Json) -> Self {
        Self { content, attachments: Vec::new(), note: None, subtask: None }
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
        self.content.value()
    }

    /// Returns the value that the model reads, mutably.
    pub fn value_mut(&mut self) -> &mut Value {
        self.content.value_mut()
    }

    /// Returns the value as JSON text.
    pub(crate) fn into_json(self) -> String {
        self.content.into_text()
    }

    /// Returns the value as a model reads it: a text unchanged, all other values as JSON.
    #[doc(hidden)]
    #[must_use]
    pub fn into_text(self) -> String {
        self.content.into_plain()
    }

    /// Returns the value.
    #[doc(hidden)]
    #[must_use]
    pub fn into_value(self) -> Value {
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
        Self::from_json(value.into())
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
    fn into_return(self) -> Result<ToolReturn, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {
    fn into_return(self) -> Result<ToolReturn, BoxError> {
        nesting::into_json(self).map(ToolReturn::from_json).map_err(|fault| unwritten(&fault))
    }
}

#[diagnostic::do_not_recommend]
impl ToolOutput for ToolReturn {
    fn into_return(mut self) -> Result<ToolReturn, BoxError> {
        self.content = shallow(self.content.into_value())?.into();
        Ok(self)
    }
}

/// Returns the value, or an error if it is nested too deep.
pub(super) fn shallow(value: Value) -> Result<Value, BoxError> {
    nesting::shallow(value).map_err(|fault| unwritten(&fault))
}

/// Returns the error of a function whose result cannot be written as JSON.
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
