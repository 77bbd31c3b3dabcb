//! The form in which a call's result is written.

/// The form in which a function's result is written, for its reader.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultForm {
    /// A JSON value.
    #[default]
    Value,
    /// JSON text, since the caller requested text, and only sinks read the result besides it.
    Text,
}
