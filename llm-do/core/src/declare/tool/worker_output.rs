//! Types that a worker may return, with their schemas and checks.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ToolReturn;
use crate::base::error::Fault;
use crate::declare::{argument, schema};

/// A type that a worker can return: one with a schema, or a [`ToolReturn`], a text with the files that the model generated.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a worker cannot return `{Self}`",
    label = "cannot be read from the JSON of a model",
    note = "put `#[llm_do::data]` on the type, or derive `serde::Serialize`, `serde::Deserialize` and \
            `schemars::JsonSchema` for it"
)]
pub trait WorkerOutput {
    /// Returns the schema that the answer must match.
    #[doc(hidden)]
    fn schema() -> Value;

    /// Returns whether the answer may have untrusted parts, by its type.
    #[doc(hidden)]
    fn has_untrusted() -> bool;

    /// Returns the value in the form in which it is used, or the reason why it is invalid.
    #[doc(hidden)]
    fn check(value: Value) -> Result<Value, Fault>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema> WorkerOutput for T {
    fn schema() -> Value {
        schema::of::<T>()
    }

    fn has_untrusted() -> bool {
        schema::has_untrusted::<T>()
    }

    fn check(value: Value) -> Result<Value, Fault> {
        argument::check::<T>(value)
    }
}

#[diagnostic::do_not_recommend]
impl WorkerOutput for ToolReturn {
    fn schema() -> Value {
        json!({ "type": "string" })
    }

    fn has_untrusted() -> bool {
        false
    }

    /// Accepts any text, or no text if there are files.
    fn check(value: Value) -> Result<Value, Fault> {
        Ok(value)
    }
}
