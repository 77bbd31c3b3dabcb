//! A serializer of JSON that searches eight bytes at a time for characters to escape, since most of the written data is
//! text.
//!
//! The written types are in other crates, so its methods are inlined there.

mod text;

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::{Error, Result};

pub(crate) use self::text::{has_escaped, write_text};

/// The name by which `serde_json` recognizes its `RawValue`, which is written unchanged.
pub(crate) const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// Adds a value as JSON, exactly as `serde_json` writes it.
///
/// # Errors
///
/// Returns an error for values that `serde_json` rejects, and for a map whose keys are not texts.
#[inline]
pub(crate) fn write_json<T: Serialize + ?Sized>(out: &mut String, value: &T) -> Result<()> {
    value.serialize(Json { out, is_raw: false })
}

/// Adds the digits of an integer.
#[inline]
pub(crate) fn write_integer(out: &mut String, value: impl itoa::Integer + Copy + TryInto<u8>) {
    match value.try_into() {
        // Most counts have one digit.
        Ok(digit @ 0..10) => out.push(char::from(b'0' + digit)),
        _ => out.push_str(itoa::Buffer::new().format(value)),
    }
}

/// Serializes to the end of a buffer.
struct Json<'a> {
    out: &'a mut String,
    /// Whether a text is JSON, which is written unchanged.
    is_raw: bool,
}

/// An array or object that is being written.
struct Items<'a> {
    out: &'a mut String,
    is_first: bool,
    /// Whether it is a [`RAW_VALUE`] instead, whose only field is the whole value.
    is_raw: bool,
    /// The text that closes it.
    end: &'static str,
}

impl<'a> Json<'a> {
    #[inline]
    fn items(self, start: &str, end: &'static str) -> Items<'a> {
        self.out.push_str(start);
        Items { out: self.out, is_first: true, is_raw: false, end }
    }

    /// Starts an object with a variant's name, and the array or object inside the variant.
    #[inline]
    fn variant(self, name: &'static str, start: &str, end: &'static str) -> Items<'a> {
        self.out.push('{');
        write_text(self.out, name);
        self.out.push(':');
        self.items(start, end)
    }
}

impl Items<'_> {
    #[inline]
    fn separate(&mut self) {
        if !std::mem::take(&mut self.is_first) {
            self.out.push(',');
        }
    }

    #[inline]
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.separate();
        write_json(self.out, value)
    }

    #[inline]
    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.is_raw {
            return value.serialize(Json { out: self.out, is_raw: true });
        }
        self.separate();
        write_text(self.out, key);
        self.out.push(':');
        write_json(self.out, value)
    }

    #[inline]
    fn close(self) {
        self.out.push_str(self.end);
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => {
        $(#[inline]
        fn $method(self, value: $type) -> Result<()> {
            write_integer(self.out, value);
            Ok(())
        })*
    };
}

/// Rare values, which are written by `serde_json`.
macro_rules! as_serde_json {
    ($($method:ident($type:ty))*) => {
        $(#[inline]
        fn $method(self, value: $type) -> Result<()> {
            self.out.push_str(&serde_json::to_string(&value)?);
            Ok(())
        })*
    };
}

impl<'a> Serializer for Json<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Items<'a>;
    type SerializeStruct = Items<'a>;
    type SerializeStructVariant = Items<'a>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    as_serde_json! {
        serialize_f32(f32) serialize_f64(f64) serialize_char(char) serialize_bytes(&[u8])
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<()> {
        self.out.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    #[inline]
    fn serialize_str(self, text: &str) -> Result<()> {
        if self.is_raw {
            self.out.push_str(text);
        } else {
            write_text(self.out, text);
        }
        Ok(())
    }

    #[inline]
    fn serialize_unit(self) -> Result<()> {
        self.out.push_str("null");
        Ok(())
    }

    #[inline]
    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit_struct(self, _: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<()> {
        write_text(self.out, variant);
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let mut object = self.items("{", "}");
        object.field(variant, value)?;
        object.close();
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    #[inline]
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.items("[", "]"))
    }

    #[inline]
    fn serialize_tuple_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.variant(variant, "[", "]}"))
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Items<'a>> {
        Ok(self.items("{", "}"))
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Items<'a>> {
        if name == RAW_VALUE {
            return Ok(Items { is_raw: true, ..self.items("", "") });
        }
        Ok(self.items("{", "}"))
    }

    #[inline]
    fn serialize_struct_variant(self, _: &'static str, _: u32, variant: &'static str, _: usize) -> Result<Items<'a>> {
        Ok(self.variant(variant, "{", "}}"))
    }
}

impl SerializeMap for Items<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<()> {
        self.separate();
        let start = self.out.len();
        write_json(self.out, key)?;
        if self.out.as_bytes().get(start) == Some(&b'"') {
            Ok(())
        } else {
            Err(Error::custom("the key of a map is not a text"))
        }
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<()> {
        self.out.push(':');
        write_json(self.out, value)
    }

    #[inline]
    fn end(self) -> Result<()> {
        self.close();
        Ok(())
    }
}

macro_rules! compound {
    ($($trait:ident::$method:ident($($key:ident)?) => $add:ident;)*) => {
        $(impl $trait for Items<'_> {
            type Ok = ();
            type Error = Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self $(, $key: &'static str)?, value: &T) -> Result<()> {
                self.$add($($key,)? value)
            }

            #[inline]
            fn end(self) -> Result<()> {
                self.close();
                Ok(())
            }
        })*
    };
}

compound! {
    SerializeSeq::serialize_element() => item;
    SerializeTuple::serialize_element() => item;
    SerializeTupleStruct::serialize_field() => item;
    SerializeTupleVariant::serialize_field() => item;
    SerializeStruct::serialize_field(key) => field;
    SerializeStructVariant::serialize_field(key) => field;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::write_json;

    #[derive(Serialize)]
    enum Shape {
        Unit,
        New(Option<u8>),
        Tuple(i64, f64),
        Struct { a: char, b: [bool; 2] },
    }

    #[derive(Serialize)]
    struct Wrapped(f32);

    #[derive(Serialize)]
    struct Quoted {
        #[serde(rename = "\"\n")]
        quote: u8,
    }

    fn written(value: &impl Serialize) -> String {
        let mut out = String::new();
        write_json(&mut out, value).unwrap();
        out
    }

    #[test]
    fn each_kind_of_value_is_written_as_serde_json_does() {
        let shapes = [Shape::Unit, Shape::New(None), Shape::New(Some(7)), Shape::Tuple(-1, f64::NAN)];
        let shape = Shape::Struct { a: '"', b: [true, false] };
        let map = BTreeMap::from([("a", 1.5), ("\n", -0.0)]);
        let value = (shapes, shape, map, (), Wrapped(0.1), (u128::MAX, b"ab".as_slice()), [(); 0], Quoted { quote: 1 });
        assert_eq!(written(&value), serde_json::to_string(&value).unwrap());
    }

    #[test]
    fn a_key_that_is_not_a_text_is_an_error() {
        assert!(write_json(&mut String::new(), &BTreeMap::from([(1, 2)])).is_err());
    }
}
