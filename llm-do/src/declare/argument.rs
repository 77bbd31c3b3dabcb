//! The arguments of a call: what a model is told of them, and their way out of JSON and into it.
//!
//! A macro writes down each argument once, as a [`Parameter`]; schema, decoding, encoding and checks all read that, so
//! that they cannot disagree.

mod fields;
mod given;
mod parameter;
mod properties;

use llm_do_providers::find_files;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

pub use self::fields::Fields;
pub(crate) use self::given::{complete, is_told, lost, masked};
pub(crate) use self::parameter::Sample;
pub use self::parameter::{Described, FieldProbe, NoField, Parameter, parameter};
pub(crate) use self::properties::Properties;
use crate::base::error::Fault;
use crate::declare::prompt::Attached;
use crate::declare::schema;

/// What an argument can be.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool, worker or entry cannot take `{Self}` as an argument",
    label = "cannot be an argument",
    note = "put `#[llm_do::data]` on the type, or derive `serde::Serialize`, `serde::Deserialize` and \
            `schemars::JsonSchema` for it",
    note = "the type must be `Send` and own its data, since a call can move between threads",
    note = "if the application gives it, state is injected: write `State<{Self}>`; an argument would be written by the model",
    note = "if the type implements `FromContext`, mark the parameter with `#[ctx]`"
)]
pub trait Argument: Serialize + DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + JsonSchema + Send + 'static> Argument for T {}

/// The arguments of one item; implemented by the macros only.
#[doc(hidden)]
pub trait Arguments: Sized {
    /// The arguments in the order of the signature.
    const PARAMETERS: &'static [&'static dyn Described];

    /// Takes the arguments out of `fields`.
    ///
    /// # Errors
    ///
    /// Says which argument is missing or of another type, and why.
    fn read(fields: &mut Fields) -> Result<Self, Fault>;

    /// Puts the arguments into `fields`.
    ///
    /// # Errors
    ///
    /// Says which argument cannot be written as JSON, and why.
    fn write(&self, fields: &mut Fields) -> Result<(), Fault>;
}

/// Returns the schema of the arguments.
#[doc(hidden)]
pub fn describe<T: Arguments>(generator: &mut SchemaGenerator) -> Schema {
    Properties::of::<T>(generator).into_schema()
}

/// Returns whether the one argument is a prompt.
pub(crate) fn is_prompt<T: Arguments>() -> bool {
    T::PARAMETERS.iter().any(|parameter| parameter.is_prompt())
}

/// Returns whether the fields of an argument stand among the arguments.
pub(crate) fn is_flattened<T: Arguments>() -> bool {
    T::PARAMETERS.iter().any(|parameter| parameter.is_flattened())
}

/// Lists what makes the arguments none that a model could give.
pub(crate) fn faults<T: Arguments>() -> Vec<String> {
    Properties::of::<T>(&mut SchemaGenerator::default()).faults
}

/// Lists the defaults and examples of the arguments.
pub(crate) fn samples<T: Arguments>() -> Vec<Sample> {
    T::PARAMETERS.iter().flat_map(|parameter| parameter.samples()).collect()
}

/// Reads arguments, and the files among them, at any depth; an argument that no parameter takes is a fault.
pub(crate) fn read<T: Arguments>(arguments: Value) -> Result<(T, Vec<Attached>), Fault> {
    let (result, found) = find_files(|| read_all::<T>(arguments));
    let (arguments, of_prompts) = result?;
    if found.is_empty() && of_prompts.is_empty() {
        return Ok((arguments, Vec::new()));
    }
    // As they are written: what was read may belong to a variant that did not fit in the end.
    let (_, written) = find_files(|| write(&arguments));
    let files = if written.is_empty() { found } else { written };
    Ok((arguments, files.into_iter().map(Attached::from).collect()))
}

/// Reads arguments, and the files of those that are prompts.
fn read_all<T: Arguments>(arguments: Value) -> Result<(T, Vec<Attached>), Fault> {
    let mut fields = Fields::of(arguments)?;
    let arguments = T::read(&mut fields)?;
    let attached = fields.finish(|| Properties::of::<T>(&mut SchemaGenerator::default()).names())?;
    Ok((arguments, attached))
}

/// Writes arguments.
pub(crate) fn write<T: Arguments>(arguments: &T) -> Result<Value, Fault> {
    let mut fields = Fields::default();
    arguments.write(&mut fields)?;
    Ok(fields.into())
}

/// Returns the value if it is a `T`; otherwise with its whole numbers as integers, if it is one then.
pub(crate) fn check<T: DeserializeOwned>(mut value: Value) -> Result<Value, Fault> {
    let error = match T::deserialize(&value) {
        Ok(_) => return Ok(value),
        Err(error) => Fault::reading(&error),
    };
    schema::make_whole(&mut value);
    T::deserialize(&value).map_err(|_| error)?;
    Ok(value)
}

/// Serialises arguments: the one line of a macro's implementation.
///
/// # Errors
///
/// As the serializer, and where an argument cannot be written as JSON.
#[doc(hidden)]
pub fn serialize<T: Arguments, S: Serializer>(arguments: &T, serializer: S) -> Result<S::Ok, S::Error> {
    write(arguments).map_err(|fault| ser::Error::custom(fault.model_message()))?.serialize(serializer)
}

/// Deserialises arguments: the one line of a macro's implementation.
///
/// # Errors
///
/// As the deserializer, and where an argument is missing, unknown or of another type.
#[doc(hidden)]
pub fn deserialize<'de, T: Arguments, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let (arguments, _) =
        read(Value::deserialize(deserializer)?).map_err(|fault| de::Error::custom(fault.model_message()))?;
    Ok(arguments)
}

/// What a text as a default can become: `String`, `PathBuf`, and whatever else is made from a `&str`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a string literal cannot be converted to `{Self}`",
    label = "string literal",
    note = "write an expression of the parameter's type"
)]
pub trait FromText {
    #[doc(hidden)]
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}
