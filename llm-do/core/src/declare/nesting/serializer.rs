//! A serializer that limits the nesting depth.

use std::cell::Cell;
use std::fmt::Display;

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use crate::base::json::RAW_VALUE;
use crate::declare::schema::MAX_VALUE_DEPTH;

/// The maximum number of nested values per level of JSON: an `Option` and a newtype add no level.
const VALUES_PER_LEVEL: usize = 4;

/// The remaining depth.
#[derive(Clone, Copy)]
pub(super) struct Depth<'a> {
    /// Levels of arrays and objects.
    levels: usize,
    /// Nested values of any kind.
    values: usize,
    /// Whether to accept only values whose text and value have equal encodings.
    is_text: bool,
    /// Set if the limit was exceeded: serde errors carry only text.
    is_exceeded: &'a Cell<bool>,
}

impl<'a> Depth<'a> {
    pub(super) fn new(levels: usize, is_exceeded: &'a Cell<bool>) -> Self {
        Self { levels, values: levels * VALUES_PER_LEVEL, is_text: false, is_exceeded }
    }

    /// Creates a limit that rejects values whose text and value could differ, and one more level, which a parser would
    /// reject.
    pub(super) fn of_text(is_exceeded: &'a Cell<bool>) -> Self {
        Self { is_text: true, ..Self::new(MAX_VALUE_DEPTH - 1, is_exceeded) }
    }

    /// Returns an error for text, since the value must be serialized as a value first.
    fn differs_as_text<E: Error>(self) -> Result<(), E> {
        if self.is_text { Err(E::custom("not written alike as text and as a value")) } else { Ok(()) }
    }

    /// Returns the depth that remains inside a value that adds `levels` arrays and objects.
    fn inside<E: Error>(self, levels: usize) -> Result<Self, E> {
        if let (Some(levels), Some(values)) = (self.levels.checked_sub(levels), self.values.checked_sub(1)) {
            return Ok(Self { levels, values, ..self });
        }
        self.is_exceeded.set(true);
        Err(E::custom("nested too deep"))
    }
}

/// A serializer, or a compound serializer, that limits the nesting depth.
pub(super) struct Bounded<'a, S> {
    inner: S,
    depth: Depth<'a>,
}

impl<'a, S> Bounded<'a, S> {
    pub(super) fn new(inner: S, depth: Depth<'a>) -> Self {
        Self { inner, depth }
    }
}

/// A nested value with its remaining depth.
pub(super) struct Part<'a, 'v, T: ?Sized> {
    value: &'v T,
    depth: Depth<'a>,
}

impl<'a, 'v, T: ?Sized> Part<'a, 'v, T> {
    pub(super) fn new(value: &'v T, depth: Depth<'a>) -> Self {
        Self { value, depth }
    }
}

impl<T: Serialize + ?Sized> Serialize for Part<'_, '_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Bounded { inner: serializer, depth: self.depth })
    }
}

/// Returns the name of a number that JSON does not have. `serde_json` writes `null`, which reads as a missing value.
fn name_of(number: f64) -> Option<&'static str> {
    match number {
        f64::INFINITY => Some("Infinity"),
        f64::NEG_INFINITY => Some("-Infinity"),
        number if number.is_nan() => Some("NaN"),
        _ => None,
    }
}

macro_rules! forward {
    ($($method:ident($($type:ty)?),)*) => {
        $(fn $method(self $(, value: $type)?) -> Result<S::Ok, S::Error> {
            self.inner.$method($(value as $type)?)
        })*
    };
}

