//! What a tool's function returns, told apart by type: a value or a `Result` of one, under whatever name.

use std::fmt::Display;
use std::marker::PhantomData;

use llm_do_providers::Attachment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::BoxError;

/// What a tool gives back beside a value: files for the model, and a note that only the operator sees.
///
/// A tool that returns any type that serialises needs none of this. A caller by name
/// ([`CallContext::call_tool`](crate::CallContext::call_tool)) gets the value alone.
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
    pub(crate) value: Value,
    pub(crate) attachments: Vec<Attachment>,
    pub(crate) note: Option<String>,
}

impl ToolReturn {
    /// Returns a text, as the model reads it.
    pub fn text(text: impl Into<String>) -> Self {
        Value::String(text.into()).into()
    }

    /// Returns a value, which the model reads as JSON.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be written as JSON.
    pub fn json(value: &impl Serialize) -> Result<Self, serde_json::Error> {
        Ok(serde_json::to_value(value)?.into())
    }

    /// Adds a file for the model. Default: none.
    pub fn attach(mut self, attachment: Attachment) -> Self {
        self.attachments.push(attachment);
        self
    }

    /// Adds a note for the operator: it is in the events, and no model is told. Default: none.
    pub fn note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// Returns the value that the model reads.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Returns the files that the model is shown.
    #[must_use]
    pub fn attachments(&self) -> &[Attachment] {
        &self.attachments
    }
}

impl From<Value> for ToolReturn {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}

/// What a tool's function may return, or its `Result` hold: a value that serialises, or a [`ToolReturn`].
#[diagnostic::on_unimplemented(
    message = "a tool or entry cannot return `{Self}`",
    label = "no JSON can be made of this",
    note = "put `#[llm_do::data]` on the type, or derive `serde::Serialize` for it, or return a `ToolReturn`",
    note = "if it is a future, write `async fn` and return what the future gives"
)]
pub trait ToolOutput {
    #[doc(hidden)]
    fn into_return(self) -> Result<ToolReturn, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize> ToolOutput for T {
    fn into_return(self) -> Result<ToolReturn, BoxError> {
        Ok(serde_json::to_value(self)?.into())
    }
}

#[diagnostic::do_not_recommend]
impl ToolOutput for ToolReturn {
    fn into_return(self) -> Result<ToolReturn, BoxError> {
        Ok(self)
    }
}

/// What the result of a typed call can be read as: whatever deserialises, or a [`ToolReturn`].
#[diagnostic::on_unimplemented(
    message = "the result of this call cannot be read back as `{Self}`",
    label = "neither `DeserializeOwned` nor `ToolReturn`",
    note = "a result crosses the tool plane as JSON: let the tool return a type that implements `serde::Deserialize` and \
            borrows nothing, or call it by name: `ctx.call_tool(\"name\", json)`"
)]
pub trait FromReturn: Sized {
    #[doc(hidden)]
    fn from_return(returned: ToolReturn) -> Result<Self, serde_json::Error>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned> FromReturn for T {
    fn from_return(returned: ToolReturn) -> Result<Self, serde_json::Error> {
        serde_json::from_value(returned.value)
    }
}

#[diagnostic::do_not_recommend]
impl FromReturn for ToolReturn {
    fn from_return(returned: ToolReturn) -> Result<Self, serde_json::Error> {
        Ok(returned)
    }
}

/// What a function failed with.
#[doc(hidden)]
#[derive(Debug)]
pub struct Failure(pub(crate) BoxError);

/// An error that a tool's `Result` may hold: the one bound that is left when neither of the usual ones holds.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool or entry cannot fail with `{Self}`",
    label = "an error without a text",
    note = "implement `std::fmt::Display` for it, or `std::error::Error`"
)]
pub trait ToolError {}

/// Tells at compile time what a returned value is.
///
/// A method is looked for by the number of references that its trait takes away, most first: a `Result` with an error
/// that is a source, one with an error that is a text, any other `Result`, any value.
#[doc(hidden)]
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

#[doc(hidden)]
impl<T> Returned<T> {
    /// Looks at a value.
    #[must_use]
    pub fn of(_: &T) -> Self {
        Self(PhantomData)
    }
}

/// A `Result` whose error becomes the source of the call's.
#[doc(hidden)]
#[derive(Debug)]
pub struct WithSource;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value chooses the method")]
impl WithSource {
    /// Turns what a function returned into what the plane passes on.
    ///
    /// # Errors
    ///
    /// Returns what the function failed with.
    pub fn finish<T: ToolOutput, E: Into<BoxError>>(self, returned: Result<T, E>) -> Result<ToolReturn, Failure> {
        self.value(returned).and_then(ToolOutput::into_return).map_err(Failure)
    }

