//! What a tool's function returns, told apart by type: a value or a `Result` of one, under whatever name.

use std::fmt::Display;
use std::marker::PhantomData;

use serde_json::Value;

use super::tool_return::shallow;
use super::{ToolOutput, ToolReturn};
use crate::base::error::BoxError;

/// What a function failed with.
#[doc(hidden)]
#[derive(Debug)]
pub struct Failure(pub(crate) BoxError);

/// An error that a tool's `Result` may hold: the one bound that is left when neither of the usual ones holds.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool or entry cannot fail with `{Self}`",
    label = "cannot be displayed",
    note = "implement `std::fmt::Display` for it, or `std::error::Error`"
)]
pub trait ToolError {}

/// Tells at compile time what a returned value is.
///
/// A method is looked for by the number of references that its trait takes away, most first: a `Result` in another, one
/// with an error that is a source, one with an error that is a text, any other `Result`, any value.
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

/// A `Result` in another, whose inner error a model would be told of as of a success.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Nested;

/// A single `Result`: nothing implements this, so that two in one another are refused.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool or entry cannot return a `Result` inside a `Result`: `{Self}`",
    label = "nested `Result`",
    note = "combine the two with `?` or `.flatten()`"
)]
pub trait Single {}

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value chooses the method")]
impl Nested {
    /// Refuses the inner `Result`.
    ///
    /// # Errors
    ///
    /// Never returns: nothing implements [`Single`].
    pub fn finish<T: Single, E>(self, _: Result<T, E>) -> Result<ToolReturn, Failure> {
        Err(Failure("one `Result` in another".into()))
    }
}

#[doc(hidden)]
pub trait ReturnsNested {
    #[doc(hidden)]
    type Kind: Default;

    #[doc(hidden)]
    fn kind(&self) -> Self::Kind {
        Self::Kind::default()
    }
}

impl<T, E, F> ReturnsNested for &&&&Returned<Result<Result<T, E>, F>> {
    type Kind = Nested;
}

/// JSON, as it is or in a `Result`: unlike any other value, it can be dropped however deep it is nested.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Json;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value chooses the method")]
impl Json {
    /// As [`WithSource::finish`].
    ///
    /// # Errors
    ///
    /// Returns what the function failed with, or that the value is nested too deep.
    pub fn finish(self, returned: impl ReturnsJson) -> Result<ToolReturn, Failure> {
        let value = returned.into_json().and_then(shallow).map_err(Failure)?;
        Ok(value.into())
    }

    /// As [`WithSource::value`].
    ///
    /// # Errors
    ///
    /// Returns what the function failed with.
    pub fn value(self, returned: impl ReturnsJson) -> Result<Value, BoxError> {
        returned.into_json()
    }
}

#[doc(hidden)]
pub trait ReturnsJson {
    #[doc(hidden)]
    fn into_json(self) -> Result<Value, BoxError>;
}

impl ReturnsJson for Value {
    fn into_json(self) -> Result<Value, BoxError> {
        Ok(self)
    }
}

impl<E: Into<BoxError>> ReturnsJson for Result<Value, E> {
    fn into_json(self) -> Result<Value, BoxError> {
        self.map_err(Into::into)
    }
}

impl<E: Into<BoxError>> ReturnsNested for &&&&Returned<Result<Value, E>> {
    type Kind = Json;
}

#[doc(hidden)]
impl Returned<Value> {
    /// An inherent method goes before [`ReturnsValue::kind`].
    #[must_use]
    pub fn kind(&self) -> Json {
        Json
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
