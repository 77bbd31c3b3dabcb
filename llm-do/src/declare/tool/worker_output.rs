//! What a worker may return: what its model is asked for, and what is read of the answer.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::ToolReturn;
use crate::base::error::Fault;
use crate::declare::{argument, schema};

/// What a model can return: a value of a type with a schema, or a [`ToolReturn`], a text with the files that it made.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a worker cannot return `{Self}`",
    label = "cannot be read from the JSON of a model",
    note = "put `#[llm_do::data]` on the type, or derive `serde::Serialize`, `serde::Deserialize` and \
            `schemars::JsonSchema` for it"
)]
pub trait WorkerOutput {
    /// Returns the schema that the answer is held to.
    #[doc(hidden)]
    fn schema() -> Value;

    /// Returns a value as it is to be kept, or says why it is none.
    #[doc(hidden)]
    fn check(value: Value) -> Result<Value, Fault>;
}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema> WorkerOutput for T {
    fn schema() -> Value {
        schema::of::<T>()
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

    /// Takes any text, and none at all where there are files in its place.
    fn check(value: Value) -> Result<Value, Fault> {
        Ok(value)
    }
}
