//! The arguments of a call: their schema, decoding, encoding and checks.
//!
//! A macro describes each argument once, as a [`Parameter`]. Schema, decoding, encoding and checks all read that
//! description, so they cannot disagree.

mod fields;
mod given;
mod order;
mod parameter;
mod properties;
mod text;

use llm_do_providers::find_files;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

pub use self::fields::Fields;
pub(crate) use self::given::{add_unwritten, is_contained, lost_field, masked};
pub(crate) use self::order::Given;
pub(crate) use self::parameter::Sample;
pub use self::parameter::{Described, FieldProbe, NoField, Parameter, parameter};
pub(crate) use self::properties::Properties;
pub use self::text::TextFields;
use crate::base::error::Fault;
use crate::declare::prompt::Attached;
use crate::declare::schema;

/// A type that can be an argument.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool, worker or entry cannot take `{Self}` as an argument",
    label = "cannot be an argument",
    note = "put `#[llm_do::data]` on the type, or derive `serde::Serialize`, `serde::Deserialize` and \
            `schemars::JsonSchema` for it",
    note = "the type must be `Send` and own its data, since a call can move between threads",
    note = "if the application provides the value, inject it as state: write `State<{Self}>`; the model provides arguments",
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

    /// Decodes the arguments, removing them from `fields`.
    ///
    /// # Errors
    ///
    /// Returns which argument is missing or has the wrong type, and why.
    fn read(fields: &mut Fields) -> Result<Self, Fault>;

    /// Decodes the arguments from their text; `None` if the parser must decide.
    fn read_text(fields: &mut TextFields<'_>) -> Option<Self>;

    /// Encodes the arguments into `fields`.
    ///
    /// # Errors
    ///
    /// Returns which argument cannot be serialized as JSON, and why.
    fn write(&self, fields: &mut Fields) -> Result<(), Fault>;
}

/// Returns the schema of the arguments.
#[doc(hidden)]
pub fn describe<T: Arguments>(generator: &mut SchemaGenerator) -> Schema {
    Properties::new::<T>(generator).into_schema()
}

/// Returns whether the only argument is a prompt.
pub(crate) fn is_prompt<T: Arguments>() -> bool {
    T::PARAMETERS.iter().any(|parameter| parameter.is_prompt())
}

/// Returns whether an argument is flattened: its fields are properties of the arguments object.
pub(crate) fn is_flattened<T: Arguments>() -> bool {
    T::PARAMETERS.iter().any(|parameter| parameter.is_flattened())
}

/// Lists the faults in the declaration of the arguments.
pub(crate) fn faults<T: Arguments>() -> Vec<String> {
    let is_unique = |(place, name): (usize, &str)| T::PARAMETERS[..place].iter().all(|before| before.name() != name);
    // Without flattening, there are no other faults, and start-up does not write schemas without need.
    if !is_flattened::<T>() && T::PARAMETERS.iter().map(|parameter| parameter.name()).enumerate().all(is_unique) {
        return Vec::new();
    }
    Properties::new::<T>(&mut SchemaGenerator::default()).faults
}

/// Lists the defaults and examples of the arguments.
pub(crate) fn samples<T: Arguments>() -> Vec<Sample> {
    T::PARAMETERS.iter().flat_map(|parameter| parameter.samples()).collect()
}

/// Decodes arguments, and collects the files in them at any depth; an unknown argument is a fault.
pub(crate) fn read<T: Arguments>(arguments: Value) -> Result<(T, Vec<Attached>), Fault> {
    let (result, found) = find_files(|| read_all::<T>(arguments));
    let (arguments, prompt_files) = result?;
    if found.is_empty() && prompt_files.is_empty() {
        return Ok((arguments, Vec::new()));
    }
    // Prefer the files of the decoded value: decoding may also have read files of an enum variant that did not match.
    let (_, written) = find_files(|| write(&arguments));
    let files = if written.is_empty() { found } else { written };
    Ok((arguments, files.into_iter().map(Attached::from).collect()))
}

/// Returns whether the types of the arguments alone decide which arguments are valid.
pub(crate) fn are_decided_by_types<T: Arguments>() -> bool {
    T::PARAMETERS.iter().all(|parameter| parameter.is_decided_by_type())
}

/// Decodes arguments that are [decided by their types](are_decided_by_types) straight from their text.
///
/// Returns `None` for a text that is not known to be valid: its value must be checked against the schema.
pub(crate) fn read_text<T: Arguments>(fields: &mut TextFields<'_>) -> Option<T> {
    let arguments = T::read_text(fields)?;
    fields.is_finished().then_some(arguments)
}

/// Decodes arguments, and collects the files of prompts.
fn read_all<T: Arguments>(arguments: Value) -> Result<(T, Vec<Attached>), Fault> {
    let mut fields = Fields::from_value(arguments)?;
    let arguments = T::read(&mut fields)?;
    let attached = fields.finish(|| Properties::new::<T>(&mut SchemaGenerator::default()).names())?;
    Ok((arguments, attached))
}

/// Returns the form of arguments in an event that cannot be decoded: each value as encoded by its type.
///
/// A type may hide values, such as secrets, so a value that its type cannot decode is shown as `***`, and so is a field
/// without an argument. If the types are plain, nothing is hidden.
pub(crate) fn shown<T: Arguments>(given: Value) -> Value {
    if are_decided_by_types::<T>() {
        return given;
    }
    let Value::Object(fields) = given else { return hidden() };
    let shown = |(name, value): (String, Value)| {
        let parameter = T::PARAMETERS.iter().find(|parameter| parameter.name() == name);
        let value = match parameter {
            Some(parameter) if parameter.is_decided_by_type() => value,
            Some(parameter) => parameter.rewritten(value).unwrap_or_else(hidden),
            None => hidden(),
        };
        (name, value)
    };
    fields.into_iter().map(shown).collect()
}

fn hidden() -> Value {
    Value::from("***")
}

/// Encodes arguments as JSON.
pub(crate) fn write<T: Arguments>(arguments: &T) -> Result<Value, Fault> {
    let mut fields = Fields::default();
    arguments.write(&mut fields)?;
    Ok(fields.into())
}

/// Returns the value if it decodes as `T`. If it only decodes with whole numbers such as `1.0` written as integers,
/// returns it with these.
pub(crate) fn check<T: DeserializeOwned>(mut value: Value) -> Result<Value, Fault> {
    let error = match T::deserialize(&value) {
        Ok(_) => return Ok(value),
        Err(error) => Fault::reading(&error),
    };
    schema::make_whole(&mut value);
    T::deserialize(&value).map_err(|_| error)?;
    Ok(value)
}

/// Serializes arguments: called by the `Serialize` implementation of the macros.
///
/// # Errors
///
/// Returns the serializer's error, or why an argument cannot be written as JSON.
#[doc(hidden)]
pub fn serialize<T: Arguments, S: Serializer>(arguments: &T, serializer: S) -> Result<S::Ok, S::Error> {
    write(arguments).map_err(|fault| ser::Error::custom(fault.model_message()))?.serialize(serializer)
}

/// Deserializes arguments: called by the `Deserialize` implementation of the macros.
///
/// # Errors
///
/// Returns the deserializer's error, or which argument is missing, unknown or of the wrong type.
#[doc(hidden)]
pub fn deserialize<'de, T: Arguments, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    let (arguments, _) =
        read(Value::deserialize(deserializer)?).map_err(|fault| de::Error::custom(fault.model_message()))?;
    Ok(arguments)
}

/// A type whose default can be a string literal: `String`, `PathBuf` and other types that implement `From<&str>`.
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