impl<'a, S: Serializer> Serializer for Bounded<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Bounded<'a, S::SerializeSeq>;
    type SerializeTuple = Bounded<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Bounded<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Bounded<'a, S::SerializeTupleVariant>;
    type SerializeMap = Bounded<'a, S::SerializeMap>;
    type SerializeStruct = Bounded<'a, S::SerializeStruct>;
    type SerializeStructVariant = Bounded<'a, S::SerializeStructVariant>;

    forward! {
        serialize_bool(bool), serialize_i8(i8), serialize_i16(i16), serialize_i32(i32), serialize_i64(i64),
        serialize_u8(u8), serialize_u16(u16), serialize_u32(u32), serialize_u64(u64),
        serialize_char(char), serialize_str(&str),
        serialize_bytes(&[u8]), serialize_none(), serialize_unit(), serialize_unit_struct(&'static str),
    }

    fn serialize_i128(self, value: i128) -> Result<S::Ok, S::Error> {
        self.depth.differs_as_text()?;
        self.inner.serialize_i128(value)
    }

    fn serialize_u128(self, value: u128) -> Result<S::Ok, S::Error> {
        self.depth.differs_as_text()?;
        self.inner.serialize_u128(value)
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        self.depth.differs_as_text()?;
        match name_of(value.into()) {
            None => self.inner.serialize_f32(value),
            Some(name) => self.inner.serialize_str(name),
        }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        match name_of(value) {
            None => self.inner.serialize_f64(value),
            Some(name) => self.inner.serialize_str(name),
        }
    }

    fn serialize_unit_variant(self, name: &'static str, index: u32, variant: &'static str) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let depth = self.depth.inside(0)?;
        self.inner.serialize_some(&Part { value, depth })
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        let depth = self.depth.inside(0)?;
        self.inner.serialize_newtype_struct(name, &Part { value, depth })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let depth = self.depth.inside(1)?;
        self.inner.serialize_newtype_variant(name, index, variant, &Part { value, depth })
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let depth = self.depth.inside(1)?;
        Ok(Bounded { inner: self.inner.serialize_seq(length)?, depth })
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, S::Error> {
        let depth = self.depth.inside(1)?;
        Ok(Bounded { inner: self.inner.serialize_tuple(length)?, depth })
    }

    fn serialize_tuple_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeTupleStruct, S::Error> {
        let depth = self.depth.inside(1)?;
        Ok(Bounded { inner: self.inner.serialize_tuple_struct(name, length)?, depth })
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let depth = self.depth.inside(2)?;
        Ok(Bounded { inner: self.inner.serialize_tuple_variant(name, index, variant, length)?, depth })
    }

    fn serialize_map(self, length: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        self.depth.differs_as_text()?;
        let depth = self.depth.inside(1)?;
        Ok(Bounded { inner: self.inner.serialize_map(length)?, depth })
    }

    fn serialize_struct(self, name: &'static str, length: usize) -> Result<Self::SerializeStruct, S::Error> {
        if name == RAW_VALUE {
            self.depth.differs_as_text()?;
        }
        let depth = self.depth.inside(1)?;
        Ok(Bounded { inner: self.inner.serialize_struct(name, length)?, depth })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        length: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let depth = self.depth.inside(2)?;
        Ok(Bounded { inner: self.inner.serialize_struct_variant(name, index, variant, length)?, depth })
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

macro_rules! compound {
    ($($trait:ident::$method:ident($($name:ident)?);)*) => {
        $(impl<S: $trait> $trait for Bounded<'_, S> {
            type Ok = S::Ok;
            type Error = S::Error;

            fn $method<T: Serialize + ?Sized>(&mut self $(, $name: &'static str)?, value: &T) -> Result<(), S::Error> {
                self.inner.$method($($name,)? &Part { value, depth: self.depth })
            }

            fn end(self) -> Result<S::Ok, S::Error> {
                self.inner.end()
            }
        })*
    };
}

compound! {
    SerializeSeq::serialize_element();
    SerializeTuple::serialize_element();
    SerializeTupleStruct::serialize_field();
    SerializeTupleVariant::serialize_field();
    SerializeStruct::serialize_field(key);
    SerializeStructVariant::serialize_field(key);
}

impl<S: SerializeMap> SerializeMap for Bounded<'_, S> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), S::Error> {
        self.inner.serialize_key(&Part { value: key, depth: self.depth })
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), S::Error> {
        self.inner.serialize_value(&Part { value, depth: self.depth })
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.inner.end()
    }
}
