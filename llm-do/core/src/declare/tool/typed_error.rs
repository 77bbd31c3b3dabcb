//! Errors that keep their type in a journal, where they are stored as JSON.

use std::error::Error;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::base::error::{BoxError, ErrorType};
use crate::declare::nesting;
use crate::declare::schema::is_shallow;

/// The maximum size in bytes of an error as JSON.
const MAX_BYTES: usize = 64 * 1024;

/// The maximum nesting depth of an error as JSON.
const MAX_DEPTH: usize = 32;

/// An error that keeps its type in a journal.
///
/// Deserialized for `'static`, and not for any lifetime: for a type with a `&'static str`, the other bound would be a
/// compiler error instead of a choice. Deserializing such an error fails, and it keeps only its text.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a journal cannot keep errors of the type `{Self}`",
    label = "not an error that serde can write and read",
    note = "implement `std::error::Error` for it, and put `#[llm_do::data]` on it, or derive `serde::Serialize` and \
            `serde::Deserialize`"
)]
pub trait TypedError: Error + Serialize + Deserialize<'static> + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<E: Error + Serialize + Deserialize<'static> + Send + Sync + 'static> TypedError for E {}

#[doc(hidden)]
impl ErrorType {
    /// Stores errors of the type `E`.
    #[must_use]
    pub const fn for_error<E: TypedError>() -> Self {
        Self::new(write::<E>, read::<E>)
    }
}

