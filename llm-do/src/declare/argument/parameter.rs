//! One argument: what a model is told of it, and its way out of JSON and into it.

use std::any::{Any, TypeId};
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::{Argument, Fields, Properties, fields};
use crate::base::error::Fault;
use crate::declare::nesting;
use crate::declare::prompt::{Attached, Prompt};

/// How often a value is written to detect an unordered type: two items of a `HashSet` keep their order half of the time.
const WRITINGS: usize = 32;

/// One argument: its name, what a model is told of it, and its way out of JSON and into it.
///
/// It holds functions, so that a type that cannot be an argument is refused once, by [`parameter`].
#[doc(hidden)]
pub struct Parameter<T> {
    name: &'static str,
    description: &'static str,
    default: Option<fn() -> T>,
    example: Option<fn() -> T>,
    is_flat: bool,
    is_prompt: fn() -> bool,
    schema: fn(&mut SchemaGenerator) -> Schema,
    flat_schema: fn(&mut SchemaGenerator) -> Schema,
    absent: fn() -> Option<T>,
    read: fn(Value) -> serde_json::Result<T>,
    read_flat: fn(&mut Fields) -> serde_json::Result<T>,
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
        schema: SchemaGenerator::subschema_for::<T>,
        flat_schema: T::json_schema,
        absent: fields::absent::<T>,
        read: fields::read::<T>,
        read_flat: fields::read_flat::<T>,
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
    /// Sets what a model reads.
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

    /// Shows a model a value.
    #[must_use]
    pub const fn example(mut self, example: fn() -> T) -> Self {
        self.example = Some(example);
        self
    }

    /// Takes the schema from a type that says more of it than `T` does: [`FieldProbe::SCHEMA`].
    #[must_use]
    pub const fn described_by(mut self, schema: fn(&mut SchemaGenerator) -> Schema) -> Self {
        self.schema = schema;
        self
    }

    /// Says that it is the only argument: a [`Prompt`] is then taken by its fields.
    #[must_use]
    pub const fn alone(mut self) -> Self
    where
        T: 'static,
    {
        self.is_prompt = || TypeId::of::<T>() == TypeId::of::<Prompt>();
        self
    }

    /// Puts the fields of the value in the place of the value.
    #[must_use]
    pub const fn flat(mut self) -> Self {
        self.is_flat = true;
        self
    }

    /// Takes the argument out of `fields`.
    ///
    /// # Errors
    ///
    /// Says that it is missing, or why it is none.
    #[inline]
    pub fn read(&self, fields: &mut Fields) -> Result<T, Fault> {
        let value = self.take(fields)?;
        fields.attach((self.attached)(&value));
        Ok(value)
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

    /// Puts the argument into `fields`.
    ///
    /// # Errors
    ///
    /// Says why it cannot be written as JSON.
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

/// A [`Parameter`] of any type, as the schema needs it.
#[doc(hidden)]
pub trait Described {
    #[doc(hidden)]
    fn describe(&self, generator: &mut SchemaGenerator, properties: &mut Properties);

    /// Returns whether it is the only argument, and a [`Prompt`].
    #[doc(hidden)]
    fn is_prompt(&self) -> bool;

    /// Returns whether its fields stand in its place.
    #[doc(hidden)]
    fn is_flattened(&self) -> bool;

    /// Reads and writes the default and the example.
    #[doc(hidden)]
    fn samples(&self) -> Vec<Sample>;
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

    fn is_prompt(&self) -> bool {
        (self.is_prompt)()
    }

    fn is_flattened(&self) -> bool {
        self.is_flat
    }

    fn samples(&self) -> Vec<Sample> {
        let values = [("default", self.default), ("example", self.example)];
        let given = values.into_iter().filter_map(|(what, value)| Some((what, value?)));
        let sample = |(what, value): (_, fn() -> T)| Sample {
            argument: self.name,
            what,
            value: self.round_trip(&value()),
            another: self.another_writing(value),
        };
        given.map(sample).collect()
    }
}

impl<T> Parameter<T> {
    /// Makes and writes a value again and again; returns a writing that is not the first.
    fn another_writing(&self, value: fn() -> T) -> Option<(Value, Value)> {
        let first = (self.write)(&value()).ok()?;
        let others = (0..WRITINGS).filter_map(|_| (self.write)(&value()).ok());
        others.into_iter().find(|other| *other != first).map(|other| (first, other))
    }

    fn round_trip(&self, value: &T) -> Result<Value, String> {
        let written = (self.write)(value).map_err(|fault| fault.told().to_owned())?;
        (self.read)(written.clone()).map_err(|error| error.to_string())?;
        Ok(written)
    }
}

/// A value that an attribute gives for an argument.
#[doc(hidden)]
#[derive(Debug)]
pub struct Sample {
    /// The argument's name.
    pub(crate) argument: &'static str,
    /// Whether it is the default or the example.
    pub(crate) what: &'static str,
    /// The value as JSON, or why it cannot be written or read.
    pub(crate) value: Result<Value, String>,
    /// Two writings of it that differ, if it has no order.
    pub(crate) another: Option<(Value, Value)>,
}

/// Finds the schema of the field `value` of `D`, or nothing where schemars could not derive it and says so itself.
#[doc(hidden)]
#[derive(Debug)]
pub struct FieldProbe<D>(PhantomData<D>);

impl<D: JsonSchema> FieldProbe<D> {
    #[doc(hidden)]
    pub const SCHEMA: fn(&mut SchemaGenerator) -> Schema = value_of::<D>;
}

/// The other half of [`FieldProbe`].
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
