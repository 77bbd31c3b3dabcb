//! The JSON object that arguments are decoded from and encoded into.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::de::value::{Error as Missing, MapDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::map::IntoIter;
use serde_json::{Map, Value};

use super::properties;
use crate::base::error::Fault;
use crate::declare::prompt::Attached;
use crate::declare::schema::{has_whole, make_whole};

/// The fields of an arguments object, while it is decoded or encoded.
#[doc(hidden)]
#[derive(Debug, Default)]
pub struct Fields {
    /// The fields not visited yet, which are usually taken in the given order.
    given: Option<IntoIter>,
    /// Fields that were skipped during a search, or that were added.
    kept: Vec<(String, Value)>,
    /// The files of decoded prompts.
    attached: Vec<Attached>,
}

impl Fields {
    /// Returns the fields of a JSON object; `null` stands for an empty object.
    pub(super) fn from_value(arguments: Value) -> Result<Self, Fault> {
        match arguments {
            Value::Object(fields) => Ok(Self { given: Some(fields.into_iter()), ..Self::default() }),
            Value::Null => Ok(Self::default()),
            _ => Err(Fault::new("the arguments must be a JSON object")),
        }
    }

    /// Removes a field and returns its value.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        if let Some(index) = self.kept.iter().position(|(field, _)| field == name) {
            return Some(self.kept.remove(index).1);
        }
        for (field, value) in self.given.iter_mut().flatten() {
            if field == name {
                return Some(value);
            }
            self.kept.push((field, value));
        }
        None
    }

    /// Returns the remaining fields.
    fn rest(&mut self) -> &mut [(String, Value)] {
        self.kept.extend(self.given.take().into_iter().flatten());
        &mut self.kept
    }

    /// Adds the files of a decoded prompt.
    #[inline]
    pub(super) fn attach(&mut self, files: &[Attached]) {
        self.attached.extend_from_slice(files);
    }

    /// Adds a field.
    pub(super) fn put(&mut self, name: &str, value: Value) {
        self.kept.push((name.to_owned(), value));
    }

    /// Adds all fields of an object.
    pub(super) fn extend(&mut self, fields: Map<String, Value>) {
        self.kept.extend(fields);
    }

    /// Returns the files of prompts, or a fault if a field remains; `known` lists the accepted fields.
    pub(super) fn finish(self, known: impl FnOnce() -> Vec<String>) -> Result<Vec<Attached>, Fault> {
        let mut left = self.kept.into_iter().chain(self.given.into_iter().flatten());
        let Some((unknown, _)) = left.next() else { return Ok(self.attached) };
        let known: Vec<_> = known().iter().map(|name| format!("`{name}`")).collect();
        Err(match known.as_slice() {
            [] => format!("unknown field `{unknown}`, there are no fields"),
            known => format!("unknown field `{unknown}`, expected {}", known.join(", ")),
        }
        .into())
    }
}

impl From<Fields> for Value {
    fn from(fields: Fields) -> Self {
        fields.kept.into_iter().chain(fields.given.into_iter().flatten()).collect()
    }
}

/// Returns `Some(None)` if `T` is an `Option`, the value of an absent argument; `None` for any other type.
pub(super) fn absent<T: DeserializeOwned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

/// Decodes a value; if that fails, retries with whole numbers as integers, since JSON Schema counts `1.0` as an
/// integer.
pub(super) fn read<T: DeserializeOwned>(value: Value) -> serde_json::Result<T> {
    if !has_whole(&value) {
        return T::deserialize(value);
    }
    let mut whole = value.clone();
    make_whole(&mut whole);
    T::deserialize(value).or_else(|error| T::deserialize(whole).map_err(|_| error))
}

/// Decodes a value from the fields that its type names, and keeps the other fields; whole numbers are handled as in
/// [`read`].
pub(super) fn read_flat<T: DeserializeOwned + JsonSchema>(fields: &mut Fields) -> serde_json::Result<T> {
    if !fields.rest().iter().any(|(_, value)| has_whole(value)) {
        return T::deserialize(Flat::new::<T>(fields));
    }
    let mut whole = fields.kept.clone();
    for (_, value) in &mut whole {
        make_whole(value);
    }
    T::deserialize(Flat::new::<T>(fields)).or_else(|error| {
        fields.kept = whole;
        T::deserialize(Flat::new::<T>(fields)).map_err(|_| error)
    })
}

/// A deserializer for an absent value: only an `Option` can be decoded from it.
struct Absent;

impl<'de> Deserializer<'de> for Absent {
    type Error = Missing;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Missing> {
        Err(Missing::custom("missing"))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Missing> {
        visitor.visit_none()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// A deserializer for a flattened struct: takes the fields that the struct names.
struct Flat<'a> {
    fields: &'a mut Fields,
    /// Returns the field names from the schema, for a struct that itself flattens: serde does not pass its names.
    names: fn() -> Vec<String>,
}

impl<'a> Flat<'a> {
    fn new<T: JsonSchema>(fields: &'a mut Fields) -> Self {
        Self { fields, names: properties::names::<T> }
    }

    fn visit<'de, V: Visitor<'de>>(
        self,
        names: impl IntoIterator<Item: Into<Cow<'static, str>>>,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        let names = names.into_iter().map(Into::into);
        let taken: Vec<_> = names.filter_map(|name| Some((name.clone(), self.fields.take(&name)?))).collect();
        visitor.visit_map(MapDeserializer::new(taken.into_iter()))
    }
}

impl<'de> Deserializer<'de> for Flat<'_> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, serde_json::Error> {
        Err(serde_json::Error::custom("only a struct of named fields can be flattened"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        self.visit(names.iter().copied(), visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        let names = (self.names)();
        self.visit(names, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct enum identifier ignored_any
    }
}