    /// Returns the value as it is.
    ///
    /// # Errors
    ///
    /// Returns what the function failed with.
    pub fn value<T, E: Into<BoxError>>(self, returned: Result<T, E>) -> Result<T, BoxError> {
        returned.map_err(Into::into)
    }
}

#[doc(hidden)]
pub trait ReturnsSource {
    #[doc(hidden)]
    fn kind(&self) -> WithSource {
        WithSource
    }
}

impl<T, E: Into<BoxError>> ReturnsSource for &&&Returned<Result<T, E>> {}

/// A `Result` whose error is a text.
#[doc(hidden)]
#[derive(Debug)]
pub struct WithText;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value chooses the method")]
impl WithText {
    /// As [`WithSource::finish`].
    ///
    /// # Errors
    ///
    /// Returns the text that the function failed with.
    pub fn finish<T: ToolOutput, E: Display>(self, returned: Result<T, E>) -> Result<ToolReturn, Failure> {
        WithSource.finish(returned.map_err(|error| error.to_string()))
    }

    /// As [`WithSource::value`].
    ///
    /// # Errors
    ///
    /// Returns the text that the function failed with.
    pub fn value<T, E: Display>(self, returned: Result<T, E>) -> Result<T, BoxError> {
        returned.map_err(|error| error.to_string().into())
    }
}

#[doc(hidden)]
pub trait ReturnsText {
    #[doc(hidden)]
    fn kind(&self) -> WithText {
        WithText
    }
}

impl<T, E: Display> ReturnsText for &&Returned<Result<T, E>> {}

/// A `Result` whose error says nothing.
#[doc(hidden)]
#[derive(Debug)]
pub struct WithError;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value chooses the method")]
impl WithError {
    /// Refuses the error.
    ///
    /// # Errors
    ///
    /// Never returns: nothing implements [`ToolError`].
    pub fn finish<T: ToolOutput, E: ToolError>(self, _: Result<T, E>) -> Result<ToolReturn, Failure> {
        Err(Failure("an error without a text".into()))
    }

    /// Refuses the error.
    ///
    /// # Errors
    ///
    /// Never returns: nothing implements [`ToolError`].
    pub fn value<T, E: ToolError>(self, _: Result<T, E>) -> Result<T, BoxError> {
        Err("an error without a text".into())
    }
}

#[doc(hidden)]
pub trait ReturnsError {
    #[doc(hidden)]
    fn kind(&self) -> WithError {
        WithError
    }
}

impl<T, E> ReturnsError for &Returned<Result<T, E>> {}

/// A value.
#[doc(hidden)]
#[derive(Debug)]
pub struct Plain;

#[doc(hidden)]
#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the value chooses the method, all of one form")]
impl Plain {
    /// As [`WithSource::finish`].
    ///
    /// # Errors
    ///
    /// Returns why no JSON can be made of the value.
    pub fn finish<T: ToolOutput>(self, returned: T) -> Result<ToolReturn, Failure> {
        returned.into_return().map_err(Failure)
    }

    /// As [`WithSource::value`].
    ///
    /// # Errors
    ///
    /// Never: a value is no failure.
    pub fn value<T>(self, returned: T) -> Result<T, BoxError> {
        Ok(returned)
    }
}

#[doc(hidden)]
pub trait ReturnsValue {
    #[doc(hidden)]
    fn kind(&self) -> Plain {
        Plain
    }
}

impl<T> ReturnsValue for Returned<T> {}

/// What a call yields when it succeeds; it asks nothing of the type, so that what is wrong with one is told once.
#[doc(hidden)]
pub trait Yields<const FALLIBLE: bool> {
    #[doc(hidden)]
    type Output;
}

impl<T> Yields<false> for T {
    type Output = T;
}

impl<T, E> Yields<true> for Result<T, E> {
    type Output = T;
}

/// Tells at compile time whether `R` is a `Result`: an inherent constant goes before a trait's.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReturnProbe<R>(PhantomData<R>);

impl<T, E> ReturnProbe<Result<T, E>> {
    #[doc(hidden)]
    pub const FALLIBLE: bool = true;
}

/// The other half of [`ReturnProbe`].
#[doc(hidden)]
pub trait NotResult {
    #[doc(hidden)]
    const FALLIBLE: bool = false;
}

impl<R> NotResult for ReturnProbe<R> {}
