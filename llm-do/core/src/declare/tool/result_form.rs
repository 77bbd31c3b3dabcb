//! How a call's result is written.

/// How a function's result is written, for the one who reads it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultForm {
    /// As a value.
    #[default]
    Value,
    /// As JSON text, since the caller wants text, and nothing else reads it but sinks.
    Text,
}
