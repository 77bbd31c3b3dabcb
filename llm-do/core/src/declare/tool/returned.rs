//! Handles what a tool's function returns by its type: a value, or a `Result` under any alias.
//!
//! Autoref specialization selects the method.

use std::fmt::Display;
use std::marker::PhantomData;

use serde_json::Value;

use super::tool_return::shallow;
use super::{ToolOutput, ToolReturn};
use crate::base::error::BoxError;

/// The error of a function.
#[doc(hidden)]
#[derive(Debug)]
pub struct Failure(pub(crate) BoxError);

/// The bound that the compiler reports if a `Result`'s error is neither an error source nor displayable.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool or entry cannot fail with `{Self}`",
    label = "cannot be displayed",
    note = "implement `std::fmt::Display` for it, or `std::error::Error`"
)]
pub trait ToolError {}

/// Classifies a returned value at compile time, by autoref specialization.
///
/// The trait implemented for the most references wins: a nested `Result`, a `Result` whose error is a source, a `Result`
/// whose error is displayable, any other `Result`, any value.
#[doc(hidden)]
#[derive(Debug)]
pub struct Returned<T>(PhantomData<T>);

#[doc(hidden)]
impl<T> Returned<T> {
    /// Infers the type from a value.
    #[must_use]
    pub fn of(_: &T) -> Self {
        Self(PhantomData)
    }
}

/// A `Result` inside a `Result`, whose inner error would reach the model as a success.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Nested;

/// Not implemented by any type, so that a nested `Result` does not compile.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool or entry cannot return a `Result` inside a `Result`: `{Self}`",
    label = "nested `Result`",
    note = "combine the two with `?` or `.flatten()`"
)]
pub trait Single {}

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value selects the method")]
impl Nested {
    /// Rejects the inner `Result` at compile time.
    ///
    /// # Errors
    ///
    /// Never returns: nothing implements [`Single`].
    pub fn finish<T: Single, E>(self, _: Result<T, E>) -> Result<ToolReturn, Failure> {
        Err(Failure("a `Result` inside a `Result`".into()))
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

/// A JSON value, alone or in a `Result`: unlike other values, it can be dropped without recursion at any depth.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Json;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value selects the method")]
impl Json {
    /// As [`WithSource::finish`].
    ///
    /// # Errors
    ///
    /// Returns the function's error, or that the value is nested too deep.
    pub fn finish(self, returned: impl ReturnsJson) -> Result<ToolReturn, Failure> {
        let value = returned.into_json().and_then(shallow).map_err(Failure)?;
        Ok(value.into())
    }

    /// As [`WithSource::value`].
    ///
    /// # Errors
    ///
    /// Returns the function's error.
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
    /// An inherent method takes precedence over [`ReturnsValue::kind`].
    #[must_use]
    pub fn kind(&self) -> Json {
        Json
    }
}

/// A `Result` whose error becomes the source of the call's error.
#[doc(hidden)]
#[derive(Debug)]
pub struct WithSource;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value selects the method")]
impl WithSource {
    /// Converts a function's result into a [`ToolReturn`].
    ///
    /// # Errors
    ///
    /// Returns the function's error.
    pub fn finish<T: ToolOutput, E: Into<BoxError>>(self, returned: Result<T, E>) -> Result<ToolReturn, Failure> {
        self.value(returned).and_then(ToolOutput::into_return).map_err(Failure)
    }

    /// Returns the value unchanged.
    ///
    /// # Errors
    ///
    /// Returns the function's error.
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

/// A `Result` whose error is displayable but not an error source.
#[doc(hidden)]
#[derive(Debug)]
pub struct WithText;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value selects the method")]
impl WithText {
    /// As [`WithSource::finish`].
    ///
    /// # Errors
    ///
    /// Returns the text of the function's error.
    pub fn finish<T: ToolOutput, E: Display>(self, returned: Result<T, E>) -> Result<ToolReturn, Failure> {
        WithSource.finish(returned.map_err(|error| error.to_string()))
    }

    /// As [`WithSource::value`].
    ///
    /// # Errors
    ///
    /// Returns the text of the function's error.
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

/// A `Result` whose error cannot be displayed.
#[doc(hidden)]
#[derive(Debug)]
pub struct WithError;

#[doc(hidden)]
#[expect(clippy::unused_self, reason = "the value selects the method")]
impl WithError {
    /// Rejects the error type at compile time.
    ///
    /// # Errors
    ///
    /// Never returns: nothing implements [`ToolError`].
    pub fn finish<T: ToolOutput, E: ToolError>(self, _: Result<T, E>) -> Result<ToolReturn, Failure> {
        Err(Failure("an error that cannot be displayed".into()))
    }

    /// Rejects the error type at compile time.
    ///
    /// # Errors
    ///
    /// Never returns: nothing implements [`ToolError`].
    pub fn value<T, E: ToolError>(self, _: Result<T, E>) -> Result<T, BoxError> {
        Err("an error that cannot be displayed".into())
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

/// A value that is not a `Result`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Plain;

#[doc(hidden)]
#[expect(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "the value selects the method; all have the same signature"
)]
impl Plain {
    /// As [`WithSource::finish`].
    ///
    /// # Errors
    ///
    /// Returns why the value cannot be written as JSON.
    pub fn finish<T: ToolOutput>(self, returned: T) -> Result<ToolReturn, Failure> {
        returned.into_return().map_err(Failure)
    }

    /// As [`WithSource::value`].
    ///
    /// # Errors
    ///
    /// Never returns an error.
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

/// The type of a successful result; without bounds, so that an invalid type is reported once.
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

/// Finds at compile time whether `R` is a `Result`: an inherent constant takes precedence over a trait's.
#[doc(hidden)]
#[derive(Debug)]
pub struct ReturnProbe<R>(PhantomData<R>);

impl<T, E> ReturnProbe<Result<T, E>> {
    #[doc(hidden)]
    pub const FALLIBLE: bool = true;
}

/// The fallback of [`ReturnProbe`] for types other than `Result`.
#[doc(hidden)]
pub trait NotResult {
    #[doc(hidden)]
    const FALLIBLE: bool = false;
}

impl<R> NotResult for ReturnProbe<R> {}