/// Writes an error; `None` if it has another type, fails to serialize, or is too large or nested too deep.
fn write<E: TypedError>(error: &(dyn Error + 'static)) -> Option<Value> {
    let error = error.downcast_ref::<E>()?;
    let written = unless_panicking(|| nesting::to_value(error).ok())?;
    let is_small = is_shallow(&written, MAX_DEPTH) && written.to_string().len() <= MAX_BYTES;
    is_small.then_some(written)
}

/// Reads an error; `None` if the type has changed since it was written.
fn read<E: TypedError>(written: Value) -> Option<BoxError> {
    let error = unless_panicking(|| E::deserialize(written).ok())?;
    Some(Box::new(error))
}

/// Calls code of an error's type, whose panic must not change how the call ends.
fn unless_panicking<T>(code: impl FnOnce() -> Option<T>) -> Option<T> {
    catch_unwind(AssertUnwindSafe(code)).ok().flatten()
}

/// Finds the type of the errors of `R` at compile time, if it is a `Result` whose error is a [`TypedError`]: an inherent constant
/// takes precedence.
#[doc(hidden)]
#[derive(Debug)]
pub struct ErrorProbe<R>(PhantomData<R>);

impl<T, E: TypedError> ErrorProbe<Result<T, E>> {
    #[doc(hidden)]
    pub const TYPE: Option<ErrorType> = Some(ErrorType::for_error::<E>());
}

/// The fallback of [`ErrorProbe`] for other types.
#[doc(hidden)]
pub trait NoErrorType {
    #[doc(hidden)]
    const TYPE: Option<ErrorType> = None;
}

impl<R> NoErrorType for ErrorProbe<R> {}

/// Checks that a function whose attribute names the type of its errors returns a `Result`.
///
/// # Panics
///
/// Panics, at compile time, if it does not.
#[doc(hidden)]
#[track_caller]
pub const fn assert_fallible(is_fallible: bool) {
    assert!(is_fallible, "`error` needs a function that returns a `Result`; remove the key");
}

#[cfg(test)]
mod tests {
    use std::fmt;

    use serde::Serializer;
    use serde_json::json;

    use super::*;
    use crate::base::error::{CallError, ErrorTypes, Failure, TextOnly, chain};

    /// The error of `pay`.
    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Refused {
        Limit { cents: u64 },
        Card(String),
    }

    impl fmt::Display for Refused {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::Limit { cents } => write!(f, "above the limit of {cents}"),
                Self::Card(text) => write!(f, "card: {}", text.len()),
            }
        }
    }

    impl Error for Refused {}

    /// Has a text of its own in the process that made it.
    #[derive(Debug, Serialize, Deserialize)]
    struct Detailed {
        code: u8,
        #[serde(skip)]
        detail: &'static str,
    }

    impl fmt::Display for Detailed {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "code {}{}", self.code, self.detail)
        }
    }

    impl Error for Detailed {}

    /// Cannot be written: `true` panics.
    #[derive(Debug, Deserialize)]
    struct Unwritable(bool);

    impl Serialize for Unwritable {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            assert!(!self.0, "cannot be written");
            Err(serde::ser::Error::custom("cannot be written"))
        }
    }

    impl fmt::Display for Unwritable {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("unwritable")
        }
    }

    impl Error for Unwritable {}

    /// An error of the application around another.
    #[derive(Debug, thiserror::Error)]
    #[error("while paying")]
    struct WhilePaying(#[source] BoxError);

    #[derive(Debug, Serialize, Deserialize)]
    struct Borrows {
        text: &'static str,
    }

    impl fmt::Display for Borrows {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.text)
        }
    }

    impl Error for Borrows {}

    struct Types;

    impl ErrorTypes for Types {
        fn error_type(&self, tool: &str) -> Option<ErrorType> {
            match tool {
                "pay" => ErrorProbe::<Result<u8, Refused>>::TYPE,
                "detail" => ErrorProbe::<Result<(), Detailed>>::TYPE,
                "unwritable" => ErrorProbe::<Result<(), Unwritable>>::TYPE,
                "borrows" => ErrorProbe::<Result<(), Borrows>>::TYPE,
                _ => None,
            }
        }
    }

    fn failed(tool: &str, source: impl Into<BoxError>) -> CallError {
        CallError::Failed { tool: tool.to_owned(), source: source.into() }
    }

    /// Returns the error as a journal returns it.
    fn recorded(error: CallError, types: &dyn ErrorTypes) -> CallError {
        let (text, CallError::Failed { tool, .. }) = (chain(&error), &error) else { unreachable!() };
        let tool = tool.clone();
        let written = serde_json::to_string(&Failure::from_error(error, &Types).unwrap()).unwrap();
        let error = serde_json::from_str::<Failure>(&written).unwrap().into_error(&tool, types);
        assert_eq!(chain(&error), text, "{written}");
        error
    }

    #[test]
    fn only_the_errors_that_serde_writes_and_reads_have_a_type() {
        assert!(ErrorProbe::<Result<u8, Refused>>::TYPE.is_some());
        assert!(ErrorProbe::<Result<u8, std::io::Error>>::TYPE.is_none());
        assert!(ErrorProbe::<Result<u8, BoxError>>::TYPE.is_none());
        assert!(ErrorProbe::<Result<u8, String>>::TYPE.is_none());
        assert!(ErrorProbe::<Refused>::TYPE.is_none());
    }

    #[test]
    fn an_error_of_a_tools_type_is_found_in_what_a_journal_returns() {
        let error = recorded(failed("pay", Refused::Limit { cents: 5 }), &Types);
        assert_eq!(error.downcast_ref(), Some(&Refused::Limit { cents: 5 }));
        let CallError::Failed { source, .. } = error else { panic!("{error:?}") };
        assert!(source.is::<Refused>());
    }

    #[test]
    fn the_errors_around_a_typed_error_stay() {
        let inner = failed("pay", Refused::Limit { cents: 5 });
        let error = recorded(failed("order", WhilePaying(failed("checkout", inner).into())), &Types);
        assert_eq!(error.downcast_ref(), Some(&Refused::Limit { cents: 5 }));
        assert_eq!(
            chain(&error),
            "`order` failed: while paying: `checkout` failed: `pay` failed: above the limit of 5"
        );
        let again = recorded(failed("shop", error), &Types);
        assert_eq!(again.downcast_ref(), Some(&Refused::Limit { cents: 5 }));
    }

    #[test]
    fn a_tool_around_the_one_that_failed_may_declare_the_type() {
        let inner = failed("other", Refused::Limit { cents: 5 });
        let error = recorded(failed("pay", WhilePaying(inner.into())), &Types);
        assert_eq!(error.downcast_ref(), Some(&Refused::Limit { cents: 5 }));
        let passed_on = recorded(failed("shop", error), &Types);
        assert_eq!(passed_on.downcast_ref(), Some(&Refused::Limit { cents: 5 }));
    }

    #[test]
    fn a_typed_error_is_found_in_an_error_of_another_type() {
        let error = recorded(failed("pay", WhilePaying(Refused::Card("x".into()).into())), &Types);
        assert_eq!(error.downcast_ref(), Some(&Refused::Card("x".into())));
        let error = recorded(failed("pay", WhilePaying(CallError::other(Refused::Card("x".into())).into())), &Types);
        assert_eq!(error.downcast_ref(), Some(&Refused::Card("x".into())));
    }

    #[test]
    fn an_error_whose_text_is_lost_with_its_fields_keeps_type_and_text() {
        let error = recorded(failed("detail", Detailed { code: 3, detail: ", on line 5" }), &Types);
        let passed_on = recorded(failed("order", error), &Types);
        assert_eq!(passed_on.downcast_ref::<Detailed>().map(|error| error.code), Some(3));
    }

    #[test]
    fn an_error_that_cannot_be_stored_or_read_keeps_its_text() {
        for panics in [false, true] {
            assert!(recorded(failed("unwritable", Unwritable(panics)), &Types).downcast_ref::<Unwritable>().is_none());
        }
        let large = Refused::Card("x".repeat(MAX_BYTES));
        assert!(recorded(failed("pay", large), &Types).downcast_ref::<Refused>().is_none());
        let fits = Refused::Card("x".repeat(MAX_BYTES - 20));
        assert!(recorded(failed("pay", fits), &Types).downcast_ref::<Refused>().is_some());
        assert!(recorded(failed("borrows", Borrows { text: "no" }), &Types).downcast_ref::<Borrows>().is_none());
        let unknown = recorded(failed("order", failed("pay", Refused::Limit { cents: 5 })), &TextOnly);
        assert!(unknown.downcast_ref::<Refused>().is_none());
    }

    #[test]
    fn records_of_text_only_stay_readable() {
        let old = serde_json::from_value::<Failure>(json!({ "failed": "above the limit of 5" })).unwrap();
        let error = old.into_error("pay", &Types);
        assert_eq!(chain(&error), "`pay` failed: above the limit of 5");
        assert!(error.downcast_ref::<Refused>().is_none());
        let plain = Failure::from_error(failed("other", Refused::Limit { cents: 5 }), &Types).unwrap();
        assert_eq!(serde_json::to_value(plain).unwrap(), json!({ "failed": "above the limit of 5" }));
    }
}
