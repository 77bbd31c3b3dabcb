//! The errors of calls.

mod call_error;
mod cause;
mod classes;
mod error_type;
mod failure;
mod fault;
mod fault_list;
mod id;
mod stored_error;
mod unknown_outcome;
mod unsure;

use std::error::Error;

pub use self::call_error::CallError;
pub use self::cause::chain;
pub(crate) use self::cause::panic_text;
pub use self::error_type::ErrorType;
pub(crate) use self::error_type::{ErrorTypes, TextOnly};
pub(crate) use self::failure::Failure;
pub use self::fault::Fault;
#[doc(hidden)]
pub use self::fault_list::fault_list;
pub(crate) use self::id::ErrorId;
pub use self::unknown_outcome::UnknownOutcome;
pub use self::unsure::Unsure;

/// Any error that can be sent between threads.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// A result with any error type, which entries and tools usually return.
pub type Result<T, E = BoxError> = std::result::Result<T, E>;
