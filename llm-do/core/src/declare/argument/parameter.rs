//! One argument: its schema, decoding and encoding.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::text::is_decided_by_type;
use super::{Argument, Fields, Properties, TextFields, fields};
use crate::base::error::Fault;
use crate::declare::nesting;
use crate::declare::prompt::{Attached, Prompt};

/// The number of encodings to detect an unordered type; two items of a `HashSet` keep their order half of the time.
const ENCODINGS: usize = 32;

/// One argument: its name, schema, decoding and encoding.
///
/// It holds functions, so that a type that cannot be an argument is rejected once, by [`parameter`].
#[doc(hidden)]
pub struct Parameter<T> {
    name: &'static str,
    description: &'static str,
    default: Option<fn() -> T>,
    example: Option<fn() -> T>,
    is_flat: bool,
    is_prompt: fn() -> bool,
    /// Returns whether the type alone decides which values are valid.
    is_decided_by_type: fn() -> bool,
    schema: fn(&mut SchemaGenerator) -> Schema,
    flat_schema: fn(&mut SchemaGenerator) -> Schema,
    absent: fn() -> Option<T>,
    read: fn(Value) -> serde_json::Result<T>,
    read_flat: fn(&mut Fields) -> serde_json::Result<T>,
    read_text: fn(&mut TextFields<'_>, &str) -> Option<T>,
    write: fn(&T) -> Result<Value, Fault>,
    /// The files of a prompt.
    attached: fn(&T) -> &[Attached],
}

/// Describes the argument `name`: without a description or a default, and required unless it is an `Option`.
#[doc(hidden)]
#[must_use]
pub const fn parameter<T: Argument>(name: &'static str) -> Parameter<T> {
    Parameter {
        name,
        description: "",
        default: None,
        example: None,
        is_flat: false,
        is_prompt: || false,
        is_decided_by_type: is_decided_by_type::<T>,
        schema: SchemaGenerator::subschema_for::<T>,
        flat_schema: T::json_schema,
        absent: fields::absent::<T>,
        read: fields::read::<T>,
        read_flat: fields::read_flat::<T>,
        read_text: |fields, name| fields.take::<T>(name),
        write: nesting::to_value::<T>,
        attached: attached::<T>,
    }
}

/// Returns the files of a value that is a prompt.
fn attached<T: 'static>(value: &T) -> &[Attached] {
    (value as &dyn Any).downcast_ref::<Prompt>().map_or(&[], Prompt::attachments)
}

#[doc(hidden)]
impl<T> Parameter<T> {
    /// Sets the description for the model.
    #[must_use]
    pub const fn description(mut self, text: &'static str) -> Self {
        self.description = text;
        self
    }

    /// Sets the value of an absent argument.
    #[must_use]
    pub const fn default(mut self, default: fn() -> T) -> Self {
        self.default = Some(default);
        self
    }

    /// Sets an example value for the model.
    #[must_use]
    pub const fn example(mut self, example: fn() -> T) -> Self {
        self.example = Some(example);
        self
    }

    /// Sets the schema of a type that describes the argument in more detail than `T`: [`FieldProbe::SCHEMA`].
    #[must_use]
    pub const fn described_by(mut self, schema: fn(&mut SchemaGenerator) -> Schema) -> Self {
        self.schema = schema;
        self.is_decided_by_type = || false;
        self
    }

    /// Marks it as the only argument: a [`Prompt`] is then flattened.
    #[must_use]
    pub const fn alone(mut self) -> Self
    where
        T: 'static,
    {
        self.is_prompt = || TypeId::of::<T>() == TypeId::of::<Prompt>();
        self
    }

    /// Flattens the argument: its fields replace the value.
    #[must_use]
    pub const fn flat(mut self) -> Self {
        self.is_flat = true;
        self.is_decided_by_type = || false;
        self
    }

    /// Decodes the argument, removing it from `fields`.
    ///
    /// # Errors
    ///
    /// Returns an error if it is missing or invalid.
    #[inline]
    pub fn read(&self, fields: &mut Fields) -> Result<T, Fault> {
        let value = self.take(fields)?;
        fields.attach((self.attached)(&value));
        Ok(value)
    }

    /// Decodes the argument if it is the next field; otherwise returns the value of an absent argument, if it may be
    /// absent.
    #[inline]
    pub fn read_text(&self, fields: &mut TextFields<'_>) -> Option<T> {
        (self.read_text)(fields, self.name).or_else(|| {
            fields.skip();
            self.absent()
        })
    }

    #[inline]
    fn take(&self, fields: &mut Fields) -> Result<T, Fault> {
        if self.is_flat() {
            return (self.read_flat)(fields).map_err(|error| Fault::reading(&error));
        }
        match fields.take(self.name) {
            Some(value) => (self.read)(value).map_err(|error| Fault::reading(&error).within(&self.place())),
            None => self.absent().ok_or_else(|| format!("missing field `{}`", self.name).into()),
        }
    }

    /// Encodes the argument into `fields`.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be written as JSON.
    pub fn write(&self, value: &T, fields: &mut Fields) -> Result<(), Fault> {
        match (self.write)(value).map_err(|fault| fault.within(&self.place()))? {
            Value::Object(object) if self.is_flat() => fields.extend(object),
            value => fields.put(self.name, value),
        }
        Ok(())
    }

    #[inline]
    fn is_flat(&self) -> bool {
        self.is_flat || (self.is_prompt)()
    }

    fn absent(&self) -> Option<T> {
        self.default.map(|default| default()).or_else(self.absent)
    }

    fn is_required(&self) -> bool {
        self.default.is_none() && (self.absent)().is_none()
    }

    fn place(&self) -> String {
        format!("`{}`", self.name)
    }

    fn property(&self, generator: &mut SchemaGenerator) -> Schema {
        let mut schema = (self.schema)(generator);
        if !self.description.is_empty() {
            schema.insert("description".to_owned(), self.description.into());
        }
        let written = |value: fn() -> T| (self.write)(&value()).ok();
        if let Some(default) = self.default.and_then(written) {
            schema.insert("default".to_owned(), default);
        }
        if let Some(example) = self.example.and_then(written) {
            schema.insert("examples".to_owned(), Value::Array(vec![example]));
        }
        schema
    }
}

impl<T> fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A [`Parameter`] of any type, as required for the schema.
#[doc(hidden)]
pub trait Described {
    #[doc(hidden)]
    fn describe(&self, generator: &mut SchemaGenerator, properties: &mut Properties);

    #[doc(hidden)]
    fn name(&self) -> &'static str;

    /// Returns whether it is the only argument, and a [`Prompt`].
    #[doc(hidden)]
    fn is_prompt(&self) -> bool;

    /// Returns whether it is flattened.
    #[doc(hidden)]
    fn is_flattened(&self) -> bool;

    /// Returns whether its type alone decides which values are valid.
    #[doc(hidden)]
    fn is_decided_by_type(&self) -> bool;

    /// Returns the default and the example, each encoded and decoded.
    #[doc(hidden)]
    fn samples(&self) -> Vec<Sample>;

    /// Returns a value as its type writes it; `None` if the type cannot decode it.
    #[doc(hidden)]
    fn rewritten(&self, value: Value) -> Option<Value>;
}

impl<T> Described for Parameter<T> {
    fn describe(&self, generator: &mut SchemaGenerator, properties: &mut Properties) {
        if self.is_flat() {
            properties.merge(self.name, &(self.flat_schema)(generator));
        } else {
            let schema = self.property(generator);
            properties.add(self.name, schema.into(), self.is_required());
        }
    }

    fn name(&self) -> &'static str {
        self.name
    }

    fn is_prompt(&self) -> bool {
        (self.is_prompt)()
    }

    fn is_flattened(&self) -> bool {
        self.is_flat
    }

    fn is_decided_by_type(&self) -> bool {
        (self.is_decided_by_type)()
    }

    fn samples(&self) -> Vec<Sample> {
        let values = [("default", self.default), ("example", self.example)];
        let given = values.into_iter().filter_map(|(what, value)| Some((what, value?)));
        let sample = |(what, value): (_, fn() -> T)| Sample {
            argument: self.name,
            what,
            value: self.round_trip(&value()),
            differing: self.differing_encodings(value),
        };
        given.map(sample).collect()
    }

    fn rewritten(&self, value: Value) -> Option<Value> {
        if self.is_flat() {
            return None;
        }
        (self.write)(&(self.read)(value).ok()?).ok()
    }
}

impl<T> Parameter<T> {
    /// Encodes new values repeatedly; returns the first encoding and one that differs from it, if any does.
    fn differing_encodings(&self, value: fn() -> T) -> Option<(Value, Value)> {
        let first = (self.write)(&value()).ok()?;
        let later = (0..ENCODINGS).filter_map(|_| (self.write)(&value()).ok());
        later.into_iter().find(|other| *other != first).map(|other| (first, other))
    }

    fn round_trip(&self, value: &T) -> Result<Value, String> {
        let written = (self.write)(value).map_err(|fault| fault.model_message().to_owned())?;
        (self.read)(written.clone()).map_err(|error| error.to_string())?;
        Ok(written)
    }
}

/// A default or example value from an attribute.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sample {
    /// The argument's name.
    pub(crate) argument: &'static str,
    /// Whether it is the default or the example.
    pub(crate) what: &'static str,
    /// The value as JSON, or the reason why it cannot be encoded or decoded.
    pub(crate) value: Result<Value, String>,
    /// Two different encodings of the value, if its type is unordered.
    pub(crate) differing: Option<(Value, Value)>,
}

/// Finds the schema of the field `value` of `D` at compile time; empty if the derive failed, which schemars reports itself.
#[doc(hidden)]
#[derive(Debug)]
pub struct FieldProbe<D>(PhantomData<D>);

impl<D: JsonSchema> FieldProbe<D> {
    #[doc(hidden)]
    pub const SCHEMA: fn(&mut SchemaGenerator) -> Schema = value_of::<D>;
}

/// The fallback of [`FieldProbe`] for types without a schema.
#[doc(hidden)]
pub trait NoField {
    #[doc(hidden)]
    const SCHEMA: fn(&mut SchemaGenerator) -> Schema = |_| Schema::default();
}

impl<D> NoField for FieldProbe<D> {}

/// Returns the schema of the property `value` of `D`.
fn value_of<D: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let schema = D::json_schema(generator);
    let value = schema.get("properties").and_then(|properties| properties.get("value")).cloned();
    value.and_then(|value| Schema::try_from(value).ok()).unwrap_or_default()
}
